//! One run while it is read: its lines to blocks, and each block to its events.

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::json;

use super::edit::{self, AiderPiece};
use super::host::{self, AiderTold};
use super::mark::{AiderMark, Stand, mark};
use crate::call::brief;
use crate::file::markdown::{Fences, counted};
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{Call, CallResult, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey};
use cru_session::source::{Account, Sink};

/// What stands where the history does not say that an edit was made.
const UNKNOWN: &str = "not recorded as applied";

/// Edits that may still be settled; of more of them nothing is known.
const MOST: usize = 1000;

/// Lines that belong together.
#[derive(Debug)]
struct AiderBlock {
    kind: RunKind,
    /// Number of its first line in the file.
    line: u64,
    /// Number of its first line among those that were taken in.
    record: u64,
    lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunKind {
    Prompt,
    Reply,
    /// What the program tells the model about edits that did not fit.
    Report,
}

/// An edit that the model wrote.
#[derive(Debug)]
struct Edit {
    call: String,
    path: String,
    /// By how many lines it changes the file, where that is known.
    size: Option<String>,
}

/// The state of a run.
pub(super) struct Run<'s> {
    key: Rc<StreamKey>,
    begun: Option<Timestamp>,
    path: PathBuf,
    sink: &'s mut dyn Sink,
    account: &'s mut Account,
    intake: Intake,
    place: Place,
    block: Option<AiderBlock>,
    fences: Fences,
    in_edit: bool,
    after_blank: bool,
    edits: Vec<Edit>,
    calls: u64,
    messages: u64,
    model: String,
}

impl<'s> Run<'s> {
    /// A run that began then, in the history at `path`.
    pub(super) fn new(
        key: Rc<StreamKey>,
        begun: Option<Timestamp>,
        path: PathBuf,
        sink: &'s mut dyn Sink,
        account: &'s mut Account,
    ) -> Self {
        let intake = Intake::new(sink.bounds(&key));
        Self {
            key,
            begun,
            path,
            sink,
            account,
            intake,
            place: Place::default(),
            block: None,
            fences: Fences::default(),
            in_edit: false,
            after_blank: false,
            edits: Vec::new(),
            calls: 0,
            messages: 0,
            model: String::new(),
        }
    }

    /// The next line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        let kind = self.block.as_ref().map(|block| block.kind);
        if let Some(bytes) = counted(line) {
            if self.intake.is_full() {
                self.finish();
                self.account.skip(LATER);
                return;
            }
            self.intake.consume(bytes, "", false);
        }
        let record = self.intake.records();
        if kind == Some(RunKind::Report) {
            return self.report_line(line);
        }
        let stand = Stand {
            in_reply: kind == Some(RunKind::Reply),
            inside: self.fences.is_open() || self.in_edit,
            after_blank: self.after_blank,
        };
        self.after_blank = line.trim().is_empty();
        match mark(line, stand) {
            AiderMark::Blank if kind == Some(RunKind::Reply) => self.push(RunKind::Reply, number, record, line),
            AiderMark::Blank => self.finish(),
            AiderMark::Start => self.account.represent_of(&self.key),
            AiderMark::Prompt(words) => {
                if kind != Some(RunKind::Prompt) {
                    self.finish();
                }
                self.push(RunKind::Prompt, number, record, words);
            }
            AiderMark::Host(said) => {
                self.finish();
                self.host(said, number, record);
            }
            AiderMark::Text => {
                if kind != Some(RunKind::Reply) {
                    self.finish();
                }
                self.push(RunKind::Reply, number, record, line);
                self.see(line);
            }
        }
    }

    /// The run is read to its end.
    pub(super) fn end(mut self) {
        self.finish();
        self.sink.close(&self.key, self.intake.consumed(false));
    }

    /// Takes in where the words of the model stand: in a fence, in an edit.
    fn see(&mut self, line: &str) {
        if self.in_edit {
            self.in_edit = !edit::ends(line);
        } else if edit::begins(line) {
            self.in_edit = true;
        } else {
            self.fences.see(line);
        }
    }

    fn push(&mut self, kind: RunKind, line: u64, record: u64, text: &str) {
        let block = self.block.get_or_insert_with(|| AiderBlock { kind, line, record, lines: Vec::new() });
        block.lines.push(text.to_owned());
    }

    /// The program's report ends with the line that it put its two blanks behind.
    fn report_line(&mut self, line: &str) {
        const NAMES: &str = " to exactly match lines in ";
        self.push(RunKind::Report, 0, 0, "");
        if let Some((_, path)) = line.split_once(NAMES).filter(|_| line.starts_with("## ")) {
            self.settle(path.trim(), Some("SEARCH block failed to exactly match"), true);
        }
        if line.ends_with("  ") && !line.trim().is_empty() {
            self.finish();
        }
    }

    /// The block that was read is whole.
    fn finish(&mut self) {
        let Some(block) = self.block.take() else { return };
        (self.fences, self.in_edit) = (Fences::default(), false);
        if block.kind == RunKind::Report {
            // What it says of each edit stands at that.
            self.account.represent_of(&self.key);
            return;
        }
        self.sink.line(&self.path, block.line);
        let told = match block.kind {
            RunKind::Prompt => self.prompt(&block),
            _ => self.reply(&block),
        };
        if told {
            self.account.represent_of(&self.key);
        } else {
            self.account.skip("empty prompt");
        }
    }

    fn out(&mut self, record: u64, time: Option<Timestamp>) -> Out<'_> {
        Out::new(&mut *self.sink, self.key.clone(), record, time)
    }

    fn prompt(&mut self, block: &AiderBlock) -> bool {
        let words = block.lines.join("\n");
        let words = words.trim();
        if words.is_empty() || words == "<blank>" {
            return false;
        }
        self.edits.clear();
        let (text, origin) = match words.strip_prefix('!') {
            Some(command) => (command, PromptOrigin::Shell),
            None if words.starts_with('/') => (words, PromptOrigin::Command),
            None => (words, PromptOrigin::Typed),
        };
        // Only the beginning has a time.
        let time = self.begun.take();
        let prompt = Prompt { text: text.to_owned().into(), origin, attachments: Vec::new() };
        self.out(block.record, time).emit(EventKind::Prompt(prompt));
        true
    }

    fn reply(&mut self, block: &AiderBlock) -> bool {
        let lines: Vec<&str> = block.lines.iter().map(String::as_str).collect();
        for piece in edit::pieces(&lines) {
            match piece {
                AiderPiece::Prose(text) => self.out(block.record, None).emit(EventKind::Reply(text.into())),
                AiderPiece::Edit { path, search, replace } => {
                    let size = brief::exchange(&search, &replace);
                    // Until the program says that it was made, nothing is known of it.
                    let brief = format!("{UNKNOWN} ({size})");
                    let input = json!({"path": path, "search": search, "replace": replace});
                    let edit = self.edit(&path, Some(size), input, block.record);
                    if self.edits.len() < MOST {
                        self.edits.push(edit);
                    }
                    self.answer(block.record, CallResult { brief: Some(brief.into()), ..CallResult::default() });
                }
            }
        }
        true
    }

    /// Tells an edit of a file.
    fn edit(&mut self, path: &str, size: Option<String>, input: serde_json::Value, record: u64) -> Edit {
        self.calls += 1;
        let call = format!("e{}", self.calls);
        let path = plain(path);
        let args = self.place.show(&path).into_owned();
        let (id, tool) = (call.clone().into(), "edit".into());
        self.out(record, None).emit(EventKind::Call(Call { id, tool, args: args.into(), input }));
        Edit { call, path, size }
    }

    /// Answers the call that was told last.
    fn answer(&mut self, record: u64, result: CallResult<'_>) {
        let call = format!("e{}", self.calls);
        self.out(record, None).emit(EventKind::Result(CallResult { call: call.into(), ..result }));
    }

    /// What became of the edits of a file, or of the first of them: `why` they were not made, or that they were.
    fn settle(&mut self, path: &str, why: Option<&str>, first: bool) {
        let record = self.intake.records();
        let path = plain(path);
        // What is settled is not settled again.
        let mut left = if first { 1 } else { usize::MAX };
        let edits = std::mem::take(&mut self.edits).into_iter();
        let (mut settled, open): (Vec<Edit>, Vec<Edit>) = edits.partition(|edit| {
            let is = edit.path == path && left > 0;
            left -= usize::from(is);
            is
        });
        self.edits = open;
        if settled.is_empty() && why.is_none() {
            // Written in a form that is no block, such as the whole file.
            settled.push(self.edit(&path, None, json!({ "path": path }), record));
        }
        for edit in settled {
            let path = self.place.show(&edit.path).into_owned();
            let writes = if why.is_none() { vec![FileRef { path, ..FileRef::default() }] } else { Vec::new() };
            let brief = why.map(str::to_owned).or(edit.size).unwrap_or_else(|| "applied".to_owned());
            self.out(record, None).emit(EventKind::Result(CallResult {
                call: edit.call.into(),
                output: Cow::Owned(brief.clone()),
                brief: Some(brief.into()),
                failed: why.is_some(),
                writes,
                ..CallResult::default()
            }));
        }
    }

    fn host(&mut self, said: &str, line: u64, record: u64) {
        self.sink.line(&self.path, line);
        match host::tell(said) {
            AiderTold::Nothing(reason) => return self.account.skip(reason),
            AiderTold::Version(version) => self.meta(record, SessionFact::HostVersion(version.into())),
            AiderTold::Model(model) => model.clone_into(&mut self.model),
            AiderTold::Folder(folder) => {
                if self.place.see(folder) {
                    let cwd = self.place.tilde(folder).into_owned();
                    self.meta(record, SessionFact::Cwd(cwd.into()));
                }
            }
            AiderTold::Tokens(usage, cost) => {
                self.messages += 1;
                let message = self.messages.to_string().into();
                let model = if self.model.is_empty() { "unknown".to_owned() } else { self.model.clone() };
                self.out(record, None).quiet(EventKind::Usage { message, model: model.into(), usage });
                if let Some(cost) = cost {
                    self.meta(record, SessionFact::Cost(cost));
                }
            }
            AiderTold::Applied(path) => self.settle(path, None, false),
            AiderTold::NotApplied(path, why) => self.settle(path, Some(why), false),
            AiderTold::Commit(sha, words) => {
                self.calls += 1;
                let call = format!("e{}", self.calls);
                let args = format!("{sha} {words}");
                let input = json!({"commit": sha, "message": words});
                let call = Call { id: call.into(), tool: "commit".into(), args: args.into(), input };
                self.out(record, None).emit(EventKind::Call(call));
                self.answer(
                    record,
                    CallResult { brief: Some("committed".into()), commits: vec![sha.into()], ..CallResult::default() },
                );
            }
            AiderTold::Failure(text) => self.out(record, None).emit(EventKind::ApiError(text.into())),
            // Accounted for with the lines behind it.
            AiderTold::Report => return self.push(RunKind::Report, line, record, said),
        }
        self.account.represent_of(&self.key);
    }

    fn meta(&mut self, record: u64, meta: SessionFact<'_>) {
        self.out(record, None).quiet(EventKind::Meta(meta));
    }
}

/// A path as it is compared: the program and the model write it with different slashes.
fn plain(path: &str) -> String {
    path.replace('\\', "/")
}
