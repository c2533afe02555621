//! Whole families, from objects to rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::family::Families;
use crate::fold::fold;
use crate::scan::{ScanRow, scan};
use crate::stage::Stage;
use crate::table::{RowCell, RowTable, TableRows};

/// Objects by their URIs.
type Objects = BTreeMap<String, Vec<u8>>;

/// The real transcripts that lie in the repository.
fn corpus() -> Objects {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut folders = vec![root.clone()];
    let mut objects = Objects::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let uri = format!("s3://bucket/{}", path.strip_prefix(&root).unwrap().display());
                objects.insert(uri, std::fs::read(&path).unwrap());
            }
        }
    }
    objects
}

fn staged<'a>(objects: impl IntoIterator<Item = (&'a String, &'a Vec<u8>)>) -> Stage {
    let mut stage = Stage::new().unwrap();
    for (uri, bytes) in objects {
        // In pieces, as a large object comes.
        stage.add(uri, &bytes[..bytes.len() / 3]);
        stage.add(uri, &bytes[bytes.len() / 3..]);
    }
    stage
}

fn scanned(objects: &Objects) -> Vec<ScanRow> {
    objects.iter().map(|object| scan(&staged([object])).unwrap()).collect()
}

fn families(scanned: &[ScanRow]) -> BTreeMap<i64, Vec<String>> {
    let mut families = Families::default();
    for row in scanned {
        families.add(&row.uri, row.keys.iter().map(String::as_str));
    }
    let mut members: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for (uri, family) in families.finish() {
        members.entry(family).or_default().push(uri);
    }
    members
}

/// All tables of `objects`, families in the order of their numbers.
fn tables(objects: &Objects) -> TableRows {
    let mut rows = TableRows::default();
    for (family, uris) in families(&scanned(objects)) {
        rows.append(fold(family, &staged(uris.iter().map(|uri| objects.get_key_value(uri).unwrap()))));
    }
    rows
}

fn column(table: RowTable, name: &str) -> usize {
    table.columns().position(|column| column.name == name).unwrap()
}

fn texts<'r>(rows: &'r TableRows, table: RowTable, name: &str) -> Vec<&'r str> {
    let at = column(table, name);
    let text = |row: &'r Vec<RowCell>| match &row[at] {
        RowCell::Text(text) => text.as_ref(),
        _ => "",
    };
    rows.of(table).iter().map(text).collect()
}

#[test]
fn a_family_holds_all_that_is_read_together() {
    let objects = corpus();
    let stage = staged(&objects);
    let rows = scanned(&objects);
    let mut of: BTreeMap<&str, i64> = BTreeMap::new();
    let families = families(&rows);
    for (family, uris) in &families {
        of.extend(uris.iter().map(|uri| (uri.as_str(), *family)));
    }
    assert!(families.len() < objects.len(), "some objects belong together");
    let paths: Vec<PathBuf> = stage.paths();
    for (importer, found) in cru_agents::any::search(&paths).unwrap().found {
        for bundle in &found.bundles {
            let inside: BTreeSet<i64> = bundle.files.iter().map(|path| of[stage.uri(path).as_str()]).collect();
            assert_eq!(inside.len(), 1, "{}: {:?}", importer.id, bundle.files);
        }
    }
}

#[test]
fn families_give_what_all_objects_together_give() {
    let objects = corpus();
    let apart = tables(&objects);
    let together = fold(0, &staged(&objects));
    let mut uids =
        [texts(&apart, RowTable::Sessions, "session_uid"), texts(&together, RowTable::Sessions, "session_uid")];
    for uids in &mut uids {
        uids.sort_unstable();
    }
    assert_eq!(uids[0], uids[1]);
    assert!(uids[0].len() > 10);
    for table in RowTable::ALL {
        assert_eq!(apart.of(table).len(), together.of(table).len(), "{}", table.as_str());
        assert!(!apart.of(table).is_empty(), "{} has no row in the corpus", table.as_str());
    }
    let mut notes = [texts(&apart, RowTable::Sessions, "note"), texts(&together, RowTable::Sessions, "note")];
    for notes in &mut notes {
        notes.sort_unstable();
    }
    assert_eq!(notes[0], notes[1]);
    // The folder in which they lay is told nowhere.
    assert!(!notes[0].iter().any(|note| note.contains("cru-rows-")));
}

#[test]
fn each_object_has_one_row_of_accounting() {
    let mut objects = corpus();
    let before = tables(&objects);
    let broken: [&[u8]; 4] =
        [b"", b"\0\xff\0\xff", b"{\"type\":\"user\",\"sessionId\":\"s1\",\"message\":", b"\x28\xb5\x2f\xfd\xff\xff"];
    for (at, bytes) in broken.into_iter().enumerate() {
        objects.insert(format!("s3://bucket/broken-{at}.jsonl"), bytes.to_vec());
    }
    let after = tables(&objects);
    let mut uris = texts(&after, RowTable::Accounting, "uri");
    uris.sort_unstable();
    assert_eq!(uris, objects.keys().collect::<Vec<_>>());
    let outcomes = texts(&after, RowTable::Accounting, "outcome");
    for (uri, outcome) in texts(&after, RowTable::Accounting, "uri").iter().zip(&outcomes) {
        assert!(!uri.contains("bucket/broken-") || *outcome != "read", "{uri} {outcome}");
    }
    let mut notes = [texts(&before, RowTable::Sessions, "note"), texts(&after, RowTable::Sessions, "note")];
    for notes in &mut notes {
        notes.sort_unstable();
    }
    assert_eq!(notes[0], notes[1], "what is broken changes nothing else");
}

#[test]
fn secrets_are_masked_in_every_table() {
    let secret = ["ghp", "_", "R9f2kQ7mZx4Lw8TbVn3cYs6HdJ1pGa5EuKtC"].concat();
    let uuid = "11111111-2222-4333-8444-555555555555";
    let line = |number: u32, rest: &str| {
        format!(
            "{{\"sessionId\":\"{uuid}\",\"uuid\":\"u{number}\",\"timestamp\":\"2026-11-20T10:00:0{number}Z\",\
             \"cwd\":\"/home/me/api\",{rest}}}\n"
        )
    };
    let text = [
        line(1, &format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"use {secret} please\"}}")),
        line(
            2,
            &format!(
                "\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"x\",\"content\":\
                 [{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{{\"command\":\"curl -H {secret} x\"}}}}]}}"
            ),
        ),
        line(
            3,
            &format!(
                "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
                 \"tool_use_id\":\"t1\",\"content\":\"Exit code 1\\n{secret}\",\"is_error\":true}}]}}"
            ),
        ),
    ]
    .concat();
    let rows = fold(7, &staged([(&format!("x/{uuid}.jsonl"), &text.into_bytes())]));
    assert_eq!(rows.of(RowTable::Steps).len(), 1);
    for table in RowTable::ALL {
        assert!(!format!("{:?}", rows.of(table)).contains(&secret), "{}", table.as_str());
    }
    let at = column(RowTable::Steps, "evidence");
    assert!(
        matches!(&rows.of(RowTable::Steps)[0][at], RowCell::Place(place)
            if place.0.contains(uuid) && place.1 > Some(0) && place.2 > Some(100)),
        "{:?}",
        rows.of(RowTable::Steps)[0][at]
    );
}

#[test]
fn cases_made_anew_of_notes_are_those_of_the_transcripts() {
    let rows = tables(&corpus());
    let at = |name| column(RowTable::Sessions, name);
    let mut families: BTreeMap<i64, Vec<(String, String, String)>> = BTreeMap::new();
    for row in rows.of(RowTable::Sessions) {
        let (RowCell::Int(family), RowCell::Text(uid), RowCell::Text(host), RowCell::Text(note)) =
            (&row[at("family")], &row[at("session_uid")], &row[at("host")], &row[at("note")])
        else {
            panic!("{row:?}")
        };
        let texts = [uid, host, note].map(|text| text.clone().into_owned());
        let family = i64::try_from(*family).unwrap();
        families.entry(family).or_default().push(texts.into());
    }
    let mut again = TableRows::default();
    for (family, notes) in &families {
        let read: Vec<_> = notes.iter().map(|it| cru_session::read::content_of(it.2.as_bytes())).collect();
        let notes: Vec<crate::learn::SessionNote<'_>> = notes
            .iter()
            .zip(&read)
            .map(|((uid, host, text), session)| crate::learn::SessionNote { uid, text, session, host })
            .collect();
        crate::learn::add(*family, &notes, &mut again);
    }
    let sorted = |rows: &TableRows| {
        let mut rows: Vec<String> = rows.of(RowTable::Cases).iter().map(|row| format!("{row:?}")).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&rows), sorted(&again));
}

#[test]
fn a_cluster_gives_one_workflow_in_any_order() {
    let rows = tables(&corpus());
    let notes = texts(&rows, RowTable::Sessions, "note");
    let uids = texts(&rows, RowTable::Sessions, "session_uid");
    let mut some: Vec<(String, String)> =
        uids.iter().zip(&notes).take(3).map(|(uid, note)| ((*uid).to_owned(), (*note).to_owned())).collect();
    let one = crate::codify::workflow(some.clone());
    some.reverse();
    assert_eq!(one, crate::codify::workflow(some));
    assert_eq!((one.sessions.len(), one.left_out), (3, 0));
    assert_eq!(crate::codify::workflow(Vec::new()).sessions.len(), 0);
}

#[test]
fn the_columns_are_stable() {
    let mut text = String::new();
    for table in RowTable::ALL {
        let columns: Vec<String> = table.own().iter().map(|it| format!("{} {:?}", it.name, it.kind)).collect();
        text.push_str(&format!("{}: {}\n", table.as_str(), columns.join(", ")));
    }
    insta::assert_snapshot!(text, @r"
    sessions: host_session Text, host_version Text, agent Text, subagent Bool, parent_uid Text, title Text, status Text, started Time, ended Time, duration_ms Int, active_ms Int, model Text, project Text, branch Text, commit Text, channel Text, tokens Int, cost_usd Float, phases Int, steps Int, failed_steps Int, requests Int, corrections Int, errors Int, decisions Int, proof Text, activity Text, masked Int, transcript Text, tags Texts, note Text
    phases: seq Int, phase_id Text, parent_phase Text, title Text, agent Text, channel Text, started Time, steps Int, failed_steps Int
    steps: seq Int, step_id Text, phase_id Text, agent Text, tool Text, kind Text, action Text, args Text, args_hash Text, result Text, status Text, verdict Text, exit Int, time Time, duration_ms Int, evidence Place
    messages: seq Int, message_id Text, phase_id Text, role Text, kind Text, text Text, time Time
    decisions: seq Int, decision_id Text, phase_id Text, title Text, text Text, why Text, rejected Text, impact Text, time Time
    errors: seq Int, error_id Text, phase_id Text, title Text, text Text, resolution Text, time Time
    tasks: seq Int, task_id Text, content Text, status Text, priority Text
    subagents: seq Int, subagent_id Text, phase_id Text, agent Text, model Text, mode Text, child_uid Text, task Text, summary Text, tokens Int
    files: seq Int, path Text, access Text, hash Text, step_id Text, phase_id Text, tool Text, time Time
    tokens: seq Int, model Text, input Int, output Int, cache_write Int, cache_write_1h Int, cache_read Int
    edges: seq Int, from_id Text, kind Text, reason Text, to_uid Text, to_id Text
    cases: seq Int, case_id Text, kind Text, title Text, block_id Text, fidelity Text, content_hash Text, redactions Int, fault Text, body Text
    accounting: seq Int, uri Text, outcome Text, reason Text, sessions Texts, records Int, represented Int, skipped Text
    ");
}

#[test]
#[ignore = "needs ../shared/transcripts"]
fn all_shared_transcripts_are_read_in_families() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let root = cru_base::Env::real().var("CRU_TEST_TRANSCRIPTS").map_or(root, PathBuf::from);
    let mut folders = vec![root];
    let mut objects = Objects::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                objects.insert(path.to_string_lossy().into_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    let (apart, together) = (tables(&objects), fold(0, &staged(&objects)));
    for table in RowTable::ALL {
        assert_eq!(apart.of(table).len(), together.of(table).len(), "{}", table.as_str());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 40, ..Default::default() })]

    #[test]
    fn damaged_transcripts_are_rows_and_no_panics(pick in 0..1000_usize, at in 0..100_000_usize, byte: u8, cut in 0..100_usize) {
        let objects = corpus();
        let (uri, bytes) = objects.iter().nth(pick % objects.len()).unwrap();
        let mut bytes = bytes.clone();
        if !bytes.is_empty() {
            let place = at % bytes.len();
            bytes[place] = byte;
            bytes.truncate(bytes.len() - bytes.len() * cut / 200);
        }
        let stage = staged([(uri, &bytes)]);
        let row = scan(&stage).unwrap();
        let rows = fold(1, &stage);
        proptest::prop_assert_eq!(rows.of(RowTable::Accounting).len(), 1);
        let told = format!("{:?}{:?}", row.reason, rows.of(RowTable::Accounting));
        proptest::prop_assert!(!told.contains("a defect of cru"), "{}", told);
    }
}
