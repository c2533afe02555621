//! One session while it is read: what its host tells of it, as events.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::open::{Calls, UNMET};
use crate::call::started::StartedAgents;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::jsonl::State;
use crate::file::tables::{Begun, HostStore};
use crate::file::value::{self, dollars, filled, list, moment, number, usage, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::left_out;
use crate::wrapper::{self, Means};
use cru_action::ToolKind;
use cru_base::text::percent_decoded;
use cru_session::event::{
    Attachment, CallResult, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, SubagentRun, TitleRank, Usage,
};
use cru_session::source::{Bundle, Header};

/// Receives the sessions of a document: what each is, what is said of it as a whole, and its records, of those that
/// cannot be read the reason.
pub(crate) type EachSession<'e> = dyn FnMut(Header, Value, Vec<std::result::Result<Value, &'static str>>) + 'e;

/// A host, as far as it is another than the others.
#[derive(Debug)]
pub(crate) struct RecordHost {
    /// Name of its row.
    pub(crate) id: &'static str,
    /// As [`Importer::recognise`](cru_session::source::Importer::recognise).
    pub(crate) recognise: fn(&Path, &[u8]) -> bool,
    /// The session that a file is of, and its place among the files of that session.
    pub(crate) session: fn(&Path) -> (String, u64),
    /// Another file of the bundle tells what this one does: why it is passed over.
    pub(crate) passes: fn(&Bundle, &Path) -> Option<&'static str>,
    /// The stream of a file of lines.
    pub(crate) header: fn(&Path, String) -> Header,
    /// The stream of a record that is none of its file's own.
    pub(crate) aside: fn(&StreamKey, &Value) -> Option<Header>,
    /// What files beside a file of lines say of its session, in the form of [`RecordSession::head`].
    pub(crate) beside: fn(&Path) -> Value,
    /// Whether a file holds a record a line; else it is a document.
    pub(crate) lines: fn(&Path) -> bool,
    /// Takes a document apart.
    pub(crate) document: fn(&Path, &str, &mut EachSession<'_>),
    /// The first of these members is the id of a record: `uuid`, `/data/id`.
    pub(crate) ids: &'static [&'static str],
    /// The first of these members is its time.
    pub(crate) times: &'static [&'static str],
    /// Tells what a record says; why something of it is left out, where it is.
    pub(crate) tell: fn(&mut RecordSession, &Value, &mut Out<'_>) -> Option<&'static str>,
    /// Whether it keeps what came of a call: else no call waits for that, and each says so until an answer is met.
    pub(crate) answers: bool,
    /// Its databases, which tell the sessions better that files tell, too.
    pub(crate) store: Option<HostStore>,
    /// Whether its hooks are understood: what they told is read as Claude Code's.
    pub(crate) hooked: bool,
}

/// Why words are left out that the host put under somebody's name.
pub(crate) const HOST_WORDS: &str = "words of the host";

/// What tokens are called in what is said of a session as a whole.
const COUNTS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// The state of one session.
#[derive(Debug)]
pub(crate) struct RecordSession {
    host: &'static RecordHost,
    pub(crate) key: StreamKey,
    /// Whether a parent gives the prompts.
    pub(crate) is_agent: bool,
    /// What is said of it as a whole, until it is told.
    beside: Value,
    pub(crate) place: Place,
    pub(crate) calls: Calls,
    /// Open calls, with their tools, for hosts whose answers do not name their call.
    pub(crate) waiting: Vec<(String, String)>,
    /// Words that the next record may go on with: whether they are thoughts, the record that they began in, its time.
    said: Option<(bool, String, u64, Option<Timestamp>)>,
    /// Words of the person that the next record may go on with, what was sent along, the record that they began in, its time.
    typed: Option<(String, Vec<Attachment<'static>>, u64, Option<Timestamp>)>,
    /// A call whose arguments the next records may go on with: its id, its tool, its arguments as they are written, its time.
    pub(crate) asked: Option<(String, String, String, Option<Timestamp>)>,
    /// Sub-agents whose call was not met yet, and those of open calls, by the id of the call.
    pub(crate) started: StartedAgents,
    pub(crate) runs: HashMap<String, SubagentRun<'static>>,
    /// Records by their ids, and the last of them, for hosts whose records name the one before.
    pub(crate) records: HashMap<String, u64>,
    pub(crate) last: String,
    /// The model that was named last.
    pub(crate) model: String,
    /// The session that tells what was copied from it.
    pub(crate) origin: String,
}

impl State for RecordSession {
    fn id(&self, record: &Value) -> String {
        let ids = self.host.ids.iter().filter_map(|path| inner(record, path));
        let mut ids = ids.filter_map(|(inner, name)| match inner.get(name)? {
            Value::Number(number) => Some(number.to_string()),
            _ => filled(inner, name).map(str::to_owned),
        });
        ids.find(|id| id != "REDACTED").unwrap_or_default()
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        self.host.times.iter().find_map(|path| inner(record, path).and_then(|(inner, name)| moment(inner, name)))
    }

    fn waits(&self) -> bool {
        self.host.answers && (self.calls.waiting() > 0 || self.asked.is_some())
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        let beside = self.beside.take();
        self.head(&beside, out);
        let strange = (self.host.tell)(self, &record, out);
        out.left(strange)
    }

    fn end(&mut self, out: &mut Out<'_>) {
        // Of a call that is still being written, or was cut off, only its tool is known.
        let input = self.asked.as_mut().map(|(_, _, input, _)| input);
        input.filter(|input| value::read(input.as_bytes()).is_none()).into_iter().for_each(String::clear);
        self.flush(out);
    }
}

impl RecordSession {
    /// A session of that identity; `beside` says of it what [`RecordSession::head`] takes.
    pub(crate) fn new(host: &'static RecordHost, key: StreamKey, beside: Value) -> Self {
        Self {
            host,
            is_agent: key.agent.is_some(),
            key,
            beside,
            place: Place::default(),
            calls: Calls::default(),
            waiting: Vec::new(),
            said: None,
            typed: None,
            asked: None,
            started: StartedAgents::default(),
            runs: HashMap::new(),
            records: HashMap::new(),
            last: String::new(),
            model: String::new(),
            origin: String::new(),
        }
    }

    /// The same of a session that is kept in a database, or that started others.
    pub(crate) fn begun(host: &'static RecordHost, key: StreamKey, begun: Begun) -> Self {
        let Begun { head, asked, runs } = begun;
        Self { started: StartedAgents::of(asked), runs, ..Self::new(host, key, head) }
    }

    /// What is said of the session as a whole, as an object: `cwd`, `title` and whether a person gave it (`named`), `model`, `branch`,
    /// `commit`, `version`, `started`, `ended`, until when it was `copied` from another one, `cost` in US dollars, tokens (`usage`: input without cached ones, output,
    /// `cache_read`, `cache_write`), the same in rows by `model` (`used`), `tokens` of which no more is known, the session at hand that it was copied from
    /// (`origin`), and whatever else its note has (`more`).
    pub(crate) fn head(&mut self, head: &Value, out: &mut Out<'_>) {
        if let Some(origin) = filled(head, "origin") {
            origin.clone_into(&mut self.origin);
        }
        if let Some(folder) = filled(head, "cwd") {
            out.folder(&mut self.place, folder);
        }
        if let Some(title) = filled(head, "title") {
            let rank = if head["named"] == true { TitleRank::Custom } else { TitleRank::Host };
            out.facts([SessionFact::Title { rank, text: title.trim().into() }]);
        }
        if let Some(model) = filled(head, "model").filter(|model| *model != self.model) {
            model.clone_into(&mut self.model);
            out.model(Some(model));
        }
        let word = |key: &str| filled(head, key).map(Cow::Borrowed);
        let facts = [
            word("branch").map(SessionFact::Branch),
            word("commit").map(SessionFact::Commit),
            word("version").map(SessionFact::HostVersion),
            moment(head, "started").map(SessionFact::Started),
            moment(head, "copied").map(SessionFact::CopiedUntil),
            head.get("more")
                .filter(|more| more.as_object().is_some_and(|more| !more.is_empty()))
                .map(|more| SessionFact::Property { key: self.host.id.into(), value: more.clone() }),
        ];
        let time = out.time;
        for fact in facts.into_iter().flatten() {
            out.time = moment(head, "ended").filter(|_| matches!(fact, SessionFact::Started(_))).or(time);
            out.facts([fact]);
        }
        out.time = time;
        let mut sums: BTreeMap<&str, Usage> = BTreeMap::new();
        for row in list(head, "/used") {
            sums.entry(filled(row, "model").unwrap_or("unknown")).or_default().add(usage(row, COUNTS));
        }
        for (model, sum) in sums {
            self.usage(model, model, sum, out);
        }
        let counts = usage(&head["usage"], COUNTS);
        let mut all = number(head, "tokens");
        if filled(head, "model").is_none() && counts != Usage::default() {
            all = Some(counts.used());
        } else {
            self.usage("session", "", counts, out);
        }
        let all = all.filter(|tokens| *tokens > 0).map(SessionFact::Tokens);
        out.facts(all.into_iter().chain(dollars(head, "cost").map(SessionFact::TotalCost)));
    }

    /// Words under a person's name; why nothing is told of them, where nothing is.
    pub(crate) fn prompt(
        &mut self,
        words: &str,
        attachments: Vec<Attachment<'static>>,
        out: &mut Out<'_>,
    ) -> Option<&'static str> {
        if wrapper::means(self.host.id, words).is_some() {
            return Some(HOST_WORDS);
        }
        let own = wrapper::own_words(self.host.id, words);
        let own = own.trim();
        if own.is_empty() && attachments.is_empty() {
            return (!words.trim().is_empty()).then_some(HOST_WORDS);
        }
        self.flush(out);
        self.calls.begin_turn();
        let origin = match (self.is_agent, wrapper::is_command(self.host.id, own)) {
            (true, _) => PromptOrigin::Task,
            (false, true) => PromptOrigin::Command,
            (false, false) => PromptOrigin::Typed,
        };
        out.emit(EventKind::Prompt(Prompt { text: own.to_owned().into(), origin, attachments }));
        None
    }

    /// A piece of their words, which the next record may go on with.
    pub(crate) fn prompt_more(&mut self, words: &str, sent: Option<Attachment<'static>>, out: &mut Out<'_>) {
        if self.typed.is_none() {
            self.flush(out);
        }
        out.told = true;
        let typed = self.typed.get_or_insert_with(|| (String::new(), Vec::new(), out.record, out.time));
        typed.0.push_str(words);
        typed.1.extend(sent);
    }

    /// Words of the agent.
    pub(crate) fn reply(&mut self, text: &str, out: &mut Out<'_>) {
        self.flush(out);
        self.more(false, text, out);
        self.flush(out);
    }

    /// Its thoughts.
    pub(crate) fn think(&mut self, text: &str, out: &mut Out<'_>) {
        self.flush(out);
        self.more(true, text, out);
        self.flush(out);
    }

    /// A piece of its words or thoughts, which the next record may go on with.
    pub(crate) fn more(&mut self, is_thought: bool, text: &str, out: &mut Out<'_>) {
        if self.typed.is_some() || self.said.as_ref().is_some_and(|said| said.0 != is_thought) {
            self.flush(out);
        }
        out.told |= !text.is_empty();
        self.said.get_or_insert_with(|| (is_thought, String::new(), out.record, out.time)).1.push_str(text);
    }

    /// Nothing goes on any more of what was begun.
    pub(crate) fn flush(&mut self, out: &mut Out<'_>) {
        if let Some((is_thought, text, record, time)) = self.said.take().filter(|said| !said.1.trim().is_empty()) {
            let text = text.trim().to_owned().into();
            out.emit_at(record, time, if is_thought { EventKind::Thinking(text) } else { EventKind::Reply(text) });
        }
        if let Some((words, sent, record, time)) = self.typed.take() {
            let now = (out.record, out.time);
            (out.record, out.time) = (record, time);
            self.prompt(&words, sent, out);
            (out.record, out.time) = now;
        }
        if let Some((id, tool, input, time)) = self.asked.take() {
            let now = std::mem::replace(&mut out.time, time);
            self.call(&id, &tool, &Value::String(input), out);
            out.time = now;
        }
    }

    /// A call; its arguments may be written as a text.
    pub(crate) fn call(&mut self, id: &str, tool: &str, input: &Value, out: &mut Out<'_>) {
        self.flush(out);
        let written = input.as_str().and_then(|text| value::read(text.as_bytes()));
        let input = written.unwrap_or_else(|| input.clone());
        task_list::tell(tool, &input, out);
        let id = if id.is_empty() { format!("@{}", out.record) } else { id.to_owned() };
        if let Some(run) = self.started.run(tool, &input) {
            self.runs.insert(id.clone(), run);
        }
        let call = tools::call(&mut self.calls, &self.place, &id, tool, input, out).into();
        if !self.host.answers {
            let (brief, subagent) = (Some("answer not recorded".into()), self.runs.get(&id).cloned());
            out.emit(EventKind::Result(CallResult { call, brief, subagent, ..CallResult::default() }));
        }
        // More are not looked through for an answer.
        self.waiting.truncate(512);
        self.waiting.push((id, tool.to_owned()));
    }

    /// A line that the person had the shell run, and what came of it.
    pub(crate) fn shell_line(&mut self, line: &str, answer: Option<Answer<'_>>, out: &mut Out<'_>) {
        self.flush(out);
        out.prompt(line, PromptOrigin::Shell);
        // It has no id of the host; the name says that no agent called it.
        let id = format!("shell@{}", out.record);
        self.call(&id, "Shell", &json!({ "command": line }), out);
        if let Some(answer) = answer {
            self.answer(&id, answer, out);
        }
    }

    /// The answer of a call; why nothing is told of it, where nothing is.
    pub(crate) fn answer(&mut self, id: &str, mut answer: Answer<'_>, out: &mut Out<'_>) -> Option<&'static str> {
        self.flush(out);
        let Some(call) = self.calls.close(id, ["", ""]) else { return Some(self.calls.unmet(id)) };
        if let Some(at) = self.waiting.iter().position(|(open, _)| open == id) {
            self.waiting.remove(at);
        }
        answer.subagent = answer.subagent.or_else(|| self.runs.remove(id));
        let says = |means| wrapper::is(self.host.id, means, &answer.output);
        if says(Means::RefusedByHost) {
            answer.denial = answer.output.lines().next().map(|line| line.to_owned().into());
        }
        answer.denied |= answer.denial.is_some() || says(Means::Refused);
        answer.failed |= says(Means::Failed);
        answer.exit = answer.exit.filter(|code| *code != 0 && !answer.denied);
        answer.failed = !answer.denied && (answer.failed || answer.exit.is_some());
        tools::answer(&call, answer, &self.place, out);
        None
    }

    /// The answer of the call that waits the longest, of those of `tool` where one is named.
    pub(crate) fn answer_next(&mut self, tool: &str, answer: Answer<'_>, out: &mut Out<'_>) -> Option<&'static str> {
        self.next_call(tool).map_or(Some(UNMET), |id| self.answer(&id, answer, out))
    }

    /// The call that waits the longest, of those of `tool` where one is named.
    pub(crate) fn next_call(&self, tool: &str) -> Option<String> {
        self.waiting.iter().find(|(_, name)| tool.is_empty() || name == tool).map(|(id, _)| id.clone())
    }

    /// Why a record or a part of that type is left out, of which a host says nothing else.
    pub(crate) fn left_out(&self, what: &'static str, kind: &str) -> &'static str {
        left_out(self.host.id, what, kind)
    }

    /// The service of the model failed.
    pub(crate) fn fail(&mut self, text: &str, out: &mut Out<'_>) -> Option<&'static str> {
        self.flush(out);
        out.emit(EventKind::ApiError(text.to_owned().into()));
        None
    }

    /// A person stopped the agent.
    pub(crate) fn stop(&mut self, out: &mut Out<'_>) -> Option<&'static str> {
        self.flush(out);
        out.emit(EventKind::Interrupt { call: None, unnamed: false });
        None
    }

    /// The context was compacted.
    pub(crate) fn compact(&mut self, before: Option<u64>, summary: &str, out: &mut Out<'_>) -> Option<&'static str> {
        self.flush(out);
        let summary = Some(summary.to_owned().into()).filter(|_| !summary.trim().is_empty());
        out.emit(EventKind::Compaction { trigger: None, tokens_before: before.filter(|it| *it > 0), summary });
        None
    }

    /// The work that a call of a sub-agent started; `agent` names its stream.
    pub(crate) fn run(&self, tool: &str, agent: &str) -> Option<SubagentRun<'static>> {
        let stream = StreamKey { session: self.key.session.clone(), agent: Some(agent.to_owned()) };
        let is_agent = ToolKind::of(tool) == ToolKind::Subagent;
        is_agent.then_some(SubagentRun { stream: Some(stream), ..SubagentRun::default() })
    }

    /// Tokens of a message; of `model`, else of the one that was named last.
    pub(crate) fn usage(&mut self, message: &str, model: &str, usage: Usage, out: &mut Out<'_>) {
        if !model.is_empty() {
            model.clone_into(&mut self.model);
        }
        if usage != Usage::default() {
            let message = if message.is_empty() { out.record.to_string() } else { message.to_owned() };
            let model = if self.model.is_empty() { "unknown" } else { &self.model };
            out.quiet(EventKind::Usage { message: message.into(), model: model.to_owned().into(), usage });
        }
    }
}

/// The value that a path leads to, and the name of the member there: `uuid`, `/data/id`.
fn inner<'v, 'p>(record: &'v Value, path: &'p str) -> Option<(&'v Value, &'p str)> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some((record.pointer(above)?, name))
}

/// The path that an address of a file names: `file:///home/a%20b`.
pub(crate) fn file_path(address: &str) -> String {
    let Some(rest) = address.strip_prefix("file://") else { return address.to_owned() };
    let path = percent_decoded(rest).unwrap_or_else(|| rest.to_owned());
    // `/c:/work` is a folder of Windows.
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    }
}

/// The words of a member, which may stand in an object of its own.
pub(crate) fn spoken<'v>(record: &'v Value, pointer: &str) -> &'v str {
    let inner = word(record, &format!("{pointer}/value"));
    if inner.is_empty() { word(record, pointer) } else { inner }
}

/// How a command ended, where the host says it in words: `Exit code: 2`.
pub(crate) fn exit_of(output: &str) -> Option<i32> {
    ["xit code: ", "xit Code: "].iter().find_map(|mark| code_behind(output, mark))
}

/// The code that stands behind the first such mark in a text.
pub(crate) fn code_behind(text: &str, mark: &str) -> Option<i32> {
    let (_, rest) = text.split_once(mark)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}
