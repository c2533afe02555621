//! One step with all of its input and output, from the transcript that its note points to.
//!
//! The transcript is read twice: once to learn which call became the step, which only the whole of it tells, and once
//! more to keep that call and its answer and nothing else. Secrets are masked under the names that they have in the note.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::evidence::transcripts::{Pointer, Transcripts, is_same, step_keys};
use crate::ids::Ids;
use crate::read::legible::excerpt;
use cru_base::{Error, Result};
use cru_session::Session;
use cru_session::event::{Event, EventKind, StreamKey};
use cru_session::fold::{Fold, Options};
use cru_session::mask::{MaskEvents as _, Masks};
use cru_session::source::{Bounds, Consumed, Header, Sink};

/// Bytes of an answer where all steps are read at once: of a longer one its beginning and its end.
const OUTPUT: usize = 64 << 10;

/// What the transcript says of a step.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// The tool, as the host calls it.
    pub tool: String,
    /// What it was given; `Null` where the record has no more than the text of `args`.
    pub input: Value,
    /// The main argument.
    pub args: String,
    /// Its answer; `None` where there is none.
    pub output: Option<String>,
    /// Where the call stands: the file, and its line from 1.
    pub call: Option<(PathBuf, u64)>,
    /// Where the answer stands.
    pub answer: Option<(PathBuf, u64)>,
    /// Whether the transcript itself is gone and a copy was read.
    pub from_copy: bool,
}

/// Why there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The note names no transcript, or no importer reads what its host writes.
    Unnamed,
    /// The transcript is not there, and no copy was kept.
    Gone,
    /// It is there, and the step is not in it.
    NotInIt,
}

impl Transcripts {
    /// All steps of the note that `session` was read from, by their ids, without their places; none where there is no
    /// transcript. It is read once, and secrets are masked.
    pub fn steps(&self, session: &Session) -> HashMap<String, Whole> {
        let pointer = Pointer::of(&session.meta);
        let files = self.files(pointer).zip(pointer.host_session);
        let Some(((importer, files), wanted)) = files else { return HashMap::new() };
        let bundle = self.bundle(&files);
        let pass = |masks: Masks| {
            let calls = Calls { masks: masks.clone(), ..Calls::of(wanted, importer.host()) };
            let mut every = Every { calls, masks, told: HashMap::new() };
            (importer.read)(&bundle, &mut every).ok()?;
            Some((every.calls.fold.take()?.1, every))
        };
        let Some((mut fold, mut every)) = pass(Masks::default()) else { return HashMap::new() };
        if let Some(again) = fold.masks().with_hindsight(std::iter::empty()).and_then(pass) {
            (fold, every) = again;
        }
        let steps = steps_of(fold, every.calls.ids, session);
        steps.into_iter().filter_map(|(call, step)| Some((step, every.told.remove(&call)?))).collect()
    }

    /// The step `id` of the note that `session` was read from.
    pub fn step(&self, session: &Session, id: &str, no_redact: bool) -> Result<std::result::Result<Whole, Missing>> {
        let pointer = Pointer::of(&session.meta);
        let known = pointer.host.and_then(cru_agents::of_host).and(pointer.transcript);
        let (Some(_), Some(wanted)) = (known, pointer.host_session) else { return Ok(Err(Missing::Unnamed)) };
        let Some((importer, files)) = self.files(pointer) else { return Ok(Err(Missing::Gone)) };
        let bundle = self.bundle(&files);
        let pass = |masks: Masks| -> Result<Option<(Fold, Calls<'_>)>> {
            let mut calls = Calls { masks, ..Calls::of(wanted, importer.host()) };
            (importer.read)(&bundle, &mut calls)?;
            Ok(calls.fold.take().map(|(_, fold)| (fold, calls)))
        };
        let Some((mut fold, mut calls)) = pass(Masks::default())? else { return Ok(Err(Missing::NotInIt)) };
        let hindsight = fold.masks().with_hindsight(std::iter::once(&calls.others));
        if let Some(again) = hindsight.clone().map(pass).transpose()?.flatten() {
            (fold, calls) = again;
        }
        let ids = calls.ids;
        let steps = steps_of(fold, ids, session);
        let calls: HashSet<String> = steps.into_iter().filter(|(_, step)| step == id).map(|(call, _)| call).collect();
        if calls.is_empty() {
            return Ok(Err(Missing::NotInIt));
        }
        let whole = Whole { from_copy: files.kept.is_some(), ..Whole::default() };
        let masks = (!no_redact).then(|| hindsight.unwrap_or_default());
        let mut second = Picked { wanted, calls, key: None, masks, file: PathBuf::new(), line: 0, whole, found: false };
        (importer.read)(&bundle, &mut second)?;
        if second.found {
            return Ok(Ok(second.whole));
        }
        Err(Error::no("the transcript changed while it was read").with_hint("ask again"))
    }
}

/// Calls of a stream, each with the step that it is in the note.
fn steps_of(fold: Fold, calls: Vec<String>, session: &Session) -> Vec<(String, String)> {
    let steps: Vec<(String, String)> =
        calls.into_iter().filter_map(|call| Some((fold.step_of(&call)?, call))).collect();
    let account = fold.finish(Consumed::default()).session;
    let ids = Ids::found(&account, session);
    let (told, there) = (step_keys(&account), step_keys(session));
    let known = |(step, call): (String, String)| {
        let now = ids.now(&step);
        // The step of another session, whose records are copied here, may have the same number.
        // One that the note leaves out cannot be compared.
        let told = *told.get(step.as_str())?;
        let same = there.get(now).map_or_else(|| session.is_brief(), |there| is_same(told, *there));
        same.then(|| (call, now.to_owned()))
    };
    steps.into_iter().filter_map(known).collect()
}

/// Folds one stream and keeps the ids of its calls.
struct Calls<'a> {
    wanted: &'a str,
    host: &'static str,
    masks: Masks,
    /// The secrets of the other streams: what a session tells, its sub-agents may repeat.
    others: Masks,
    fold: Option<(StreamKey, Fold)>,
    ids: Vec<String>,
}

impl<'a> Calls<'a> {
    fn of(wanted: &'a str, host: &'static str) -> Self {
        Self { wanted, host, masks: Masks::default(), others: Masks::default(), fold: None, ids: Vec::new() }
    }
}

impl Sink for Calls<'_> {
    fn open(&mut self, header: Header) {
        if self.fold.is_none() && header.key.to_string() == self.wanted {
            let (key, masks) = (header.key.clone(), std::mem::take(&mut self.masks));
            self.fold = Some((key, Fold::with_masks(header, self.host, Options::default(), masks)));
        }
    }

    fn bounds(&self, _: &StreamKey) -> Bounds {
        Bounds::default()
    }

    fn event(&mut self, key: &StreamKey, mut event: Event<'_>) {
        let Some((_, fold)) = self.fold.as_mut().filter(|(own, _)| own == key) else {
            return self.others.event(&mut event);
        };
        if let EventKind::Call(call) = &event.kind {
            self.ids.push(call.id.clone().into_owned());
        }
        fold.event(event);
    }
}

/// Folds one stream and keeps what all of its calls say.
struct Every<'a> {
    calls: Calls<'a>,
    masks: Masks,
    told: HashMap<String, Whole>,
}

impl Sink for Every<'_> {
    fn wants(&self, key: &StreamKey) -> bool {
        key.to_string() == self.calls.wanted
    }

    fn open(&mut self, mut header: Header) {
        if self.calls.fold.is_none() && header.key.to_string() == self.calls.wanted {
            self.masks.header(&mut header);
            self.calls.open(header);
        }
    }

    fn bounds(&self, _: &StreamKey) -> Bounds {
        Bounds::default()
    }

    fn event(&mut self, key: &StreamKey, mut event: Event<'_>) {
        if self.calls.fold.as_ref().is_none_or(|(own, _)| own != key) {
            return;
        }
        let mut input = match &mut event.kind {
            EventKind::Call(call) => std::mem::take(&mut call.input),
            _ => Value::Null,
        };
        self.masks.event(&mut event);
        match &event.kind {
            EventKind::Call(call) => {
                hide("", &mut input, &mut self.masks);
                let whole = Whole { tool: call.tool.clone().into_owned(), input, ..Whole::default() };
                self.told.entry(call.id.clone().into_owned()).or_insert(whole);
            }
            EventKind::Result(result) => {
                if let Some(whole) = self.told.get_mut(result.call.as_ref()) {
                    whole.output = Some(excerpt(&result.output, OUTPUT));
                }
            }
            _ => {}
        }
        self.calls.event(key, event);
    }
}

/// Takes the secrets out of a call's arguments; one may be known by its name alone.
fn hide(name: &str, value: &mut Value, masks: &mut Masks) {
    match value {
        Value::String(text) => {
            let head = format!("{name}: ");
            let told = masks.text(&format!("{head}{text}")).into_owned();
            *text = match told.strip_prefix(&head) {
                Some(rest) => rest.to_owned(),
                None => masks.text(text).into_owned(),
            };
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(name, item, masks)),
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| hide(name, value, masks)),
        _ => {}
    }
}

/// Keeps one call and its answer.
struct Picked<'a> {
    wanted: &'a str,
    calls: HashSet<String>,
    key: Option<StreamKey>,
    masks: Option<Masks>,
    file: PathBuf,
    line: u64,
    whole: Whole,
    found: bool,
}

impl Sink for Picked<'_> {
    fn open(&mut self, mut header: Header) {
        if self.key.is_none() && header.key.to_string() == self.wanted {
            self.key = Some(header.key.clone());
            // The names of secrets are counted from the first that is told.
            if let Some(masks) = &mut self.masks {
                masks.header(&mut header);
            }
        }
    }

    fn line(&mut self, path: &Path, line: u64) {
        self.line = line;
        if self.file != path {
            path.clone_into(&mut self.file);
        }
    }

    fn event(&mut self, key: &StreamKey, mut event: Event<'_>) {
        if self.key.as_ref() != Some(key) {
            return;
        }
        let id = match &event.kind {
            EventKind::Call(call) => Some(&call.id),
            EventKind::Result(result) => Some(&result.call),
            _ => None,
        };
        let meant = id.is_some_and(|id| self.calls.contains(id.as_ref()));
        let mut input = match &mut event.kind {
            EventKind::Call(call) if meant => std::mem::take(&mut call.input),
            _ => Value::Null,
        };
        if let Some(masks) = &mut self.masks {
            masks.event(&mut event);
            hide("", &mut input, masks);
        }
        let place = Some((self.file.clone(), self.line));
        match event.kind {
            EventKind::Call(call) if meant && !self.found => {
                self.found = true;
                self.whole.tool = call.tool.into_owned();
                self.whole.args = call.args.into_owned();
                self.whole.input = input;
                self.whole.call = place;
            }
            EventKind::Result(result) if meant => {
                self.whole.output = Some(result.output.into_owned());
                self.whole.answer = place;
            }
            _ => {}
        }
    }
}
