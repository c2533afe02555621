//! An answer never depends on whether the index was fresh: after any edits, and with the cache deleted, the same.
//!
//! The index as it grew with the edits is compared with one that reads a copy of the notes for the first time.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cru::index::search::{Hit, Search, SearchOptions};
use cru::index::{NoteKey, Part, Query, Snapshot, words};
use cru::session::read;
use cru::vault::{Vault, VaultPath, Walk};
use proptest::prelude::*;
use tantivy::collector::DocSetCollector;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Term};

use crate::generate::Recipe;
use crate::searching::difference;

/// The folder of a vault's caches, for tests that have no other machine.
const CACHE: &str = ".machine";

fn recipe() -> Recipe {
    Recipe { sessions: 24, seed: 7, steps: 30 }
}

/// A generated vault in a new folder.
fn world() -> (tempfile::TempDir, Vault) {
    let dir = tempfile::tempdir().unwrap();
    recipe().write(&dir.path().join("vault")).unwrap();
    let root = dir.path().join("vault");
    let vault = Vault::open(&root).unwrap().cached_in(root.join(CACHE));
    (dir, vault)
}

/// The same notes in another place, where no index was ever made.
fn fresh(vault: &Vault) -> (tempfile::TempDir, Vault) {
    let dir = tempfile::tempdir().unwrap();
    let mut files = vec![PathBuf::from(".cru/config.toml")];
    let walk = Walk::of(vault);
    files.extend(walk.paths().map(|path| path.as_path().to_owned()));
    for file in files {
        let to = dir.path().join(&file);
        cru::base::files::create_dir(to.parent().unwrap()).unwrap();
        fs::copy(vault.root().join(&file), to).unwrap();
    }
    let vault = Vault::open(dir.path()).unwrap().cached_in(dir.path().join(CACHE));
    (dir, vault)
}

/// All in which the index of a vault differs from a fresh one.
pub(crate) fn wrong(vault: &Vault) -> Vec<String> {
    let (_dir, copy) = fresh(vault);
    let (grown, fresh) = (Snapshot::open(vault).unwrap(), Snapshot::open(&copy).unwrap());
    let found = difference::between(&grown, &fresh);
    let mut told: Vec<String> = found.iter().map(ToString::to_string).collect();
    for word in ["test", "error", "fresh", "quiet", "edited"] {
        let (ours, theirs) = (places(&grown, word), places(&fresh, word));
        if ours != theirs {
            told.push(format!("`{word}`: {} places, fresh {}", ours.len(), theirs.len()));
        }
    }
    for query in ["test", "error", "fresh", "quiet edited", "test OR error", "fresh*"] {
        let (ours, theirs) = (ranked(&grown, query), ranked(&fresh, query));
        if ours != theirs {
            told.push(format!("`{query}`: not in the order of a fresh one\n{ours:?}\n{theirs:?}"));
        }
    }
    told
}

/// All hits of a query in their order, with their scores.
fn ranked(snapshot: &Snapshot, query: &str) -> Vec<(String, Hit)> {
    let query = Query::parse(query, &jiff::Zoned::default()).unwrap();
    let options = SearchOptions { limit: 100_000, ..SearchOptions::default() };
    let hits = Search::new(snapshot, &query, &options).hits().unwrap();
    hits.into_iter().map(|hit| (snapshot.session(hit.key).unwrap().path.clone(), hit)).collect()
}

/// Where a word stands: note, first byte, end.
pub(crate) fn places(snapshot: &Snapshot, word: &str) -> BTreeSet<(NoteKey, u64, u64)> {
    let mut found = BTreeSet::new();
    let query = TermQuery::new(Term::from_field_text(snapshot.fields().body, word), IndexRecordOption::Basic);
    for part in snapshot.parts() {
        let searcher = part.searcher();
        for DocAddress { segment_ord, doc_id } in searcher.search(&query, &DocSetCollector).unwrap() {
            let fast = searcher.segment_reader(segment_ord).fast_fields();
            let value = |name: &str| fast.u64(name).unwrap().first(doc_id);
            let key = NoteKey(value("note").unwrap());
            if part.counts(key) && snapshot.session(key).is_some() {
                found.insert((key, value("start").unwrap_or(0), value("end").unwrap_or(0)));
            }
        }
    }
    found
}

/// Words of the notes' items, each with the notes that must be found by it.
fn known(vault: &Vault) -> Vec<(String, BTreeSet<NoteKey>)> {
    let mut known = std::collections::BTreeMap::<String, BTreeSet<NoteKey>>::new();
    for (path, _) in Walk::of(vault).notes {
        let note = cru::note::Note::parse(vault.read(&path).unwrap());
        let session = read::content(&note);
        for (_, item) in session.items() {
            for token in words::cut(item.span().of(note.text())) {
                known.entry(token.text).or_default().insert(NoteKey::of(&path));
            }
        }
    }
    known.into_iter().collect()
}

#[test]
fn a_hundred_words_are_found_where_they_stand_and_again_with_the_cache_deleted() {
    let (_dir, vault) = world();
    let words = known(&vault);
    // From the whole alphabet; a word of one note and one of all are both among them.
    let asked: Vec<_> = words.iter().step_by(words.len() / 100).collect();
    assert!(asked.len() >= 100 && asked.iter().any(|(_, notes)| notes.len() == 1), "{}", asked.len());
    let first = Snapshot::open(&vault).unwrap();
    let answers: Vec<_> = asked.iter().map(|(word, _)| places(&first, word)).collect();
    for ((word, notes), answer) in asked.iter().zip(&answers) {
        let found: BTreeSet<NoteKey> = answer.iter().map(|(key, ..)| *key).collect();
        assert!(found.is_superset(notes), "`{word}` stands in {} notes, {} are found", notes.len(), found.len());
    }
    assert!(places(&first, "nosuchwordanywhere").is_empty());
    let _ = fs::remove_dir_all(vault.root().join(CACHE));
    let second = Snapshot::open(&vault).unwrap();
    for ((word, _), answer) in asked.iter().zip(&answers) {
        assert_eq!(places(&second, word), *answer, "`{word}` with the cache deleted");
    }
    assert_eq!(difference::between(&first, &second), []);
}

#[test]
fn a_hundred_words_are_found_in_the_order_of_a_fresh_index_when_entries_were_replaced() {
    let (_dir, vault) = world();
    let before = Snapshot::open(&vault).unwrap();
    // So many that they are written, and two more that are read into memory.
    let rewritten: Vec<&str> = before.sessions().iter().skip(4).map(|row| row.path.as_str()).collect();
    assert!(rewritten.len() > 16, "{}", rewritten.len());
    let edit = |path: &str, words: &str| {
        let file = vault.file(&VaultPath::new(path).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        cru::base::files::put(&file, format!("{text}\n{words}\n").as_bytes()).unwrap();
    };
    for path in &rewritten {
        edit(path, "A paragraph with a test and an error.");
    }
    let written = Snapshot::open(&vault).unwrap();
    assert_eq!(written.refreshed.read, rewritten.len());
    for row in before.sessions().iter().take(2) {
        edit(&row.path, "One more test of the parser.");
    }
    let grown = Snapshot::open(&vault).unwrap();
    let outdated = |part: &Part| part.searcher().segment_readers().iter().any(|reader| reader.num_deleted_docs() > 0);
    assert!(grown.parts().len() == 2 && grown.parts().iter().any(outdated));
    let (_dir, copy) = fresh(&vault);
    let fresh = Snapshot::open(&copy).unwrap();
    let words = known(&vault);
    for (word, _) in words.iter().step_by(words.len() / 100) {
        let query = format!("\"{word}\"");
        assert_eq!(ranked(&grown, &query), ranked(&fresh, &query), "{word}");
    }
}

/// Runs a command in a vault; exit code and standard output.
pub(crate) fn ask(vault: &Path, args: &[&str]) -> (i32, String) {
    let home = vault.parent().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
    command.args(args).current_dir(vault).env_clear().env("HOME", home).env("XDG_STATE_HOME", home.join("state"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let quiet = !said.lines().any(|line| line.starts_with("error") || line.contains("panicked"));
    assert!(quiet, "{args:?}: {said}");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// Whether the program has a command.
pub(crate) fn has(command: &str) -> bool {
    let mut help = Command::new(env!("CARGO_BIN_EXE_cru"));
    help.args([command, "--help"]).output().unwrap().status.success()
}

/// Questions of all kinds, each as its arguments.
fn questions(vault: &Vault) -> Vec<Vec<String>> {
    let filters = [
        "",
        "--status completed",
        "--status failed,abandoned",
        "--status active",
        "--agent coder",
        "--agent @coder@2.0",
        "--agent reviewer",
        "--channel dev",
        "--channel #api",
        "--since 2026-01-01",
        "--until 2026-01-01",
        "--since 2025-06-01 --until 2026-06-01",
        "--project code",
        "--status completed --agent claude",
    ];
    let mut lines = Vec::new();
    for filter in filters {
        for order in ["", "--all --sort tokens", "--sort steps --reverse -n 5"] {
            lines.push(format!("session list -f json {filter} {order}"));
        }
        for command in ["stats", "history --all", "decisions", "files"] {
            lines.push(format!("{command} -f json {filter}"));
        }
    }
    for format in ["text", "toon", "csv", "jsonl"] {
        lines.push(format!("session list -f {format} --all --sort title"));
    }
    for by in ["agent", "channel", "status", "model", "project", "day", "week"] {
        lines.push(format!("stats -f json --by {by}"));
    }
    // A file of the vault, as somebody would ask for it.
    let (_, text, _) = recipe().note(1);
    let file = text.split("- `Read ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    lines.push(format!("files -f json {file}"));
    lines.push("graph -f json".to_owned());
    lines.push("check -f json".to_owned());
    if has("query") {
        for table in ["sessions", "phases", "steps", "decisions", "errors", "user", "subagents", "files", "tasks"] {
            lines.push(format!("query {table} -f json"));
        }
    }
    if has("search") {
        for query in
            ["status:completed the", "kind:decision is", "te*", "run AND NOT error", "a OR the", "nosuchwordanywhere"]
        {
            lines.push(format!("search -f json {query}"));
        }
        // In capitals they combine words, and in small letters they may be taken for that.
        let words = known(vault);
        for (word, _) in words.iter().step_by(97).filter(|(word, _)| !["and", "or", "not"].contains(&word.as_str())) {
            lines.push(format!("search -f json {word}"));
        }
    }
    lines.iter().map(|line| line.split_ascii_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn commands_answer_alike_with_the_cache_deleted() {
    let (_dir, vault) = world();
    let questions = questions(&vault);
    assert!(questions.len() >= 100, "{}", questions.len());
    let mut answered = 0;
    let ask = |question: &Vec<String>| ask(vault.root(), &question.iter().map(String::as_str).collect::<Vec<_>>());
    // The first answers are those of an index that was made long before, the second ones of a new one every time.
    let first: Vec<_> = questions.iter().map(ask).collect();
    for (at, (question, before)) in questions.iter().zip(&first).enumerate() {
        if at % 8 == 0 {
            let _ = fs::remove_dir_all(vault.root().join(CACHE));
        }
        assert_eq!(ask(question), *before, "{question:?}");
        assert!(before.0 <= 1, "{question:?}: {before:?}");
        answered += usize::from(before.0 == 0);
    }
    assert!(answered > questions.len() / 2, "only {answered} of {} have an answer", questions.len());
}

/// One edit of the notes.
#[derive(Clone, Debug)]
enum Edit {
    /// A new note, of a session that is not there yet.
    Add(usize),
    /// Another paragraph at the end, as most editors save: a new file in the place of the old one.
    Change(usize, u16),
    /// Another paragraph at the end, written at the end of the file.
    Append(usize, u16),
    /// A few letters in place: size and file stay, and the time too, as far as the disk tells times apart.
    Inside(usize, u16),
    /// Another name.
    Rename(usize, u16),
    /// Two notes change places.
    Swap(usize, usize),
    Delete(usize),
    /// The first so many hundredths of the bytes are left.
    Truncate(usize, usize),
    /// It is a session no more, or again.
    Retype(usize),
    /// Nothing but a new time, which no note had before.
    Touch(usize),
    /// Its folder gets another name.
    Folder(u16),
    /// The cache is gone.
    Forget,
    /// The index is brought up to date, without being compared.
    Ask,
}

fn edit() -> impl Strategy<Value = Edit> {
    let note = 0..64_usize;
    prop_oneof![
        3 => note.clone().prop_map(Edit::Add),
        3 => (note.clone(), any::<u16>()).prop_map(|(at, word)| Edit::Change(at, word)),
        3 => (note.clone(), any::<u16>()).prop_map(|(at, word)| Edit::Append(at, word)),
        5 => (note.clone(), any::<u16>()).prop_map(|(at, word)| Edit::Inside(at, word)),
        2 => (note.clone(), any::<u16>()).prop_map(|(at, word)| Edit::Rename(at, word)),
        2 => (note.clone(), note.clone()).prop_map(|(a, b)| Edit::Swap(a, b)),
        2 => note.clone().prop_map(Edit::Delete),
        2 => (note.clone(), 0..100_usize).prop_map(|(at, share)| Edit::Truncate(at, share)),
        2 => note.clone().prop_map(Edit::Retype),
        1 => note.prop_map(Edit::Touch),
        1 => any::<u16>().prop_map(Edit::Folder),
        1 => Just(Edit::Forget),
        3 => Just(Edit::Ask),
    ]
}

#[expect(clippy::disallowed_methods, reason = "what editors and file managers do to notes")]
fn apply(vault: &Vault, edit: &Edit, number: usize) {
    let notes: Vec<PathBuf> = Walk::of(vault).paths().map(|path| vault.file(path)).collect();
    let at = |at: usize| notes.get(at % notes.len().max(1));
    let put = |path: &Path, text: &[u8]| cru::base::files::put(path, text).unwrap();
    // Letters in the place of letters: those of the last line that has some.
    let inside = |path: &Path, word: u16| {
        let text = fs::read(path).unwrap();
        let Some(end) = text.iter().rposition(u8::is_ascii_lowercase).filter(|end| *end > 8) else { return };
        let letters: Vec<u8> = format!("{word:05}").bytes().map(|digit| digit - b'0' + b'a').collect();
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&letters, (end + 1 - letters.len()) as u64).unwrap();
    };
    match edit {
        Edit::Add(number) => {
            let (path, text, _) = Recipe { sessions: 1_000, ..recipe() }.note(100 + number);
            cru::base::files::create(&vault.root().join(path), text.as_bytes()).unwrap();
        }
        Edit::Change(note, word) => {
            if let Some(path) = at(*note) {
                let text = fs::read_to_string(path).unwrap_or_default();
                put(path, format!("{text}\nEdited to be fresh, word{word}.\n").as_bytes());
            }
        }
        Edit::Append(note, word) => {
            if let Some(path) = at(*note) {
                cru::base::files::append(path, format!("\nQuiet words word{word} at the end.\n").as_bytes()).unwrap();
            }
        }
        Edit::Inside(note, word) => {
            if let Some(path) = at(*note) {
                inside(path, *word);
            }
        }
        Edit::Rename(note, word) => {
            if let Some(path) = at(*note) {
                fs::rename(path, path.with_file_name(format!("renamed {word}.md"))).unwrap();
            }
        }
        Edit::Swap(one, other) => {
            if let (Some(one), Some(other)) = (at(*one), at(*other)) {
                let aside = vault.root().join("aside");
                fs::rename(one, &aside).unwrap();
                if one == other {
                    fs::rename(&aside, one).unwrap();
                } else {
                    fs::rename(other, one).unwrap();
                    fs::rename(&aside, other).unwrap();
                }
            }
        }
        Edit::Delete(note) => {
            if let Some(path) = at(*note) {
                fs::remove_file(path).unwrap();
            }
        }
        Edit::Truncate(note, share) => {
            if let Some(path) = at(*note) {
                let file = fs::OpenOptions::new().write(true).open(path).unwrap();
                file.set_len(file.metadata().unwrap().len() * *share as u64 / 100).unwrap();
            }
        }
        Edit::Retype(note) => {
            if let Some(path) = at(*note) {
                let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
                let (is, was) = ("type: session\n", "type: sessiom\n");
                put(
                    path,
                    if text.contains(is) { text.replacen(is, was, 1) } else { text.replacen(was, is, 1) }.as_bytes(),
                );
            }
        }
        Edit::Touch(note) => {
            if let Some(path) = at(*note) {
                let file = fs::OpenOptions::new().write(true).open(path).unwrap();
                file.set_modified(
                    std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_000 + number as u64),
                )
                .unwrap();
            }
        }
        Edit::Folder(word) => {
            if vault.root().join("sessions").is_dir() {
                // The name may be taken.
                let _ = fs::rename(vault.root().join("sessions"), vault.root().join(format!("moved-{word}")));
            }
        }
        Edit::Forget => {
            let _ = fs::remove_dir_all(vault.root().join(CACHE));
        }
        Edit::Ask => {
            Snapshot::open(vault).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn after_any_edits_the_index_equals_a_fresh_one(edits in prop::collection::vec(edit(), 1..24)) {
        let dir = tempfile::tempdir().unwrap();
        Recipe { sessions: 8, seed: 3, steps: 6 }.write(dir.path()).unwrap();
        let vault = Vault::open(dir.path()).unwrap().cached_in(dir.path().join(CACHE));
        Snapshot::open(&vault).unwrap();
        for (at, edit) in edits.iter().enumerate() {
            apply(&vault, edit, at);
            // At times several edits meet one refresh.
            if at % 3 != 1 || at + 1 == edits.len() {
                let wrong = wrong(&vault);
                prop_assert!(wrong.is_empty(), "after {:?}: {}", &edits[..=at], wrong.join("\n"));
            }
        }
    }
}

/// How many sequences of edits; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    crate::running::writing::told("PROPTEST_CASES").and_then(|cases| cases.parse().ok()).unwrap_or(8)
}

#[test]
fn a_difference_is_told() {
    let (_dir, vault) = world();
    let before = Snapshot::open(&vault).unwrap();
    let path = VaultPath::new(before.sessions()[3].path.as_str()).unwrap();
    let text = fs::read_to_string(vault.file(&path)).unwrap();
    cru::base::files::put(&vault.file(&path), format!("{text}\nOne more paragraph.\n").as_bytes()).unwrap();
    cru::base::files::remove(&vault.root().join(&before.sessions()[5].path)).unwrap();
    let after = Snapshot::open(&vault).unwrap();
    let told = difference::between(&before, &after);
    let of = |path: &str| told.iter().filter(|it| it.path == path).map(|it| it.what.as_str()).collect::<Vec<_>>();
    assert!(of(&before.sessions()[5].path).contains(&"only the first knows it"), "{told:?}");
    assert!(of(path.text().as_ref()).iter().any(|what| what.contains("of its entries only in the second")), "{told:?}");
    let paths: BTreeSet<&str> = told.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths.len(), 2, "{told:?}");
    assert_eq!(difference::between(&after, &after), []);
}
