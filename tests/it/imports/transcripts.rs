//! Every transcript of Claude Code in a set: read to the end, accounted for, and written out as text for a person to
//! read.
//!
//! `CRU_TEST_DUMP` names a folder that takes the events as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cru::import;
use cru::session::event::{Event, EventKind, PromptOrigin, SessionFact, StreamKey, Usage};
use cru::session::source::{Account, Consumed, Header, Sink};

use crate::transcript_set::{TranscriptSet, on_both_sets};

/// Writes events as lines.
#[derive(Default)]
struct Dump {
    streams: BTreeMap<StreamKey, String>,
    usage: BTreeMap<StreamKey, BTreeMap<String, Usage>>,
    accounts: BTreeMap<PathBuf, Account>,
    closed: BTreeMap<StreamKey, Consumed>,
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cru::base::text::truncate(&line, 160).into_owned()
}

impl Sink for Dump {
    fn open(&mut self, header: Header) {
        let line = format!(
            "=== {} parent {:?} agent {:?} task {:?}\n    {}\n",
            header.key,
            header.parent.map(|parent| parent.to_string()),
            header.agent,
            header.task,
            header.transcript.display()
        );
        self.streams.entry(header.key).or_default().push_str(&line);
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        let text = match &event.kind {
            EventKind::Prompt(prompt) => {
                let origin = match &prompt.origin {
                    PromptOrigin::Denial { call } => format!("Denial of {call}"),
                    other => format!("{other:?}"),
                };
                format!("PROMPT [{origin}] {} {:?}", short(&prompt.text), prompt.attachments)
            }
            EventKind::Reply(text) => format!("  reply {}", short(text)),
            EventKind::Thinking(text) => format!("  think {}", short(text)),
            EventKind::Call(call) => format!("  CALL {} {} `{}`", call.id, call.tool, short(&call.args)),
            EventKind::Result(result) => format!(
                "  RESULT {}{}{} {:?} exit {:?} {:?} ms | {} | r {:?} w {:?} {}",
                result.call,
                if result.failed { " FAILED" } else { "" },
                if result.denied { " DENIED" } else { "" },
                result.brief,
                result.exit,
                result.duration_ms,
                short(&result.output),
                result.reads.iter().map(|file| (&file.path, &file.hash)).collect::<Vec<_>>(),
                result.writes.iter().map(|file| (&file.path, &file.hash, file.created)).collect::<Vec<_>>(),
                result.subagent.as_ref().map_or(String::new(), |run| format!("{run:?}")),
            ),
            EventKind::Usage { message, usage, .. } => {
                self.usage.entry(key.clone()).or_default().insert(message.to_string(), *usage);
                return;
            }
            EventKind::Compaction { trigger, tokens_before, summary } => {
                format!("COMPACTION {trigger:?} {tokens_before:?} {}", short(summary.as_deref().unwrap_or("-")))
            }
            EventKind::Meta(SessionFact::Title { rank, text }) => format!("TITLE {rank:?} {text}"),
            other => short(&format!("{other:?}")),
        };
        let dump = self.streams.get_mut(key).expect("an event only after its stream was opened");
        let _ = writeln!(dump, "{:>4} {text}", event.record);
    }

    fn close(&mut self, key: &StreamKey, consumed: Consumed) {
        assert!(self.closed.insert(key.clone(), consumed).is_none(), "{key} closed twice");
    }

    fn account(&mut self, file: &Path, account: Account) {
        assert!(account.balances(), "{}: {account:?}", file.display());
        self.accounts.insert(file.to_owned(), account);
    }
}

fn every_claude_transcript_is_read_and_accounted_for(set: &TranscriptSet) {
    let importer = import::find("claude").expect("a row of the table");
    let places = set.folders(&["claude", "claude-projects", "growth/claude"]);
    let found = import::search(importer, &places).expect("folders that can be read");
    let mut dump = Dump::default();
    for bundle in &found.bundles {
        (importer.read)(bundle, &mut dump).expect("files that can be read");
    }
    let files: usize = found.bundles.iter().map(|bundle| bundle.files.len()).sum();
    assert!(files > set.least(10, 50), "{files} files");
    assert_eq!(dump.accounts.len(), files, "every file has its account");
    assert_eq!(dump.closed.len(), dump.streams.len(), "every stream is closed");
    for (key, consumed) in &dump.closed {
        assert!(consumed.records > 0 && consumed.hash.len() == 64, "{key}");
    }
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    if let Some(out) = std::env::var_os("CRU_TEST_DUMP").map(PathBuf::from) {
        write_dump(&dump, &out);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own output")]
fn write_dump(dump: &Dump, out: &Path) {
    std::fs::create_dir_all(out).expect("a folder for the dump");
    for (key, text) in &dump.streams {
        let name = key.to_string().replace('/', "_");
        let consumed = dump.closed.get(key);
        std::fs::write(out.join(format!("{name}.txt")), format!("{text}{consumed:?}\n")).expect("a dump");
    }
    let mut total = Account::default();
    let mut lines = String::new();
    for (path, account) in &dump.accounts {
        total.add(account);
        let _ = writeln!(lines, "{} {account:?}", path.display());
    }
    let _ = writeln!(lines, "TOTAL {total:#?}");
    for (key, messages) in &dump.usage {
        let mut sum = Usage::default();
        for usage in messages.values() {
            sum.add(*usage);
        }
        let _ = writeln!(
            lines,
            "USAGE {key} {} {} {} {} {}",
            messages.len(),
            sum.input,
            sum.output,
            sum.cache_write,
            sum.cache_read
        );
    }
    std::fs::write(out.join("account.txt"), lines).expect("a dump");
}

on_both_sets!(every_claude_transcript_is_read_and_accounted_for);
