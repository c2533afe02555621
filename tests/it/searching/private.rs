//! Words that a person keeps to themselves, planted in every place that can hold one: no command prints, writes or serves
//! them.
//!
//! Each leaf of the command line stands in [`CALLS`] or in [`APART`] with its reason; a new one fails the test until it
//! does. Every word is another one, so that a leak says what leaked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;

use clap::CommandFactory as _;
use serde_json::json;

use crate::running::mcp::Client;
use crate::small_vault::SmallVault;

/// What every planted word begins with.
const MARK: &str = "qzx";

/// What is planted: `◊` stands for a private comment with a word, `¤` for any other comment with one, `†` for a secret.
const SESSION: &str = r#"---
type: session
session_id: tides
title: Tides ◊ of the week ¤
aliases:
  - Tides ◊ again
status: paused
project: ~/work/lamp
channel: dev
started: 2026-11-20T09:00:00Z
participants:
  - coder@2.0
own: a ◊ b ¤
tags: [sea, "◊"]
---
# Tides ◊ of the week ¤

A preface ◊ with words ¤ and a key † here. [[other|an alias ◊ too]] and [text ◊](other.md).

> [!summary] Of the week ◊ told ¤
> **Goal**: show them ◊ all ¤

**Tasks:**
- [ ] Round nothing ◊ at all ¤ ^task-1
- [/] ◊ Cache it ¤ ⏫ ^task-2

```tasks
[{"id":"T-3","content":"Print them ◊ soon","status":"pending"}]
```

## Plan ◊ the week ¤ @coder@2.0 #dev

*2026-11-20T09:00:00Z* ◊ ^p-01

> [!user] Request ◊ first ¤
> "Show the tides ◊ of a week ¤, no rounding" - read ◊ the table ¤

^u-01

> [!decision] Minutes ◊ alone ¤
> They are exact ◊ enough ¤.
> Why: the office prints them ◊ so ¤
> Rejected: seconds ◊ are noise ¤
> Impact: none ◊ at all ¤

^d-01

> [!decision] Begins here %%private qzxgoeson
> qzxgoeson%% and goes on
> Why: it can

^d-02

> [!error] Flaky clock ◊ here ¤
> Wall clock ◊ in a test ¤. Step: [[#^n-003]]
> Resolution: inject ◊ a clock ¤

^e-01

> [!checkpoint] manual ◊ one ¤
> Question: which ◊ table ¤?
> Next: print ◊ it ¤

^cp-1

> [!lesson] Always ◊ check the datum ¤
> It moved ◊ once ¤.

^l-01

> [!subagent] @reviewer@1.0 (model-x)
> mode: inline
> Task: look ◊ at it ¤
> Summary: fine ◊ mostly ¤
>
> Prose inside ◊ of it ¤.
> - `Grep needle ◊` → 3 places ◊ found ¤

> [!note] A remark ◊ of mine ¤
> - a list ◊ in it ¤
>   - deeper ◊ down ¤

%%private
qzxblock

- `Bash qzxblock` → ok ^n-090

> [!decision] qzxblock
%%

%%
qzxother
%%

## Build ◊ it ¤ @coder@2.0

*2026-11-20T10:00:00Z* ^p-02

**Tool calls:**
- `Edit src/tide.rs` → +4 −1 ◊ ¤ (10:00:01) ^n-001
  - writes: `src/tide.rs@9f2c11ab` ◊
  - note: nested ◊ words ¤
- `Bash cargo test ◊ -p tide` → ✗ 1 failed ◊ of two ¤ (10:00:02, exit 101) ^n-002
- `Bash cargo test -p tide` → ok ◊ ¤ (10:00:09) ◊ ^n-003
  - check: passed

| column ◊ one | two ¤ |
| --- | --- |
| cell ◊ here | more ¤ |

1. First ◊ point ¤
2. Second %%private qzxlist
3. qzxlist%% third

Words %%private qzxlines
over qzxlines
lines%% go on. `code %%private qzxcode%% here`

```text
output %%private qzxfence%% more
```

> [!user] Correction ◊ now ¤
> "no, use the table ◊ instead ¤"

^u-02

- `Edit src/table.rs` → +1 −1 (10:01:00) ^n-004
- `Bash git commit -m "Add ◊ tides"` → [main 1234abc] Add ◊ tides ¤ (10:02:00) ^n-005

It is done ◊ now ¤.

> [!usage]
> | model | input | output |
> | --- | --- | --- |
> | model-x ◊ | 10 | 20 |

```yaml memory
goal: the tides # %%private qzxmemory%%
table: "printed %%private qzxmemory%%"
```

## Last %%private qzxunclosed @coder

qzxunclosed to the end
"#;

const OTHER: &str = "---\ntype: session\nsession_id: other\ntitle: Other ◊ work ¤\nstatus: completed\nproject: ~/work/lamp\nstarted: 2026-11-19T09:00:00Z\nended: 2026-11-19T10:00:00Z\n---\n# Other ◊ work\n\n## Do ◊ it @coder@2.0 #dev\n\n*2026-11-19T09:00:00Z* ^p-01\n\n> [!user]\n> \"Use the table ◊ please ¤\"\n\n- `Bash make` → ✗ missing separator ◊ (09:00:01, exit 2) ^n-001\n- `Edit make.mk` → +1 −1 (09:00:02) ^n-002\n- `Bash make` → built ◊ (09:00:03) ^n-003\n\nDone ◊ so.\n\n> [!decision] Keep make ◊ here ¤\n> Why: it works ◊ well\n\n^d-01\n";

/// A session that its person keeps from agents and from exports, whole.
const KEPT: &str = "---\ntype: session\nsession_id: kept\ntitle: Kept qzxkept work\nstatus: paused\nproject: ~/work/lamp\nstarted: 2026-11-20T12:00:00Z\nexport: false\n---\n# Kept qzxkept\n\n## Do qzxkept @coder@2.0 #dev\n\n*2026-11-20T12:00:00Z* ^p-01\n\n> [!user]\n> \"qzxkept words\"\n\n- `Bash qzxkept` → ✗ qzxkept (12:00:01, exit 2) ^n-001\n- `Edit src/tide.rs` → +1 −1 (12:00:02) ^n-002\n  - writes: `src/tide.rs@9f2c11ac`\n- `Bash qzxkept` → ok (12:00:03) ^n-003\n\n> [!decision] qzxkept is decided\n> Why: qzxkept\n\n^d-01\n\n**Tasks:**\n- [ ] qzxkept task ^task-9\n\n> [!lesson] qzxkept is learned\n\n^l-09\n";

const LESSON: &str = "---\ntype: lesson\ntitle: Check the datum ◊ first ¤\nlevel: project\nconfidence: high\nproject: ~/work/lamp\nwhere: src/** ◊\n---\n# Check the datum ◊ first ¤\n\nText ◊ of mine ¤.\n\n- Do: print it ◊ out ¤\n- Evidence: [[tides#^d-01]] ◊ ¤\n- Anchor: `src/tide.rs` ◊\n- Check: `true` ◊\n";

const WORKFLOW: &str = "---\ntype: workflow\ntitle: Publish ◊ tides ¤\nsource: \"[[tides]]\"\n---\n# Publish ◊ tides ¤\n\n## Goals\n\n- Tides ◊ are shown ¤\n\n## Build ◊ it ¤ @coder #dev\n\nWords ◊ of it ¤.\n\n- `cargo test` — run ◊ it ¤\n- Decision: minutes ◊ alone ¤\n\n> [!gate] Print ◊ it ¤\n> ask ◊ first ¤\n\n## Validation\n\n- [ ] `cargo test` ◊ passes ¤\n";

const BOOKMARKS: &str =
    "# Bookmarks ◊\n\n- datum ◊ there ¤: [[tides#^d-01]]\n- make: [[other#^n-001|◊ the failure ¤]]\n";

const PROJECT: &str = "---\ntype: project\ntitle: Lamp ◊\nfolders: [~/work/lamp]\n---\n# Lamp ◊ here ¤\n\nMine ◊.\n\n<!-- cru:begin sessions -->\n<!-- cru:end -->\n\n<!-- cru:begin decisions -->\n<!-- cru:end -->\n\n<!-- cru:begin open-tasks -->\n<!-- cru:end -->\n";

/// Calls of each leaf: words separated by blanks; `+` in front asks for JSON and TOON as well. `kept` are those whose answer is for
/// the person alone: a session with `export: false` is theirs to read.
const CALLS: &[(&str, &[&str])] = &[
    ("session start", &["session start Something else"]),
    (
        "session mark",
        &[
            "session mark paused other",
            "session mark completed tides",
            "session mark failed other",
            "session abandon other",
        ],
    ),
    (
        "session codify",
        &[
            "+session codify tides",
            "session codify tides -f mermaid",
            "session codify tides -f dot",
            "session codify other --output built.md",
        ],
    ),
    (
        "session list",
        &["+session list", "session list -f jsonl", "session list -f csv", "session list --project ~/work/lamp"],
    ),
    ("session rename", &["session rename other Others"]),
    ("session archive", &["+session archive other --dry-run"]),
    ("session resume", &["+session resume tides --print", "session resume other --print --budget=400"]),
    (
        "session show",
        &["+session show tides", "session show tides --html", "+session show other", "session show tides --phase p-02"],
    ),
    (
        "session learn",
        &[
            "+session learn",
            "session learn --dry-run",
            "session learn --proposed --export jsonl -o rows",
            "session learn --proposed --export trajectories -o whole",
            "session learn tides other -f json",
        ],
    ),
    ("workflow list", &["+workflow list"]),
    ("workflow show", &["+workflow show publish"]),
    ("workflow validate", &["+workflow validate publish"]),
    ("workflow graph", &["+workflow graph publish", "workflow graph publish -f dot"]),
    ("workflow check", &["+workflow check tides publish", "workflow check other publish --write"]),
    ("workflow diff", &["+workflow diff publish publish"]),
    ("workflow history", &["+workflow history"]),
    ("workflow sessions", &["+workflow sessions"]),
    (
        "workflow export",
        &[
            "workflow export --to skill publish",
            "workflow export --to crucible publish",
            "workflow export --to mermaid publish",
            "workflow export --to xes publish",
        ],
    ),
    ("workflow mine", &["+workflow mine"]),
    ("cases list", &["+cases list"]),
    ("cases show", &["+cases show puzzle"]),
    ("check c:", &["+check c:"]),
    (
        "read",
        &[
            "read other --prompt",
            "+read --pending --dry-run",
            "read tides --prompt",
            "read c: --prompt",
            "read c:puzzle --prompt",
        ],
    ),
    ("check r:", &["+check r:"]),
    ("show r:", &["+show r:tides"]),
    ("read diff", &["+read diff tides"]),
    ("lessons list", &["+lessons list"]),
    ("lessons add", &["lessons add --from tides#^d-01 Minutes are exact"]),
    ("lessons from", &["+lessons from tides#^l-01", "lessons from tides#^d-01"]),
    ("lessons show", &["+lessons show datum"]),
    ("verify l:", &["+verify l:"]),
    ("lessons retire", &["lessons retire minutes"]),
    ("lessons supersede", &["lessons supersede minutes datum"]),
    (
        "lessons apply",
        &["lessons apply --yes", "lessons apply --dry-run", "lessons apply --to ../work/lamp/AGENTS.md --yes"],
    ),
    ("context", &["+context", "context src/tide.rs", "context --budget=4000"]),
    ("review", &["+review", "review --write", "review --apply"]),
    ("review accept", &["review accept none", "cases accept puzzle", "read accept tides"]),
    ("review reject", &["review reject none", "cases reject correction", "read reject tides"]),
    ("review later", &["review later none"]),
    ("summary day", &["+summary day 2026-11-20", "summary day 2026-11-20 --write"]),
    ("summary week", &["+summary week 2026-11-20", "summary week 2026-11-20 --write"]),
    ("summary topic", &["+summary topic sea", "summary topic sea --write", "summary topic src/tide.rs"]),
    (
        "search",
        &[
            "+search tides",
            "+search qzx",
            "+search kind:decision minutes",
            "search kind:lesson datum",
            "search kind:bookmark datum",
            "search kind:workflow publish",
            "search --any make",
            "search --files tides",
            "search kind:project lamp",
        ],
    ),
    ("step show", &["+step show n-002 tides", "step show --full n-001 other"]),
    (
        "query",
        &[
            "+query sessions",
            "+query steps",
            "+query decisions",
            "+query errors",
            "+query user",
            "+query tasks",
            "+query files",
            "+query phases",
            "query decisions -f jsonl",
            "query steps -f csv",
            "+query subagents",
        ],
    ),
    ("log phase", &["log phase --session tides Next one"]),
    ("log tool", &["log tool --session tides Bash ls --result ok"]),
    ("log decision", &["log decision --session tides Another --why so"]),
    ("log error", &["log error --session tides Broken"]),
    ("log user", &["log user --session tides Words"]),
    ("log subagent", &["log subagent --session tides helper"]),
    (
        "log task",
        &[
            "log task add --session tides More",
            "log task start --session tides task-1",
            "log task done --session tides task-1",
        ],
    ),
    ("log lesson", &["log lesson --session tides Learned"]),
    ("log note", &["log note --session tides Noted"]),
    ("log question", &["log question --session tides Why?"]),
    ("log checkpoint", &["log checkpoint --session tides Here"]),
    ("log usage", &["log usage --session tides --model m --input 1 --output 2"]),
    ("log json", &["log json --session tides"]),
    ("log", &["log --session tides"]),
    ("checkpoint", &["checkpoint --session tides Now --no-files"]),
    ("checkpoint list", &["+checkpoint list tides"]),
    ("checkpoint show", &["+checkpoint show cp-1"]),
    ("checkpoint diff", &["+checkpoint diff cp-1"]),
    ("checkpoint restore", &["checkpoint restore cp-1 --dry-run"]),
    ("admin flush", &["admin flush --all", "admin flush tides"]),
    (
        "graph",
        &[
            "+graph",
            "graph -f dot",
            "graph -f mermaid",
            "graph -f canvas",
            "+graph tides",
            "graph tides -f canvas",
            "graph tides -f dot",
            "graph tides -f mermaid",
            "graph tides --depth step -f canvas",
            "+graph w:publish",
            "graph w:publish -f dot",
        ],
    ),
    (
        "list",
        &[
            "+list segments tides",
            "list segments other",
            "+list decisions",
            "list decisions --grep minutes",
            "+list lessons",
            "+list quirks",
            "+list outcomes",
            "+list checkpoints tides",
            "list checkpoints --all",
            "+list bookmarks",
            "+list runs",
            "+list groups",
        ],
    ),
    ("list of notes", &["+list cases", "+list workflows"]),
    ("show", &["+show w:publish", "show w:publish --evidence", "+show c:puzzle", "+show l:datum", "+show cp-1"]),
    ("diff", &["+diff w:publish publish", "+diff tides", "+diff cp-1"]),
    ("summary", &["+summary topic sea"]),
    ("stats", &["+stats", "stats --cost", "stats --html stats.html", "stats --by project"]),
    ("history", &["+history", "history --all"]),
    ("decisions", &["+decisions", "decisions --grep minutes"]),
    ("files", &["+files", "+files src/tide.rs"]),
    ("why", &["+why src/tide.rs:1", "why src/tide.rs"]),
    ("deps", &["+deps tides#^n-003", "deps tides#^d-01", "deps src/tide.rs"]),
    ("verify", &["+verify tides", "verify tides --write"]),
    ("stale", &["+stale", "stale --all"]),
    ("run", &["run --session tides true"]),
    ("replay", &["+replay tides#^n-002 --show", "replay tides#^n-002 --brief", "replay tides#^n-003"]),
    ("bookmark", &["+bookmark --list", "bookmark again tides#^d-01"]),
    ("resolve", &["+resolve tides", "+resolve tides#^d-01", "+resolve @datum", "resolve tides#n-002"]),
    ("status", &["+status", "status -v"]),
    ("check", &["+check", "check -v", "+check w:publish", "+check --fix --dry-run"]),
    ("admin doctor", &["+admin doctor"]),
    ("admin secrets", &["+admin secrets"]),
    ("admin index", &["+admin index", "admin index --rebuild"]),
    ("undo", &["undo --list", "undo --dry-run"]),
    ("admin prune", &["+admin prune --dry-run"]),
    ("admin merge", &["admin merge other other --dry-run"]),
    ("import", &["import --dry-run"]),
    // The same pages as the server gives.
    ("view", &["view --html ../site"]),
];

/// Leaves that read no note, or that are asked by other means, each with its reason.
const APART: &[(&str, &str)] = &[
    ("init", "makes a vault, and reads no note"),
    ("connect", "writes settings of hosts"),
    ("disconnect", "writes settings of hosts"),
    ("resume", "is `session resume`"),
    ("codify", "is `session codify`"),
    ("learn", "is `session learn`"),
    ("hook", "asked with the events of every host, in `hooks`"),
    ("mcp", "asked as a host asks, in `served`"),
    ("export parquet", "reads transcripts, no vault"),
    ("rows scan", "reads objects of a store, no vault"),
    ("rows fold", "reads transcripts of a store, no vault"),
    ("rows codify", "reads transcripts of a store, no vault"),
    ("rows learn", "reads transcripts of a store, no vault"),
    ("admin completions", "reads no note"),
    ("admin man", "reads no note"),
];

/// What a person asks for by its name and gets as it is: no leak.
///
/// `session show --raw` is the file itself, and so is what `--diff` of a command shows of the very lines that it is about to
/// change. The machine's state keeps bytes of notes to merge by (`base/`, the operation log), which no command prints.
const RAW: &[&str] = &["session show tides --raw"];

/// Answers for the person alone, in which their own sessions stand whatever these say of exports and agents.
const OWN: &[&str] = &[
    "session list",
    "session show",
    "session resume",
    "session archive",
    "search",
    "query",
    "graph",
    "stats",
    "history",
    "decisions",
    "files",
    "why",
    "deps",
    "stale",
    "status",
    "check",
    "resolve",
    "list",
    "summary",
    "bookmark",
    "admin doctor",
    "admin index",
    "verify",
    "replay",
    "step show",
    "summary day",
    "summary week",
    "summary topic",
    "review",
    "workflow sessions",
    "workflow mine",
    "workflow history",
    "checkpoint list",
    "admin secrets",
    "admin prune",
    "undo",
    "admin flush",
    "import",
    "verify l:",
    "lessons list",
    "read",
    "session learn",
];

/// A text with a word for each sign.
fn planted(text: &str, name: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    for c in text.chars() {
        count += usize::from("◊¤†".contains(c));
        match c {
            '◊' => out.push_str(&format!("%%private {MARK}{name}{count}%%")),
            '¤' => out.push_str(&format!("%%{MARK}{name}{count} mine%%")),
            '†' => out.push_str(&format!("ghp_{MARK}{}", &"3E5g7H9j1K2m3N4p5Q6r7S8t9U0v1W2x3Y4z"[..33])),
            c => out.push(c),
        }
    }
    out
}

struct World {
    vault: SmallVault,
    /// What was planted, by path.
    sources: BTreeMap<PathBuf, String>,
    leaks: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        let vault = SmallVault::new(
            "[vault]\nid = \"v\"\nexclude = [\"hidden\"]\n[hooks]\ncontext = true\nresume = true\n[summary]\ndaily = \"daily/{date}.md\"\n",
        );
        let notes = [
            ("vault/sessions/tides.md", SESSION),
            ("vault/sessions/other.md", OTHER),
            ("vault/sessions/kept.md", KEPT),
            ("vault/lessons/datum.md", LESSON),
            ("vault/workflows/publish.md", WORKFLOW),
            ("vault/bookmarks.md", BOOKMARKS),
            ("vault/projects/lamp.md", PROJECT),
            (
                "vault/hidden/tides.md",
                "---\ntype: session\nsession_id: excluded\ntitle: qzxexcluded\n---\n# qzxexcluded\n\n## qzxexcluded @a\n\n> [!decision] qzxexcluded minutes\n",
            ),
            ("work/lamp/src/tide.rs", "fn tide() {}\n"),
        ];
        let mut sources = BTreeMap::new();
        for (path, text) in notes {
            let name: String = path.rsplit('/').next().unwrap().chars().filter(char::is_ascii_lowercase).collect();
            let text = planted(text, &name);
            vault.put(path, &text);
            sources.insert(vault.path(path), text);
        }
        Self { vault, sources, leaks: BTreeSet::new() }
    }

    /// Notes each planted word in what a command said; `own` where it may tell of the person's own sessions.
    fn look(&mut self, what: &str, said: &[u8], own: bool) {
        let said = String::from_utf8_lossy(said).replace(['\n', '\r'], " ");
        for (at, _) in said.match_indices(MARK) {
            let word: String = said[at..].chars().take_while(char::is_ascii_alphanumeric).collect();
            // The query itself.
            let asked = word == MARK;
            if !asked && (!own || word != "qzxkept") {
                let from = said[..at].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
                self.leaks.insert(format!("{what}: {word}: …{}", &said[from..at]));
            }
        }
    }

    fn call(&mut self, leaf: &str, line: &str, input: &str) {
        let words = spelled(line);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let output: Output = self.vault.run_in("work/lamp", &args, input);
        let own = OWN.contains(&leaf);
        assert_ne!(output.status.code(), Some(101), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!err.contains("Usage:"), "`cru {line}` is no call: {err}");
        self.look(&format!("cru {line}"), &[output.stdout, output.stderr].concat(), own);
    }

    /// Looks at every file of the home that is no source; in sources nothing may stand more often than it was written.
    fn look_at_files(&mut self, what: &str) {
        let walk = ignore::WalkBuilder::new(self.vault.home()).standard_filters(false).build().flatten();
        let files: Vec<PathBuf> = walk.map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect();
        for file in files {
            // What the machine keeps to merge by, and to take back.
            if file.starts_with(self.vault.path(".local/state")) {
                continue;
            }
            let bytes = std::fs::read(&file).unwrap();
            let name = file.strip_prefix(self.vault.home()).unwrap_or(Path::new("?")).display().to_string();
            let source = self.sources.get(&file).or_else(|| self.source_of(&bytes)).cloned();
            match source {
                Some(text) => {
                    let now = String::from_utf8_lossy(&bytes).into_owned();
                    for word in words(&text) {
                        if now.matches(&word).count() > text.matches(&word).count() {
                            self.leaks.insert(format!("{what}: {name}: {word} stands there more often"));
                        }
                    }
                }
                None => self.look(&format!("{what}: {name}"), &bytes, is_for_the_person(&name)),
            }
        }
    }

    /// The source that a note is which was moved.
    fn source_of(&self, bytes: &[u8]) -> Option<&String> {
        let text = String::from_utf8_lossy(bytes);
        let id = text.lines().find(|line| line.starts_with("session_id: "))?.to_owned();
        self.sources.values().find(|source| source.contains(&format!("\n{id}\n")))
    }
}

/// Pages of the vault that tell a person of their own sessions.
fn is_for_the_person(name: &str) -> bool {
    [
        "vault/daily/",
        "vault/summaries/",
        "vault/projects/",
        "vault/review.md",
        "vault/Review.md",
        "vault/.cru/cache/",
        ".cache/",
    ]
    .iter()
    .any(|it| name.starts_with(it))
}

fn words(text: &str) -> BTreeSet<String> {
    let word = |(at, _)| text[at..].chars().take_while(char::is_ascii_alphanumeric).collect();
    text.match_indices(MARK).map(word).collect()
}

/// The words of a line; what stands behind the options of `log` and the like is one each.
fn spelled(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Every leaf of the command line, and every command with leaves that does something without one.
fn leaves(command: &clap::Command, path: &str, out: &mut BTreeSet<String>) {
    let subcommands: Vec<&clap::Command> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
    if !path.is_empty() && (subcommands.is_empty() || !command.is_subcommand_required_set()) {
        out.insert(path.to_owned());
    }
    for it in subcommands {
        leaves(it, format!("{path} {}", it.get_name()).trim(), out);
    }
}

#[test]
fn every_command_is_listed() {
    let mut all = BTreeSet::new();
    leaves(&cru::commands::Cli::command(), "", &mut all);
    let listed: BTreeSet<String> =
        CALLS.iter().map(|(leaf, _)| *leaf).chain(APART.iter().map(|(leaf, _)| *leaf)).map(str::to_owned).collect();
    let missing: Vec<&String> = all.difference(&listed).collect();
    assert!(missing.is_empty(), "say in tests/it/searching/private.rs how these are asked: {missing:?}");
}

#[test]
fn no_command_tells_what_is_private() {
    let mut world = World::new();
    for (leaf, lines) in CALLS {
        for line in *lines {
            let formats: &[&str] = if line.starts_with('+') { &["", " -f json", " -f toon"] } else { &[""] };
            let line = line.trim_start_matches('+');
            for format in formats {
                world.call(leaf, &format!("{line}{format}"), "");
            }
        }
        world.look_at_files(&format!("after cru {leaf}"));
    }
    // The words are there: what a person asks for as it is has them.
    for line in RAW {
        let words = spelled(line);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(world.vault.ok(&args).contains(MARK));
    }
    let leaks: Vec<&String> = world.leaks.iter().collect();
    assert!(
        leaks.is_empty(),
        "{} leaks:\n{}",
        leaks.len(),
        leaks.iter().map(|it| it.as_str()).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn no_hook_tells_what_is_private() {
    let mut world = World::new();
    let home = world.vault.home().to_owned();
    for host in ["claude", "codex", "gemini", "cursor", "copilot", "opencode", "droid", "kimi", "pi"] {
        for event in ["session-start", "prompt", "tool", "stop", "pre-compact", "subagent-stop", "session-end"] {
            let name = json!({
                "session_id": format!("{host}-1"), "cwd": home.join("work/lamp"), "hook_event_name": event, "source": "startup",
                "prompt": "Show the tides", "tool_name": "Edit", "tool_input": {"file_path": "src/tide.rs"},
                "conversation_id": format!("{host}-1"), "workspace_roots": [home.join("work/lamp")],
            });
            let args = ["hook", event, "--host", host];
            let output = world.vault.run_in("work/lamp", &args, &name.to_string());
            world.look(&format!("hook {event} of {host}"), &[output.stdout, output.stderr].concat(), false);
        }
    }
    world.look_at_files("after hooks");
    assert!(world.leaks.is_empty(), "{:#?}", world.leaks);
}

#[test]
fn nothing_private_is_served() {
    let mut world = World::new();
    let vault = world.vault.path("vault");
    let mut client = Client::start(world.vault.home(), &vault, &[]);
    let mut answers: Vec<(String, String)> = Vec::new();
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        answers.push((list.to_owned(), client.ask(list, &json!({})).to_string()));
    }
    let names = |answer: &str, part: &str, key: &str| -> Vec<String> {
        let value: serde_json::Value = serde_json::from_str(answer).unwrap();
        let list = value["result"][part].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|it| it[key].as_str().map(str::to_owned)).collect()
    };
    let (tools, prompts, resources) = (
        names(&answers[0].1, "tools", "name"),
        names(&answers[1].1, "prompts", "name"),
        names(&answers[2].1, "resources", "uri"),
    );
    assert!(!tools.is_empty() && !prompts.is_empty());
    let refs = [
        "tides",
        "tides#^d-01",
        "tides#^d-02",
        "tides#^n-002",
        "tides#^p-02",
        "tides#^u-01",
        "tides#^e-01",
        "other",
        "other#^n-001",
        "kept",
        "kept#^d-01",
        "datum",
        "lessons/datum",
        "publish",
    ];
    for tool in &tools {
        let mut calls = vec![
            json!({}),
            json!({"query": "tides"}),
            json!({"query": "kind:decision minutes"}),
            json!({"query": "qzx"}),
            json!({"query": "kind:lesson datum"}),
            json!({"query": "kind:bookmark datum"}),
            json!({"query": "kind:workflow publish"}),
            json!({"query": "kind:project lamp"}),
            json!({"task": "show the tides"}),
            json!({"paths": ["src/tide.rs"]}),
            json!({"path": "src/tide.rs"}),
            json!({"files": ["src/tide.rs"]}),
            json!({"kind": "decisions"}),
            json!({"kind": "steps"}),
            json!({"text": "why minutes"}),
        ];
        for it in refs {
            for part in ["context", "phase", "step", "raw"] {
                calls.push(json!({"ref": it, "part": part, "budget": 6_000}));
            }
        }
        for call in calls {
            answers.push((
                format!("{tool} {call}"),
                client.ask("tools/call", &json!({"name": tool, "arguments": call})).to_string(),
            ));
        }
    }
    for prompt in &prompts {
        for session in ["tides", "other"] {
            let arguments =
                json!({"session": session, "task": "show the tides", "ref": session, "workflow": "publish"});
            answers.push((
                format!("{prompt} of {session}"),
                client.ask("prompts/get", &json!({"name": prompt, "arguments": arguments})).to_string(),
            ));
        }
    }
    for uri in resources {
        answers.push((uri.clone(), client.ask("resources/read", &json!({"uri": uri})).to_string()));
    }
    for session in ["tides", "other", "kept", "datum", "publish"] {
        let uri = format!("cru://session/{session}");
        answers.push((uri.clone(), client.ask("resources/read", &json!({"uri": uri})).to_string()));
    }
    drop(client);
    for (what, answer) in answers {
        // What was asked for stands in errors.
        let answer = answer.replace("'kept'", "").replace("kept is kept", "");
        world.look(&what, answer.as_bytes(), false);
    }
    assert!(world.leaks.is_empty(), "{:#?}", world.leaks);
}
