//! One bundle on its way to drafts, as far as it may be read.
//!
//! Of a session that still runs, nothing is taken from the first call on that waits for its answer: what is not yet
//! known is not written as if it were. A later prompt shows that no answer will come; then the call is taken as it is.
//! A sub-agent waits until its parent's account has come to the call that started it.

use std::collections::BTreeMap;

use crate::existing::Existing;
use crate::read::bundle::{self, BeforeRead, Bundled};
use crate::read::hook_facts::HookFacts;
use cru_session::Status;
use cru_session::detail::{Detail, Level};
use cru_session::event::StreamKey;
use cru_session::fold::{Draft, Options};
use cru_session::mask;
use cru_session::source::{Bounds, Bundle, Importer};
use cru_vault::Head;

/// How bundles are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) importer: &'a Importer,
    pub(crate) fold: Options,
    pub(crate) existing: &'a Existing<'a>,
    pub(crate) facts: Option<&'a HookFacts>,
    /// How many bytes of each input and output are to be kept for the index, where they are.
    pub(crate) listen: Option<usize>,
    /// How much the notes are to tell from now on, where that is another than they were made with.
    pub(crate) level: Option<Level>,
}

impl<'a> Reading<'a> {
    /// As notes are made, with nothing beside the transcripts.
    pub(crate) const fn of(importer: &'a Importer, fold: Options, existing: &'a Existing<'a>) -> Self {
        Self { importer, fold, existing, facts: None, listen: None, level: None }
    }

    /// Reads a bundle; `runs` says of a draft whether its session still runs.
    pub(crate) fn read(&self, bundle: &Bundle, runs: &dyn Fn(&Draft) -> bool) -> Bundled {
        let mark = |key: &StreamKey| self.existing.mark(key);
        let ended = |key: &StreamKey| self.existing.ended(key);
        let before = BeforeRead { ended: &ended, facts: self.facts, listen: self.listen, ..BeforeRead::within(&mark) };
        let mut bundled = bundle::read(self.importer, bundle, &|key| self.wanted(key), before);
        let running: Vec<StreamKey> =
            bundled.drafts.iter().filter(|draft| runs(draft)).map(|draft| draft.key.clone()).collect();
        if running.is_empty() {
            return bundled;
        }
        let open = |draft: &Draft| Some((draft.key.clone(), draft.consumed.open?.saturating_sub(1)));
        let held: BTreeMap<StreamKey, u64> =
            bundled.drafts.iter().filter(|draft| running.contains(&draft.key)).filter_map(open).collect();
        if !held.is_empty() {
            let bounds = |key: &StreamKey| {
                let mark = self.existing.mark(key).mark;
                // What the note tells already is not taken back.
                let until = held.get(key).map(|&until| until.max(mark.unwrap_or(0)));
                Bounds { until, ..self.existing.mark(key) }
            };
            let before = BeforeRead { ended: &ended, facts: self.facts, ..BeforeRead::within(&bounds) };
            let words = bundled.words;
            bundled = bundle::read(self.importer, bundle, &|key| self.wanted(key), before);
            bundled.words = words;
        }
        self.defer(&mut bundled.drafts, &running);
        for draft in bundled.drafts.iter_mut().filter(|draft| running.contains(&draft.key)) {
            if draft.key.agent.is_none() || held.contains_key(&draft.key) {
                draft.session.meta.status = Some(Status::Active);
                draft.session.meta.ended = None;
            }
        }
        bundled
    }

    /// Leaves out sub-agents that the account of their parent has not come to.
    fn defer(&self, drafts: &mut Vec<Draft>, running: &[StreamKey]) {
        let started: Vec<StreamKey> =
            drafts.iter().flat_map(|draft| draft.children.iter().map(|child| child.stream.clone())).collect();
        drafts.retain(|draft| {
            let runs = draft.parent.as_ref().is_some_and(|parent| running.contains(parent));
            let waits = draft.key.agent.is_some() && runs && !started.contains(&draft.key);
            !waits || self.existing.of_stream(&draft.key).is_some()
        });
    }

    /// How a stream becomes a note: one that is there goes on as it was made.
    fn asked(&self, key: &StreamKey) -> Options {
        let head = self.existing.of_stream(key).filter(|head| head.meta.cursor.is_some());
        let remembered = |head: &Head| Detail::parse(head.meta.detail.as_deref().unwrap_or_default());
        head.map_or(self.fold, |head| self.fold.of_note(remembered(head)))
    }

    /// How a stream becomes a note now.
    fn wanted(&self, key: &StreamKey) -> Options {
        let asked = self.asked(key);
        Options { level: self.level.unwrap_or(asked.level), ..asked }
    }

    /// The rules by which secrets are taken out; none where they stay.
    pub(crate) fn rules(&self) -> Option<u32> {
        (!self.fold.no_redact).then_some(mask::VERSION)
    }

    /// The draft of `key` as its note last told it: of the records up to the notes' cursors.
    pub(crate) fn again(&self, bundle: &Bundle, key: &StreamKey) -> Option<Draft> {
        self.first(bundle, key, None)
    }

    /// The draft of the first `records` of `key`; without a number, of those up to its note's cursor.
    pub(crate) fn first(&self, bundle: &Bundle, key: &StreamKey, records: Option<u64>) -> Option<Draft> {
        let until = |key: &StreamKey| records.or_else(|| self.existing.mark(key).mark);
        let bounds = |key: &StreamKey| Bounds { until: until(key), ..Bounds::default() };
        let before = BeforeRead { only: Some(key), ..BeforeRead::within(&bounds) };
        let bundled = bundle::read(self.importer, bundle, &|key| self.asked(key), before);
        bundled.drafts.into_iter().find(|draft| draft.key == *key)
    }
}
