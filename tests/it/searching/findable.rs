//! Nothing is unfindable: a word in every place where text can stand, each found, and at the right place.

use std::path::Path;

use cru::base::files;
use cru::index::{Entry, Evidence, NoteKey, Record, Snapshot, words};
use cru::note::Note;
use cru::session::read;
use cru::sync::evidence::Transcripts;
use cru::vault::{Vault, VaultPath};
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Term};

use crate::imports::growth::World;

/// `w-…` words are to be found, each once; `x-…` words stand in comments and are not.
const NOTE: &str = r#"---
type: session
session_id: 2026-11-20-wsessionid
title: A wtitle
channel: wchannel
participants: [wagent@1]
tags:
  - wtag
mykey: "wown caf\u00e9 wescaped"
---
# A heading wheading

Before the first phase wpreface. %%private xpreface%%

%%private
xblock
%%

## Phase wphase @coder@2.0 #dev
*2026-11-20T09:31:04Z* ^p-01

Prose wprose in a line, with `wcode`, [wlabel](https://example.org/wtarget) and **wbold**. ^wblockid

**Tool calls:**
- `Bash grep wargs src` → found wresult in it %%private xstep%% ^n-001
  ```
  a long wcommand
  ```
- `Edit src/wfile.rs` → +1 −1 ^n-002
  - writes: src/wwritten/wdeep.rs
  - wfield: wnested

> [!decision] Take wdecision
> Why: wwhy %%xdecision%%
> Rejected: wrejected

^d-wdecisionid

> [!error]- Folded werror
> It broke at wfolded
> Resolution: wresolution

> [!user] Correction
> "do wuser" - meant winterpretation

> [!wkind] wunknown title
> body wbody
> > [!note] wnestedcallout
> > > [!tip] wdeepercallout
> > > wafter %%private
> > > xnested%% wbehind

> [!note] wabove %%private xabove
> xbelow%% wbelow

> [!subagent] @reviewer@1.0 (model)
> mode: inline
> Task: wtask
>
> Prose wsubprose
>
> - `Grep wsubargs` → wsubresult
> > [!error] wsuberror

> [!subagent] @other
> ![[wembedded]]
> Summary: wsummary

> A plain wquote

```rust
fn wfence() { call("\nwafterescape") }
```

    windented

| wcell | b |
|-------|---|
| c | wrow |

- list witem
  - deeper wdeepitem
- [ ] box wbox

```tasks
[{"id": "T-1", "content": "do wtaskrow\nwtaskline", "status": "pending", "note": "wtaskextra"}]
```

```yaml memory
goal: wmemory
```

<div>whtml</div>

<!-- whtmlcomment -->

[wdefinition]: https://example.org

### Sub wsubphase

#### Level wfour

Text with a note[^1].

[^1]: wfootnote

===

Setext wsetext
--------------

$$
wmath
$$

全文検索wmixed
"#;

/// The words of a text that begin with `start`, in order.
fn planted(text: &str, start: char) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 2 && word.starts_with(start));
    let mut words: Vec<String> = words.filter(|word| !["with", "wown"].contains(word)).map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}

struct Hits<'a> {
    snapshot: &'a Snapshot,
}

impl Hits<'_> {
    /// Kind and span of each entry that has all words of `text`.
    fn of(&self, text: &str) -> Vec<(String, usize, usize)> {
        let fields = self.snapshot.fields();
        let term = |word: &str| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(fields.body, word);
            (Occur::Must, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
        };
        let query = BooleanQuery::new(words::cut(text).iter().map(|word| term(&word.text)).collect());
        let mut hits = Vec::new();
        for part in self.snapshot.parts() {
            let searcher = part.searcher();
            let found = searcher.search(&query, &TopDocs::with_limit(100).order_by_score()).unwrap();
            for (_, DocAddress { segment_ord, doc_id }) in found {
                let fast = searcher.segment_reader(segment_ord).fast_fields();
                let number = |name: &str| fast.u64(name).unwrap().first(doc_id).unwrap();
                if !part.counts(NoteKey(number("note"))) {
                    continue;
                }
                let kinds = fast.str("kind").unwrap().unwrap();
                let mut kind = String::new();
                kinds.ord_to_str(kinds.term_ords(doc_id).next().unwrap(), &mut kind).unwrap();
                hits.push((kind, usize::try_from(number("start")).unwrap(), usize::try_from(number("end")).unwrap()));
            }
        }
        hits
    }
}

#[test]
fn every_word_of_a_note_is_found_where_it_stands() {
    let world = World::new();
    let folder = world.vault.sessions_dir();
    files::create(&folder.join("planted.md"), NOTE.as_bytes()).unwrap();
    let snapshot = Snapshot::open(&world.vault).unwrap();
    let hits = Hits { snapshot: &snapshot };
    let words = planted(NOTE, 'w');
    assert!(words.len() > 60, "{words:?}");
    for word in &words {
        let found = hits.of(word);
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        let (kind, start, end) = &found[0];
        let line = NOTE[..*start].matches('\n').count() + 1;
        let last = NOTE[..*end].matches('\n').count() + 1;
        let own = NOTE[..NOTE.find(word.as_str()).unwrap()].matches('\n').count() + 1;
        assert!((line..=last).contains(&own), "{word} of line {own} is found as {kind} in {line} to {last}");
    }
    for word in planted(NOTE, 'x') {
        assert_eq!(hits.of(&word), [], "{word} stands in a comment");
    }
    for (word, kind) in [
        ("wtitle", "session"),
        ("wheading", "session"),
        ("wphase", "phase"),
        ("wsubphase", "phase"),
        ("wargs", "step"),
        ("wcommand", "step"),
        ("wnested", "step"),
        ("wwhy", "decision"),
        ("d-wdecisionid", "decision"),
        ("wfolded", "error"),
        ("wuser", "user"),
        ("wdeepercallout", "wkind"),
        ("wtask", "subagent"),
        ("wsubresult", "step"),
        ("wsubprose", "prose"),
        ("wsuberror", "error"),
        ("wembedded", "subagent"),
        ("wtaskrow", "task"),
        ("wmemory", "memory"),
        ("wrow", "prose"),
        ("café", "session"),
        ("SRC/wwritten", "step"),
    ] {
        assert_eq!(hits.of(word)[0].0, kind, "{word}");
    }
}

pub(crate) fn record(kind: &str, id: usize, message: &Value, more: &Value) -> Value {
    let of = more["agentId"].as_str().unwrap_or("u");
    let mut record = json!({
        "type": kind, "uuid": format!("{of}{id}"), "sessionId": "s", "timestamp": format!("2026-11-20T09:00:{id:02}Z"),
        "message": message,
    });
    if id > 1 {
        record["parentUuid"] = json!(format!("{of}{}", id - 1));
    }
    for (name, value) in more.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    record
}

pub(crate) fn call(id: usize, tool: &str, input: &Value, more: &Value) -> Value {
    let content = json!([{ "type": "tool_use", "id": format!("t{id}"), "name": tool, "input": input }]);
    record(
        "assistant",
        id,
        &json!({ "role": "assistant", "model": "m", "id": format!("m{id}"), "content": content }),
        more,
    )
}

pub(crate) fn answer(id: usize, of: usize, text: &str, more: &Value) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": format!("t{of}"), "content": text }]);
    record("user", id, &json!({ "role": "user", "content": content }), more)
}

pub(crate) fn write(path: &Path, records: &[Value]) {
    // A blank line is no record, but it is a line.
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    files::create(path, format!("\n{}\n", lines.join("\n")).as_bytes()).unwrap();
}

/// The evidence of every note, by host session.
fn evidence(world: &World) -> Vec<(String, Vec<Entry>, Note)> {
    let vault = Vault::open(world.vault.root()).unwrap();
    let supplier = Transcripts::of(&vault, &world.env);
    let mut all = Vec::new();
    for (path, text) in world.notes() {
        let note = Note::parse(text.as_str());
        let session = read::content(&note);
        let path = VaultPath::new(path.strip_prefix(vault.root()).unwrap().to_str().unwrap()).unwrap();
        let row = Record::of(&path, &session, &cru::base::Lines::of(note.text())).session;
        let entries = supplier.entries(&path, &note, &session);
        assert_eq!(supplier.fingerprint(&row).is_none(), entries.is_empty());
        all.push((session.meta.host_session.unwrap(), entries, note));
    }
    all
}

#[test]
fn the_middle_of_what_tools_said_is_found() {
    let world = World::new();
    let long = |word: &str| format!("{}\n{word}\n{}", "before ".repeat(400), "behind ".repeat(400));
    let key = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2");
    let picture = "iVBORw0KGgo".repeat(100);
    let prompt = json!({ "role": "user", "content": "look at two things" });
    let write_input = json!({ "file_path": "/p/a.txt", "content": long("wmiddleinput") });
    write(
        &world.input().join("s.jsonl"),
        &[
            record("user", 1, &prompt, &json!({ "cwd": "/p" })),
            call(2, "Write", &write_input, &json!({})),
            answer(3, 2, &format!("{}\n{picture}", long("wmiddleoutput")), &json!({})),
            call(4, "Bash", &json!({ "command": "env" }), &json!({})),
            answer(5, 4, &format!("GITHUB={key}\nwbeside"), &json!({})),
            call(6, "Task", &json!({ "description": "d", "prompt": "go", "subagent_type": "reviewer" }), &json!({})),
            answer(7, 6, "All is well.", &json!({ "toolUseResult": { "agentId": "a1", "status": "completed" } })),
        ],
    );
    let side = json!({ "isSidechain": true, "agentId": "a1" });
    write(
        &world.input().join("s/subagents/agent-a1.jsonl"),
        &[
            record("user", 1, &json!({ "role": "user", "content": "go" }), &side),
            call(2, "Grep", &json!({ "pattern": "x" }), &side),
            answer(3, 2, &long("wsubmiddle"), &side),
            record(
                "assistant",
                4,
                &json!({ "role": "assistant", "model": "m", "id": "m4", "content": "All is well." }),
                &side,
            ),
        ],
    );
    let report = world.import();
    let all = evidence(&world);
    assert_eq!(all.len(), 2, "{report:?}");
    for (word, host_session, step, line) in [
        ("wmiddleinput", "s", "n-001", 3),
        ("wmiddleoutput", "s", "n-001", 4),
        ("wbeside", "s", "n-002", 6),
        ("wsubmiddle", "s/agent-a1", "n-001", 4),
    ] {
        let of = |(host, entries, note): &(String, Vec<Entry>, Note)| {
            let found = entries.iter().filter(|entry| entry.text.contains(word));
            found
                .map(|entry| (host.clone(), entry.clone(), note.text()[entry.span.range()].to_owned()))
                .collect::<Vec<_>>()
        };
        let found: Vec<_> = all.iter().flat_map(of).collect();
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        let (host, entry, at) = &found[0];
        assert_eq!(
            (host.as_str(), entry.kind.as_str(), entry.evidence),
            (host_session, "evidence", Some(line)),
            "{word}"
        );
        assert!(at.contains(&format!("^{step}")) && !at.contains(word), "{word}: {at}");
        assert!(entry.tool.is_some() && entry.time.is_some() && entry.agent.is_some(), "{entry:?}");
    }
    let texts = || all.iter().flat_map(|(_, entries, _)| entries).map(|entry| entry.text.as_str());
    assert!(texts().all(|text| !text.contains(&key) && !text.contains(&picture)));
    assert!(texts().any(|text| text.contains("[secret:github-token]")));

    // What is long is cut; what is gone is gone.
    std::fs::remove_dir_all(world.input().join("s")).unwrap();
    files::put(&world.vault.root().join(".cru/config.toml"), b"[index]\nevidence_bytes = 100\n").unwrap();
    let less = evidence(&world);
    assert!(less.iter().flat_map(|(_, entries, _)| entries).all(|entry| entry.text.len() < 120));
    assert!(less.iter().any(|(host, entries, _)| host == "s/agent-a1" && entries.is_empty()));
    assert!(less.iter().any(|(host, entries, _)| host == "s" && !entries.is_empty()));
}
