//! `cru workflow check`.

use std::fmt::Write as _;

use serde::Serialize;

use super::find::{self, FoundWorkflow};
use crate::base::text::{fold_whitespace, one_line, plural, sanitise};
use crate::base::{Error, Lines, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::note::Note;
use crate::session::op::Op;
use crate::session::{Item, Session, escape, read};
use crate::vault::writer::{Plan, Writer};
use crate::vault::{Catalog, State, Vault, VaultPath, state};
use crate::workflow::conform::{self, Conformance, Deviation, Kind};

/// Compare a session with the workflow it should have followed
///
/// Says which steps were skipped, added, repeated or done in another order, and which checks were not run, with the places
/// on both sides. Without WORKFLOW the one whose source the session is, else the one it is likest. Exit code 1 when
/// something deviates; what the workflow allows (an optional step, one behind a condition) is no deviation.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session: a path, a file name, a session id, or enough of one to tell it apart
    session: String,
    /// Path, file name, title of a workflow, or part of one
    workflow: Option<String>,
    /// Write each deviation into the session's note, as a `[!deviation]` callout; `cru undo` takes them back
    #[arg(long)]
    write: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let source = source(&args.session, cx)?;
    let found = match &args.workflow {
        Some(name) => find::one(name, cx)?,
        None => likest(&source, cx)?,
    };
    let conformance = conform::conform(&found.workflow, &source.session);
    let mut written = 0;
    if args.write {
        written = write(&source, &found, &conformance, cx)?;
    }
    let text = source.note.text();
    let lines = Lines::of(text);
    let place = |span: crate::base::Span| lines.line(crate::base::lines::floor_char_boundary(text, span.start));
    let rows = conformance.deviations.iter().map(|it| ConformanceRow {
        workflow_line: it.expected.map(|span| found.line(span)),
        session_line: it.found.map(&place),
        deviation: it.clone(),
    });
    Ok(Box::new(ConformanceReport {
        schema: 1,
        session: source.path.clone(),
        workflow: found.path.clone(),
        steps: conformance.steps,
        done: conformance.done,
        holds: conformance.holds(),
        deviations: rows.collect(),
        written: args.write.then_some(written),
    }))
}

/// The session's note.
struct Source {
    path: String,
    id: String,
    note: Note,
    session: Session,
    /// Where it is in the vault, if it is in one.
    inside: Option<(Vault, VaultPath)>,
}

fn source(name: &str, cx: &Context<'_>) -> Result<Source> {
    let file = cx.absolute(std::path::Path::new(name));
    let (path, bytes, inside) = if file.is_file() {
        let vault = Vault::find_to_read(cx.vault_arg(), cx.env).ok();
        let inside = vault.and_then(|vault| Some((vault.relative(&file)?, vault))).map(|(path, vault)| (vault, path));
        (name.to_owned(), files::read(&file)?, inside)
    } else {
        let (vault, catalog) = reading::vault_with_catalog(cx)?;
        let path = catalog.session(name, &vault, cx.env)?.path.clone();
        (path.to_string(), vault.read(&path)?.to_vec(), Some((vault, path)))
    };
    let note = Note::parse(bytes);
    let (session, _) = read::session(&note);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = inside.as_ref().map_or(stem, |(_, path)| path.stem().into_owned());
    let id = session.meta.session_id.clone().unwrap_or(stem);
    Ok(Source { path, id, note, session, inside })
}

/// The workflow that was made of the session; else the one of which most steps were done, if that is half of them.
fn likest(source: &Source, cx: &Context<'_>) -> Result<FoundWorkflow> {
    let vault = reading::vault(cx)?;
    let mut all = find::all(&vault, &Catalog::read(&vault), cx);
    if all.is_empty() {
        return Err(find::none());
    }
    let own = |found: &FoundWorkflow| found.workflow.sources.iter().any(|link| link.target == source.id);
    let forms = conform::forms(&source.session);
    let mut best: Option<(bool, f64, usize)> = None;
    for (index, found) in all.iter().enumerate() {
        let conformance = conform::nearest(&found.workflow, &forms, &source.session);
        let share = conformance.done as f64 / conformance.steps.max(1) as f64;
        let rank = (own(found), share);
        if best.is_none_or(|(own, share, _)| rank > (own, share)) {
            best = Some((rank.0, rank.1, index));
        }
    }
    match best.filter(|(own, share, _)| *own || *share >= 0.5) {
        Some((own, _, index)) => {
            let found = all.swap_remove(index);
            if !own {
                cx.ui.note(&format!("compared with {}, of which most steps were done", found.path));
            }
            Ok(found)
        }
        None => Err(Error::no("no workflow of this vault is like the session")
            .with_hint("name one: `cru workflow check SESSION WORKFLOW`")),
    }
}

/// Writes the callouts that are not there yet; how many.
fn write(source: &Source, found: &FoundWorkflow, conformance: &Conformance, cx: &Context<'_>) -> Result<usize> {
    let Some((vault, path)) = &source.inside else {
        return Err(Error::usage(format!("{} is in no vault", source.path))
            .with_hint("`--write` writes only to notes of a vault, so that `cru undo` can take it back"));
    };
    let state = State::of(vault, cx.env)?;
    let mut count = 0;
    Writer::new(vault, &state, cx.env.now()).write(&state::key(&source.id), path, &mut |note, _| {
        let (session, _) = read::session(note);
        let there = told(&session, &found.stem);
        let new = conformance.deviations.iter().filter(|it| !it.allowed && !there.contains(&title(it)));
        let ops: Vec<Op> = new.map(|it| op(it, &found.stem)).collect();
        count = ops.len();
        Ok(Plan { ops, label: "workflow check".to_owned(), ..Plan::default() })
    })?;
    Ok(count)
}

/// Titles of the deviations from this workflow that the note has already.
fn told(session: &Session, stem: &str) -> Vec<String> {
    let items = session.preface.iter().chain(session.phases.iter().flat_map(|phase| &phase.items));
    let told = items.filter_map(|item| match item {
        Item::Callout(it) if it.kind == "deviation" && it.body.contains(&format!("[[{stem}]]")) => {
            Some(it.title.clone())
        }
        _ => None,
    });
    told.collect()
}

fn title(deviation: &Deviation) -> String {
    let word = match deviation.kind {
        Kind::Skipped => "Step skipped",
        Kind::Extra => "Step added",
        Kind::Repeated => "Step repeated",
        Kind::Reordered => "Step in another order",
        Kind::Unchecked => "Check not run",
    };
    format!("{word}: {}", fold_whitespace(&sanitise(&deviation.step)))
}

fn op(deviation: &Deviation, stem: &str) -> Op {
    let line = escape::inline;
    let text = format!(
        "> [!deviation] {}\n> {}.\n> Workflow: [[{stem}]]\n",
        line(&title(deviation)),
        line(&fold_whitespace(&deviation.message))
    );
    match &deviation.phase {
        Some(phase) => Op::Append { phase: Some(phase.clone()), text },
        None => Op::Preface { text },
    }
}

#[derive(Debug, Serialize)]
struct ConformanceRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_line: Option<usize>,
    #[serde(flatten)]
    deviation: Deviation,
}

#[derive(Debug, Serialize)]
struct ConformanceReport {
    schema: u32,
    session: String,
    workflow: String,
    steps: usize,
    done: usize,
    holds: bool,
    deviations: Vec<ConformanceRow>,
    /// Callouts that were written; `None` where nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<usize>,
}

impl PlainOutput for ConformanceReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        let width = self.deviations.iter().map(|row| row.deviation.kind.as_str().len()).max().unwrap_or(0);
        for row in &self.deviations {
            let it = &row.deviation;
            let look = if it.allowed { style::DIM } else { style::WARN };
            let word = format!("{:width$}", it.kind.as_str());
            let _ = writeln!(
                out,
                "{}  {}: {}",
                paint(look, word),
                paint(style::TITLE, one_line(&it.step)),
                one_line(&it.message)
            );
            let sides = [(&self.workflow, row.workflow_line), (&self.session, row.session_line)];
            for (path, line) in sides.into_iter().filter_map(|(path, line)| Some((path, line?))) {
                let _ = writeln!(out, "{:width$}  {}", "", paint(style::DIM, format!("{path}:{line}")));
            }
        }
        let bad = self.deviations.iter().filter(|row| !row.deviation.allowed).count();
        let told = if bad == 0 {
            paint(style::GOOD, "as the workflow says")
        } else {
            paint(style::WARN, plural(bad as u64, "deviation"))
        };
        let _ = writeln!(out, "{} of {} of {}: {told}", self.done, plural(self.steps as u64, "step"), self.workflow);
        if let Some(written) = self.written {
            let _ = writeln!(out, "{} written to {}", plural(written as u64, "callout"), self.session);
        }
        out
    }

    fn is_no(&self) -> bool {
        !self.holds
    }
}
