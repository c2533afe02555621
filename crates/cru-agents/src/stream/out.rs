//! Where the events of one record go, and why one is left out.

use std::borrow::Cow;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::place::Place;
use cru_session::Meta;
use cru_session::event::{Call, Event, EventKind, Prompt, PromptOrigin, Remark, SessionFact, StreamKey, TitleRank};
use cru_session::source::Sink;

/// The new value where it differs from the old one and says something.
pub(crate) fn changed<'v>(old: &mut String, new: &'v str) -> Option<&'v str> {
    if new.is_empty() || old == new {
        return None;
    }
    new.clone_into(old);
    Some(new)
}

/// A callout of this kind.
pub(crate) fn remark<'v>(
    kind: &'static str,
    title: impl Into<Cow<'v, str>>,
    text: impl Into<Cow<'v, str>>,
) -> Remark<'v> {
    Remark { kind: kind.into(), title: title.into(), text: text.into(), ..Remark::default() }
}

/// Tells the events of one record of a stream.
pub(crate) struct Out<'s> {
    sink: &'s mut dyn Sink,
    key: Rc<StreamKey>,
    /// Number of the record.
    pub(crate) record: u64,
    /// Its time.
    pub(crate) time: Option<Timestamp>,
    /// Whether something was told that a note shows or uses.
    pub(crate) told: bool,
    /// Whether a prompt was told that begins a turn.
    pub(crate) began_turn: bool,
    /// Records that were left out before: why, and why they are now; `None` for one that is told after all.
    pub(crate) later: Vec<(&'static str, Option<&'static str>)>,
}

impl<'s> Out<'s> {
    /// For a record of the stream `key`.
    pub(crate) fn new(sink: &'s mut dyn Sink, key: Rc<StreamKey>, record: u64, time: Option<Timestamp>) -> Self {
        Self { sink, key, record, time, told: false, began_turn: false, later: Vec::new() }
    }

    /// Tells an event.
    pub(crate) fn emit(&mut self, kind: EventKind<'_>) {
        self.emit_at(self.record, self.time, kind);
    }

    /// Tells an event of an earlier record.
    pub(crate) fn emit_at(&mut self, record: u64, time: Option<Timestamp>, kind: EventKind<'_>) {
        self.told = true;
        self.sink.event(&self.key, Event { record, time, kind });
    }

    /// Tells an event that does not by itself make the record one that a note uses.
    pub(crate) fn quiet(&mut self, kind: EventKind<'_>) {
        self.sink.event(&self.key, Event { record: self.record, time: self.time, kind });
    }

    /// Tells words under a person's name.
    pub(crate) fn prompt<'v>(&mut self, text: impl Into<Cow<'v, str>>, origin: PromptOrigin<'v>) {
        self.emit(EventKind::Prompt(Prompt { text: text.into(), origin, attachments: Vec::new() }));
    }

    /// Tells a call.
    pub(crate) fn call<'v>(
        &mut self,
        id: &'v str,
        tool: impl Into<Cow<'v, str>>,
        args: impl Into<Cow<'v, str>>,
        input: Value,
    ) {
        self.emit(EventKind::Call(Call { id: id.into(), tool: tool.into(), args: args.into(), input }));
    }

    /// Tells a word of a call that stands with it under a name.
    pub(crate) fn detail<'v>(&mut self, call: &'v str, name: &'v str, value: impl Into<Cow<'v, str>>) {
        self.emit(EventKind::Detail { call: call.into(), name: name.into(), value: value.into() });
    }

    /// Tells facts of the session.
    pub(crate) fn facts<'v>(&mut self, facts: impl IntoIterator<Item = SessionFact<'v>>) {
        facts.into_iter().for_each(|fact| self.quiet(EventKind::Meta(fact)));
    }

    /// Tells that not all files are told that the session changed.
    pub(crate) fn changes_untold(&mut self) {
        let (key, value) = Meta::CHANGES_UNTOLD;
        self.facts([SessionFact::Property { key: key.into(), value: value.into() }]);
    }

    /// Tells the folder that work goes on in, where it is another than before.
    pub(crate) fn folder(&mut self, place: &mut Place, directory: &str) {
        if place.see(directory) {
            self.facts([SessionFact::Cwd(place.tilde(directory))]);
        }
    }

    /// Tells the title that the host gave, where it gave one.
    pub(crate) fn title(&mut self, title: Option<&str>) {
        self.facts(title.map(|text| SessionFact::Title { rank: TitleRank::Host, text: text.into() }));
    }

    /// Tells the model, where one is named.
    pub(crate) fn model(&mut self, model: Option<&str>) {
        self.facts(model.map(|model| SessionFact::Model(model.into())));
    }

    /// Why the record is left out, where nothing is told of it; `skipped` says why some of it is. What is not known is named
    /// in any case.
    pub(crate) fn left(&self, skipped: Option<&'static str>) -> Option<&'static str> {
        let reason = skipped.unwrap_or("empty message");
        (!self.told || reason.starts_with("unknown")).then_some(reason)
    }
}
