//! Transcripts that grow between two imports: the note that was there ends up as the one that a single import makes,
//! and what a person did to it stays.
//!
//! `CRU_TEST_ALL` takes all real transcripts, else a part.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::transcript_set::{TranscriptSet, on_both_sets};
use cru::base::{Env, files};
use cru::note::Note;
use cru::session::{Session, read};
use cru::sync::import::{Machine, Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::{State, Vault};
use jiff::Timestamp;
use serde_json::Value;

/// A vault with its machine state and a folder of transcripts.
pub(crate) struct World {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) vault: Vault,
    pub(crate) state: State,
    pub(crate) env: Env,
    /// Whether transcripts were just written to, so that what was generated is kept from the first.
    pub(crate) remembers: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
        files::create_dir(&temp.path().join("in")).unwrap();
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        let home = temp.path().to_str().unwrap().to_owned();
        let env = Env::fixed("2036-01-01T00:00:00Z".parse().unwrap(), temp.path(), &[("HOME", &home)]);
        let state = State::of(&vault, &env).unwrap();
        Self { temp, vault, state, env, remembers: false }
    }

    pub(crate) fn remembering(remembers: bool) -> Self {
        Self { remembers, ..Self::new() }
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.temp.path().join("in")
    }

    pub(crate) fn import(&self) -> Report {
        self.import_of("claude")
    }

    pub(crate) fn import_of(&self, agent: &str) -> Report {
        let importer = cru::import::find(agent).unwrap();
        let written = self.env.now().duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
        for path in cru::import::list(importer, &[self.input()]).unwrap().files.into_iter().filter(|_| self.remembers) {
            fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH + written).unwrap();
        }
        let machine = Some(Machine { state: self.state.clone(), now: self.env.now() });
        let options = Options { machine, ..Options::default() };
        ingest(&self.vault, importer, &[self.input()], &options, &Unwatched).unwrap()
    }

    pub(crate) fn notes(&self) -> BTreeMap<PathBuf, String> {
        let Ok(entries) = fs::read_dir(self.vault.sessions_dir()) else { return BTreeMap::new() };
        entries
            .map(|entry| entry.unwrap().path())
            // A write that goes on has a file of its own there.
            .filter(|path| path.extension().is_some_and(|end| end == "md"))
            .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
            .collect()
    }

    /// The notes by host session.
    pub(crate) fn sessions(&self) -> BTreeMap<String, (String, Session)> {
        let notes = self.notes().into_values().map(|text| {
            let (session, _) = read::session(&Note::parse(text.as_str()));
            (session.meta.host_session.clone().unwrap(), (text, session))
        });
        notes.collect()
    }
}

/// Without places, and with prose that stands together as one.
pub(crate) fn model(session: &Session) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| !matches!(key.as_str(), "span" | "heading_span" | "cursor"));
                if let Some(Value::Array(items)) = map.get_mut("items") {
                    join(items);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    fn join(items: &mut Vec<Value>) {
        let mut joined: Vec<Value> = Vec::new();
        for item in items.drain(..) {
            match joined.last_mut() {
                Some(last) if last["item"] == "prose" && item["item"] == "prose" => {
                    let text = format!("{}\n\n{}", last["text"].as_str().unwrap(), item["text"].as_str().unwrap());
                    last["text"] = text.into();
                }
                _ => joined.push(item),
            }
        }
        *items = joined;
    }
    let mut value = serde_json::to_value(session).unwrap();
    value["preface"] = serde_json::to_value(session.tasks()).unwrap();
    strip(&mut value);
    value
}

/// The model with notes named by their host sessions, for a note's own name is that of the first prompt which was there
/// when it was made; and `without` some keys of its frontmatter.
pub(crate) fn nameless(session: &Session, notes: &BTreeMap<String, (String, Session)>, without: &[&str]) -> String {
    let mut model = model(session);
    for key in without {
        model["meta"][*key] = Value::Null;
    }
    let mut names: Vec<(&str, &str)> =
        notes.iter().filter_map(|(host, (_, it))| Some((it.meta.session_id.as_deref()?, host.as_str()))).collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names.iter().fold(model.to_string(), |text, (name, host)| text.replace(name, host))
}

/// A note's text but for its cursor, whose revision counts the writes.
pub(crate) fn without_cursor(text: &str) -> String {
    // A name is given once, by what was known then.
    let fixed = ["cru_cursor:", "session_id:"];
    text.lines().filter(|line| !fixed.iter().any(|key| line.starts_with(key))).collect::<Vec<_>>().join("\n")
}

fn put(path: &Path, bytes: &[u8]) {
    files::create_dir(path.parent().unwrap()).unwrap();
    files::put(path, bytes).unwrap();
}

/// What a person does to a note: words of their own, a title, a block that goes.
fn edit(path: &Path, number: usize) -> Vec<String> {
    let old = fs::read(path).unwrap();
    let text = String::from_utf8(old.clone()).unwrap();
    let note = Note::parse(text.as_str());
    let ends: Vec<usize> = note.blocks().iter().skip(3).map(|block| block.span.end).collect();
    let places = [ends[number % ends.len()], ends[(number * 7 + 3) % ends.len()]];
    let remarks = [format!("A remark of mine, the {number}."), format!("> [!quirk] Seen {number}\n> It is odd.")];
    let mut new = text.clone();
    let mut at: Vec<(usize, &String)> = places.into_iter().zip(&remarks).collect();
    at.sort();
    for (at, remark) in at.into_iter().rev() {
        new.insert_str(at, &format!("\n{remark}\n\n"));
    }
    files::replace(path, &old, new.as_bytes()).unwrap();
    remarks.to_vec()
}

/// The only session below `growth/AGENT`: its id, and its transcript at each capture.
pub(crate) fn captures(set: &TranscriptSet, agent: &str) -> (String, Vec<Vec<u8>>) {
    let mut sessions = fs::read_dir(set.folder("growth").join(agent)).unwrap().map(|entry| entry.unwrap().path());
    let session = sessions.next().expect("a session that grew");
    let mut paths: Vec<PathBuf> = fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 2, "{} captures", paths.len());
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    (name, paths.iter().map(|path| fs::read(path).unwrap()).collect())
}

fn a_session_that_grows_is_told_as_if_it_were_imported_at_once(set: &TranscriptSet) {
    let (name, captures) = captures(set, "claude");
    let (grown, whole, edited) = (World::new(), World::new(), World::remembering(true));
    let known = World::remembering(true);
    let file = format!("{name}.jsonl");
    let mut remarks = Vec::new();
    for (number, bytes) in captures.iter().enumerate() {
        for world in [&grown, &known, &edited] {
            put(&world.input().join(&file), bytes);
            let report = world.import();
            let outcome = if number == 0 { Outcome::Created } else { Outcome::Updated };
            assert_eq!(report.count(outcome), 1, "{number} {:?}", report.sessions);
            let before = world.notes();
            assert_eq!(world.import().count(Outcome::Unchanged), 1);
            assert_eq!(world.notes(), before, "twice changes no byte");
        }
        let path = edited.notes().into_keys().next().unwrap();
        if number + 1 < captures.len() {
            remarks.extend(edit(&path, number));
        }
        let text = fs::read_to_string(&path).unwrap();
        for remark in &remarks {
            assert_eq!(text.matches(remark.as_str()).count(), 1, "{remark} in\n{text}");
        }
    }
    put(&whole.input().join(&file), captures.last().unwrap());
    whole.import();
    let text = |world: &World| {
        let text = world.notes().into_values().next().unwrap();
        without_cursor(&text).replace(world.temp.path().to_str().unwrap(), "")
    };
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    if let Some(dump) = std::env::var_os("CRU_TEST_DUMP").map(PathBuf::from) {
        put(&dump.join("growth.grown.md"), order_free(&text(&grown)).as_bytes());
        put(&dump.join("growth.whole.md"), order_free(&text(&whole)).as_bytes());
    }
    let of = |world: &World| {
        let mut model = model(&world.sessions().into_values().next().unwrap().1);
        model["meta"]["transcript"] = Value::Null;
        model["meta"]["session_id"] = Value::Null;
        model
    };
    assert_eq!(of(&grown), of(&whole));
    assert_eq!(text(&known), text(&grown), "whatever was kept");
    let (theirs, want) = (edited.sessions(), whole.sessions());
    let (theirs, want) = (&theirs.values().next().unwrap().1, &want.values().next().unwrap().1);
    let steps = |session: &Session| session.steps().map(|(_, step)| step.id.clone()).collect::<Vec<_>>();
    assert_eq!(steps(theirs), steps(want));
    assert_eq!(theirs.phases.len(), want.phases.len());
    assert!(!text(&edited).contains("[!conflict]"), "{}", text(&edited));
}

/// Frontmatter lines sorted: a key that comes later stands at the end.
pub(crate) fn order_free(text: &str) -> String {
    let (head, body) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines.sort_unstable();
    format!("{}\n---\n{body}", lines.join("\n"))
}

fn a_transcript_that_was_cut_and_then_whole_is_told_as_if_it_were_whole_at_once(set: &TranscriptSet) {
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let (all, dump) =
        (std::env::var_os("CRU_TEST_ALL").is_some(), std::env::var_os("CRU_TEST_DUMP").map(PathBuf::from));
    let importer = cru::import::find("claude").unwrap();
    let places = set.folders(&["claude", "claude-projects"]);
    let bundles = cru::import::search(importer, &places).unwrap().bundles;
    let (mut notes, mut same_bytes, mut refused) = (0, 0, 0);
    let mut different = Vec::new();
    for (number, bundle) in bundles.iter().enumerate() {
        let bytes: Vec<Vec<u8>> = bundle.files.iter().map(|path| fs::read(path).unwrap()).collect();
        let size: usize = bytes.iter().map(Vec::len).sum();
        if set.is_shared() && !all && (size > 300_000 || number % 3 != 0) {
            continue;
        }
        let place = |path: &Path| PathBuf::from("in").join(path.strip_prefix(set.root()).unwrap());
        let whole = World::new();
        for (path, bytes) in bundle.files.iter().zip(&bytes) {
            put(&whole.temp.path().join(place(path)), bytes);
            let meta = path.with_extension("meta.json");
            if let Ok(bytes) = fs::read(&meta) {
                put(&whole.temp.path().join(place(&meta)), &bytes);
            }
        }
        whole.import();
        let want = whole.sessions();
        let lines: Vec<&[u8]> = bytes[0].split_inclusive(|&byte| byte == b'\n').collect();
        for seed in 1..=3_usize {
            let cut = (number * 31 + seed * 7919) % lines.len().max(1);
            let world = World::remembering(seed == 2);
            for (path, bytes) in bundle.files.iter().zip(&bytes) {
                put(&world.temp.path().join(place(path)), bytes);
                let meta = path.with_extension("meta.json");
                if let Ok(bytes) = fs::read(&meta) {
                    put(&world.temp.path().join(place(&meta)), &bytes);
                }
            }
            // A sub-agent begins with the call that starts it.
            let begun = String::from_utf8_lossy(&lines[..cut].concat()).into_owned();
            for path in &bundle.files[1..] {
                let name = path.file_stem().unwrap().to_str().unwrap();
                if name.strip_prefix("agent-").is_some_and(|agent| !begun.contains(agent)) {
                    files::remove(&world.temp.path().join(place(path))).unwrap();
                }
            }
            let main = world.temp.path().join(place(&bundle.files[0]));
            put(&main, &lines[..cut].concat());
            world.import();
            for (path, bytes) in bundle.files.iter().zip(&bytes) {
                put(&world.temp.path().join(place(path)), bytes);
            }
            let report = world.import();
            let rename = |text: &str, world: &World| text.replace(world.temp.path().to_str().unwrap(), "");
            let now = world.sessions();
            for (host, (text, session)) in &want {
                notes += 1;
                let Some((theirs, grown)) = now.get(host) else {
                    different.push(format!("{host} cut at {cut}: no note"));
                    continue;
                };
                let (one, other) = (without_cursor(&rename(theirs, &world)), without_cursor(&rename(text, &whole)));
                if one == other {
                    same_bytes += 1;
                    continue;
                }
                let without = &["transcript"];
                if nameless(grown, &now, without) != nameless(session, &want, without) {
                    let row = report.sessions.iter().find(|row| row.host_session == *host);
                    let row = row.map(|row| (row.outcome, row.detail.clone()));
                    if row.as_ref().is_some_and(|row| row.0 == Outcome::Grown) {
                        refused += 1;
                    }
                    different.push(format!("{host} cut at {cut} of {}: {row:?}", lines.len()));
                    if let Some(dump) = &dump {
                        let name = format!("{}-{cut}", host.replace('/', "_"));
                        put(&dump.join(format!("{name}.grown.md")), one.as_bytes());
                        put(&dump.join(format!("{name}.whole.md")), other.as_bytes());
                    }
                } else if let Some(dump) = &dump {
                    let name = format!("{}-{cut}", host.replace('/', "_"));
                    put(&dump.join("bytes").join(format!("{name}.grown.md")), one.as_bytes());
                    put(&dump.join("bytes").join(format!("{name}.whole.md")), other.as_bytes());
                }
            }
        }
    }
    println!("{notes} notes, {same_bytes} with the same bytes, {} others, {refused} refused", different.len());
    assert!(notes > 20, "{notes} notes");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

on_both_sets!(
    a_session_that_grows_is_told_as_if_it_were_imported_at_once,
    a_transcript_that_was_cut_and_then_whole_is_told_as_if_it_were_whole_at_once,
);
