//! Parrot: its sessions as events. An invented agent that shows how little an importer has to say; `docs/importers.md`
//! has this module word for word.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::bundles;
use super::call::open::Calls;
use super::call::tools::{self, Answer};
use super::file::jsonl::{self, Format, State};
use super::file::value::word;
use super::stream::out::Out;
use super::stream::place::Place;
use cru_base::Result;
use cru_session::event::{EventKind, Prompt, PromptOrigin, StreamKey};
use cru_session::source::{Bundle, Header, Importer};

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "parrot",
    recognise: |_, bytes| jsonl::head(bytes, 3).any(|record| record.get("parrot").is_some()),
    bundle: |files| bundles::by_session(files, |path| Ok((bundles::stem(path), 0, None))),
    together: |path| Ok(vec![bundles::stem(path)]),
    read: |bundle, sink| jsonl::read(Parrot, bundle, sink),
    beside: bundles::alone,
    hooked: None,
};

/// Each file is a session.
struct Parrot;

impl Format for Parrot {
    type State = Session;

    fn file(&mut self, _: &Bundle, path: &Path) -> Result<Header> {
        let key = StreamKey { session: bundles::stem(path), agent: None };
        Ok(Header { key, transcript: path.to_owned(), ..Header::default() })
    }

    fn begin(&mut self, _: &Header) -> Session {
        Session::default()
    }
}

/// What later records need of earlier ones.
#[derive(Default)]
struct Session {
    place: Place,
    calls: Calls,
}

impl State for Session {
    fn id(&self, record: &Value) -> String {
        word(record, "/id").to_owned()
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        word(record, "/at").parse().ok()
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        let text = word(&record, "/text");
        match word(&record, "/kind") {
            "asked" => {
                self.calls.begin_turn();
                let (origin, attachments) = (PromptOrigin::Typed, Vec::new());
                out.emit(EventKind::Prompt(Prompt { text: text.into(), origin, attachments }));
            }
            "said" => out.emit(EventKind::Reply(text.into())),
            "called" => {
                let (id, tool, input) = (word(&record, "/call"), word(&record, "/tool"), record["input"].clone());
                tools::call(&mut self.calls, &self.place, id, tool, input, out);
            }
            "answered" => {
                let call = self.calls.close(word(&record, "/call"), ["", ""]);
                let Some(call) = call else { return Some("answer to no call") };
                let answer = Answer { output: text.into(), failed: record["failed"] == true, ..Answer::default() };
                tools::answer(&call, answer, &self.place, out);
            }
            "" => return Some("no record type"),
            _ => return Some("unknown record type"),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::IMPORTER;
    use crate::told::{lines, told};

    #[test]
    fn its_events() {
        let records = [
            json!({"parrot": 1, "id": "1", "kind": "asked", "text": "What is in the folder?"}),
            json!({"id": "2", "kind": "called", "call": "c1", "tool": "Bash", "input": {"command": "ls"}}),
            json!({"id": "3", "kind": "answered", "call": "c1", "text": "notes.md"}),
            json!({"id": "4", "kind": "sang", "text": "la"}),
            json!({"id": "5", "kind": "said", "text": "One note."}),
        ];
        let told = told(&IMPORTER, &[("s.jsonl", lines(&records))]);
        insta::assert_snapshot!(told.stream("s"), @r"
        1 prompt (typed) What is in the folder?
        2 call c1 Bash ls
        3 result c1 notes.md
        5 reply One note.
        ");
        assert_eq!(told.skipped("unknown record type"), 1);
    }

    #[test]
    fn the_page_has_it_word_for_word() {
        let page = include_str!("../../../docs/importers.md");
        let own = include_str!("example.rs").split("\n#[cfg(test)]\n").next().unwrap();
        assert!(page.contains(&format!("```rust\n{}\n```", own.trim_end())), "docs/importers.md shows another module");
        let row = include_str!("../../cru-session/data/example.toml");
        assert!(page.contains(&format!("```toml\n{}\n```", row.trim_end())), "docs/importers.md shows another row");
        assert!(row.contains(&format!("id = \"{}\"\n", IMPORTER.id)));
    }
}
