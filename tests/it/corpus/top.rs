//! The summary on top: its size, its quotations, and one list of what is open wherever that is told. Over all hosts.

use std::path::Path;

use cru::base::text::fold_whitespace;
use cru::live::resume;
use cru::note::Note;
use cru::session::open::{open_line, open_points};
use cru::session::{Item, Session, read};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::vault::Vault;
use cru::workflow::{self, codify, render};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{empty, snapshot};

/// Text without what makes it inert, on one line.
fn bare(text: &str) -> String {
    fold_whitespace(&text.replace('\\', ""))
}

/// Whether two lines say the same, up to where one of them was cut.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    let cut = |text: &str| text.split('…').next().unwrap_or_default().trim_end().to_owned();
    one == other
        || (one.contains('…') && other.starts_with(&cut(&one)))
        || (other.contains('…') && one.starts_with(&cut(&other)))
}

fn summary(session: &Session) -> Option<&str> {
    session.preface.iter().find_map(|item| match item {
        Item::Callout(it) if it.kind == "summary" => Some(it.body.as_str()),
        _ => None,
    })
}

/// All words of the note, without the summary.
fn words(session: &Session) -> String {
    let texts = session.items().filter_map(|(_, item)| match item {
        Item::User(it) => Some(it.words.clone()),
        Item::Prose(it) => Some(it.text.clone()),
        Item::Callout(it) if it.kind != "summary" => Some(it.body.clone()),
        _ => None,
    });
    bare(&texts.collect::<Vec<_>>().join("\n"))
}

fn the_summary_is_short_and_quotes_what_was_said(set: &TranscriptSet) {
    let vault = empty();
    let at = Vault::open(vault.path()).unwrap();
    for importer in cru::import::IMPORTERS {
        // Not every importer finds something in the set.
        let _ = ingest(&at, importer, &[set.root().to_owned()], &Options::default(), &Unwatched);
    }
    let files = snapshot(vault.path());
    let (mut seen, mut open, mut quoted) = (0, 0, 0);
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".md")) {
        let session = read::session(&Note::parse(bytes.clone())).0;
        if !session.meta.is_session() {
            continue;
        }
        seen += 1;
        let told = open_line(&open_points(&session));
        // The workflow names every point, and the session's resume too.
        let made = render(&codify(&session, &workflow::Options::default()).0);
        let head = made.lines().find_map(|line| line.strip_prefix("Open at the end: "));
        let pack = resume::Pack::of(&session, &resume::Options::default());
        for (at, point) in open_points(&session).iter().enumerate() {
            open += 1;
            let line = bare(&point.to_line());
            let start: String = line.chars().take(60).collect();
            // The workflow names no home folder.
            let told = ["C:Users", "/home/", "/Users/"].iter().filter_map(|home| start.find(home)).min();
            let start = start[..told.unwrap_or(start.len())].to_owned();
            assert!(at > 5 || head.is_none_or(|head| bare(head).contains(&start)), "{path}: {start}\n{head:?}");
            let resumed = pack
                .part(resume::Kind::Open)
                .map(|part| part.entries.iter().map(|it| bare(&it.text)).collect::<Vec<_>>());
            let named = start.trim_start_matches("task not done: ").trim_start_matches("unanswered: \"");
            let named: String = named.chars().take(40).collect();
            let named = named.trim_end_matches(['"', '…', ' ']).to_owned();
            assert!(resumed.iter().flatten().any(|line| line.contains(&named)), "{path}: {named:?} {resumed:?}");
        }
        let Some(body) = summary(&session) else { continue };
        assert!(body.lines().count() <= 8 && body.chars().count() <= 900, "{path}\n{body}");
        let field = |name: &str| body.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_end);
        match (field("Open: "), &told) {
            (Some(line), Some(told)) => assert!(is_same(line, told), "{path}: {line}\n{told}"),
            (line, told) => assert_eq!((line, told), (None, &None), "{path}"),
        }
        let stem = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let of_project = files.iter().filter(|(path, _)| path.starts_with("projects/")).find_map(|(_, bytes)| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().find(|line| line.contains(&format!("[[{stem}|")) && !line.contains('^')).map(str::to_owned)
        });
        if let (Some(line), Some(told)) = (of_project, &told) {
            let line = line.split_once(" · open: ").map(|(_, open)| open.to_owned());
            assert!(line.as_ref().is_some_and(|line| is_same(line, told)), "{path}: {line:?}\n{told}");
        }
        let words = words(&session);
        for name in ["Asked: ", "Agent, last: "] {
            let Some(line) = field(name) else { continue };
            let line =
                line.rsplit_once(" (+ ").filter(|(words, _)| words.ends_with('"')).map_or(line, |(words, _)| words);
            for part in bare(line).trim_matches('"').split('…').map(str::trim).filter(|part| !part.is_empty()) {
                quoted += 1;
                assert!(words.contains(part), "{path}: {part:?} was not said\n{body}");
            }
        }
    }
    assert!(
        seen > set.least(10, 100) && quoted > set.least(10, 150) && open > set.least(3, 60),
        "{seen} {quoted} {open}"
    );
}

on_both_sets!(the_summary_is_short_and_quotes_what_was_said);
