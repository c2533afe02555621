//! What is made of the notes: workflows and cases, the same each time.

use std::collections::HashSet;

use cru::base::Severity;
use cru::learn::{Case, Extraction, Family, Format, Kind, TEMPLATE, export, extract};
use cru::note::Note;
use cru::session::read;
use cru::workflow::codify::skeleton::{MAX_BYTES, MAX_LINES};
use cru::workflow::dialect::strict;
use cru::workflow::{Dialect, Options, Shape, codify, parse, render, render_as, validate};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{World, world};

fn every_session_makes_a_workflow(set: &TranscriptSet) {
    let world = world(set);
    let shapes = [Shape::Skeleton, Shape::Replay].map(|shape| Options { versions: true, shape });
    for (written, options) in world.notes.iter().flat_map(|written| shapes.map(|options| (written, options))) {
        let (workflow, remarks) = codify(&written.session, &options);
        let failed = remarks.iter().find(|remark| remark.severity == Severity::Error);
        assert!(failed.is_none(), "{}: {failed:?}", written.path);
        let text = render(&workflow);
        if options.shape == Shape::Skeleton {
            let (lines, bytes) = (text.lines().count(), text.len());
            assert!(lines <= MAX_LINES && bytes <= MAX_BYTES, "{}: {lines} lines, {bytes} bytes", written.path);
            assert!(!["/home/", "/Users/"].iter().any(|home| has_home(&text, home)), "{}\n{text}", written.path);
        }
        let (again, _) = read::session(&Note::parse(written.note.bytes()));
        assert!(render(&codify(&again, &options).0) == text, "{}: another workflow", written.path);
        let (_, diagnostics) = parse(&Note::parse(text));
        let failed = diagnostics.iter().find(|found| found.severity == Severity::Error);
        assert!(failed.is_none(), "{}: {failed:?}", written.path);
        let odd = validate(&workflow);
        let failed = odd.iter().find(|found| found.severity > Severity::Info);
        assert!(failed.is_none(), "{}: {failed:?}", written.path);
        let steps = workflow.step_flags().into_iter().filter(|flag| *flag).count();
        let children = workflow.steps.iter().filter(|step| step.parent.is_some()).count();
        assert!(steps - children <= 40, "{}: {steps} steps are too many for a person", written.path);
        let crucible = render_as(&workflow, Dialect::Crucible);
        assert_eq!(strict(&Note::parse(crucible)), [], "{}", written.path);
    }
}

/// Whether a text names a home folder: one that begins a path.
fn has_home(text: &str, home: &str) -> bool {
    text.match_indices(home).any(|(at, _)| {
        let begins =
            text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '`' | '\'' | '('));
        begins && text[at + home.len()..].starts_with(|c: char| c.is_alphanumeric())
    })
}

const LAYOUT: export::Layouts<'static> = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };

fn cases(world: &World) -> Extraction {
    let notes = world.notes.iter().map(|written| cru::learn::Note {
        path: &written.path,
        text: written.note.text(),
        session: &written.session,
        calls: None,
    });
    let family = Family::of(world.notes.iter().map(|written| (written.stem(), &written.session.meta)));
    extract(&notes.collect::<Vec<_>>(), &Kind::IN_SESSIONS, &family)
}

fn all_sessions_make_the_same_cases_each_time(set: &TranscriptSet) {
    let world = world(set);
    let (one, other) = (cases(world), cases(world));
    assert!(!one.cases.is_empty() && one.cases == other.cases && one.left_out == other.left_out);
    let ids: HashSet<&str> = one.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), one.cases.len());
    for format in Format::ALL {
        for make in [export::folder, export::stream] {
            let made = |cases: &[Case]| make(cases, format, export::Options::new(LAYOUT)).unwrap();
            let (first, second) = (made(&one.cases), made(&other.cases));
            assert!(first == second, "{format:?}");
            assert!(first.files.iter().all(|file| std::str::from_utf8(&file.bytes).is_ok()), "{format:?}");
        }
    }
}

on_both_sets!(every_session_makes_a_workflow, all_sessions_make_the_same_cases_each_time);
