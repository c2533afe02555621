//! Which workflow an argument means, and all of a vault.

use std::path::Path;

use rayon::prelude::*;

use crate::base::{Diagnostic, Error, Lines, Result, Span, files};
use crate::commands::Context;
use crate::note::Note;
use crate::session::public::{Places, Public};
use crate::vault::{Catalog, Head, Vault};
use crate::workflow::{self, Workflow};

/// A workflow note, read.
#[derive(Debug)]
pub(in crate::commands) struct FoundWorkflow {
    /// Its path as shown: in the vault, else as it was given.
    pub(super) path: String,
    /// Name of the file without `.md`.
    pub(super) stem: String,
    /// What of the note may leave it.
    pub(super) note: Note,
    /// The note as it is shown: each byte at its place.
    pub(super) shown: String,
    /// What it says.
    pub(super) workflow: Workflow,
    /// What is odd about how it is written.
    pub(super) diagnostics: Vec<Diagnostic>,
    lines: Lines,
    places: Places,
}

impl FoundWorkflow {
    fn read(path: String, file: &Path) -> Result<Self> {
        let whole = Note::parse(files::read(file)?);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let public = Public::of(&whole);
        let note = Note::parse(public.as_str());
        let (workflow, diagnostics) = workflow::parse(&note);
        let (shown, lines) = (public.shown(), Lines::of(whole.text()));
        let places = public.into_places();
        Ok(Self { path, stem, note, shown, workflow, diagnostics, lines, places })
    }

    /// Has the places of diagnostics be those of the note as it is shown.
    pub(super) fn lead_back(&self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics {
            diagnostic.span = self.places.span(diagnostic.span);
        }
    }

    /// Title, else the name of the file.
    pub(super) fn title(&self) -> &str {
        if self.workflow.title.is_empty() { &self.stem } else { &self.workflow.title }
    }

    /// The line of a place.
    pub(super) fn line(&self, span: Span) -> usize {
        let start = self.places.span(span).start;
        self.lines.line(crate::base::lines::floor_char_boundary(&self.shown, start))
    }
}

/// Whether a note of the vault is a workflow: it says so, or says nothing and stands in the folder for them.
fn is_workflow(head: &Head) -> bool {
    match head.meta.kind.as_deref() {
        Some(kind) => kind.trim().eq_ignore_ascii_case("workflow"),
        None => head.path.as_path().starts_with("workflows"),
    }
}

/// All workflows of the vault, sorted by path.
pub(super) fn all(vault: &Vault, catalog: &Catalog, cx: &Context<'_>) -> Vec<FoundWorkflow> {
    let heads: Vec<&Head> = catalog.heads.iter().filter(|head| is_workflow(head)).collect();
    let read: Vec<Result<FoundWorkflow>> =
        heads.par_iter().map(|head| FoundWorkflow::read(head.path.to_string(), &vault.file(&head.path))).collect();
    let mut found = Vec::with_capacity(read.len());
    for result in read {
        match result {
            Ok(it) => found.push(it),
            Err(error) => cx.ui.warn(&error.to_string()),
        }
    }
    found
}

/// Those that are named, else all of a vault, which may be none.
pub(in crate::commands) fn meant(
    names: &[String],
    vault: &Vault,
    catalog: &Catalog,
    cx: &Context<'_>,
) -> Result<Vec<FoundWorkflow>> {
    if names.is_empty() {
        return Ok(all(vault, catalog, cx));
    }
    names.iter().map(|name| one_of(name, vault, catalog, cx)).collect()
}

/// The workflows that arguments name; all where there are none.
pub(super) fn some(names: &[String], cx: &Context<'_>) -> Result<Vec<FoundWorkflow>> {
    // Files may be read anywhere; only names need a vault.
    if !names.is_empty() && names.iter().all(|name| cx.absolute(Path::new(name)).is_file()) {
        return names.iter().map(|name| FoundWorkflow::read(name.clone(), &cx.absolute(Path::new(name)))).collect();
    }
    let vault = crate::commands::reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let found = meant(names, &vault, &catalog, cx)?;
    if found.is_empty() { Err(none()) } else { Ok(found) }
}

/// The workflow that an argument names.
pub(super) fn one(name: &str, cx: &Context<'_>) -> Result<FoundWorkflow> {
    let found = some(&[name.to_owned()], cx)?;
    found.into_iter().next().ok_or_else(none)
}

fn one_of(name: &str, vault: &Vault, catalog: &Catalog, cx: &Context<'_>) -> Result<FoundWorkflow> {
    let file = cx.absolute(Path::new(name));
    if file.is_file() {
        return FoundWorkflow::read(name.to_owned(), &file);
    }
    let wanted = name.trim().trim_start_matches("[[").trim_end_matches("]]").to_lowercase();
    let wanted = wanted.strip_suffix(".md").unwrap_or(&wanted);
    let heads: Vec<&Head> = catalog.heads.iter().filter(|head| is_workflow(head)).collect();
    let names = |head: &Head| {
        let path = head.path.to_string().to_lowercase();
        let path = path.strip_suffix(".md").unwrap_or(&path).to_owned();
        (path, head.path.stem().to_lowercase(), head.title().to_lowercase())
    };
    let readings: [&dyn Fn(&Head) -> bool; 3] =
        [&|head| names(head).0 == wanted || names(head).1 == wanted, &|head| names(head).2 == wanted, &|head| {
            names(head).1.contains(wanted) || names(head).2.contains(wanted)
        }];
    for reading in readings {
        let found: Vec<&&Head> = heads.iter().filter(|head| reading(head)).collect();
        match found.as_slice() {
            [] => {}
            [head] => return FoundWorkflow::read(head.path.to_string(), &vault.file(&head.path)),
            many => {
                let list: Vec<String> = many.iter().take(8).map(|head| head.path.to_string()).collect();
                return Err(Error::usage(format!("'{name}' could be several workflows"))
                    .with_hint(format!("one of: {}", list.join(", "))));
            }
        }
    }
    let near = heads.iter().map(|head| head.path.stem().into_owned());
    let near = near.map(|stem| (strsim::jaro_winkler(&stem.to_lowercase(), wanted), stem));
    let near = near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.7);
    Err(Error::usage(format!("no workflow '{name}'")).with_hint(match near {
        Some((_, stem)) => format!("did you mean '{stem}'? `cru list workflows` shows all"),
        None => "`cru list workflows` shows all".to_owned(),
    }))
}

/// There is none.
pub(super) fn none() -> Error {
    Error::no("the vault holds no workflow")
        .with_hint("`cru session codify SESSION -o workflows/NAME.md` makes one of a session")
}
