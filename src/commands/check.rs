//! `cru check`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::output::style::{self, paint};
use super::subject::marked;
use super::trace::bookmarks;
use super::trace::refs::References;
use super::words::explained;
use super::{Context, Output, View, cases, drift, frame, hooks, mcp, read, workflow};
use crate::base::text::plural;
use crate::base::{Diagnostic, Error, Lines, Result, Severity, Span, files};
use crate::graph::Graph;
use crate::note::Note;
use crate::session;
use crate::vault::config::Globs;
use crate::vault::template::Template;
use crate::vault::{Catalog, Finding, State, Vault, VaultPath, Walk, Writer, state};
use crate::workflow::Dialect;

/// Check notes for errors
///
/// Without PATH the whole vault. Only notes that cru knows are checked: sessions, workflows, cases and lessons, by the
/// `type` in their frontmatter, and `bookmarks.md`; a note that PATH names alone is checked whatever it is. Each diagnostic shows its place,
/// the line and a fix; with `-f json` they are data. Exit code 1 when there are errors; warnings alone exit with 0.
///
/// - `w:NAME`: a workflow, for cycles, conditions that lead nowhere, names made twice, types that differ, records that cannot be read
///
/// - `c:ID`: a case note, for missing parts, links that lead nowhere, secrets, and whether its session still tells it
///
/// - `r:NAME`: a reading, or a file with an answer (`-`: stdin), each claim against the session as it is now
///
/// - `hooks [HOST]`, `mcp [HOST]`: where hooks and the server are installed, what they start, and whether a test event arrives
///
/// - `hosts`: the transcripts of agents on this machine against what their importers know: versions, and kinds of records
///
/// `w:`, `c:` and `r:` alone are all of them. A folder that is called like one of these words is `./hooks`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Notes, folders, or patterns on paths in the vault (`sessions/2026-*`); or what stands above
    paths: Vec<PathBuf>,
    /// Whether a strict reader of this dialect takes a workflow too
    #[arg(long, value_name = "DIALECT", conflicts_with = "fix", value_parser = explained(workflow::DIALECTS))]
    dialect: Option<Dialect>,
    /// Apply safe fixes: quote frontmatter values that need it, add missing ids, rename repeated ones; changes no other note
    #[arg(long)]
    fix: bool,
    /// With `--fix`: show the changes and write nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let is_workflow = args.paths.first().is_some_and(|path| path.to_string_lossy().starts_with("w:"));
    if args.dialect.is_some() && !is_workflow {
        return Err(Error::usage("--dialect is of workflows").with_hint("`cru check w:NAME --dialect crucible`"));
    }
    if !args.fix
        && let Some(output) = other(args, cx)
    {
        return output;
    }
    let targets = targets(&args.paths, args.fix && !args.dry_run, cx)?;
    let progress = cx.ui.progress("checking", targets.len() as u64);
    let checked: Vec<Result<Option<CheckedNote>>> = targets
        .par_iter()
        .map(|target| {
            let checked = check(target, args, cx);
            progress.advance(1);
            checked
        })
        .collect();
    drop(progress);
    let mut notes = Vec::new();
    for checked in checked {
        notes.extend(checked?);
    }
    // A missing block of the same note is told by the note itself; the graph would say it again.
    let told: HashSet<(String, Span)> = notes
        .iter()
        .flat_map(|note| note.diagnostics.iter().map(move |it| (note, it)))
        .filter(|(_, diagnostic)| diagnostic.code == "missing-block")
        .map(|(note, diagnostic)| (note.path.clone(), diagnostic.span))
        .collect();
    let found = links(cx, &targets);
    notes.extend(checked_bookmarks(cx, &targets));
    if args.paths.is_empty() {
        notes.extend(templates(cx));
    }
    let places: HashMap<String, usize> = notes.iter().map(|note| note.path.clone()).zip(0..).collect();
    for (path, diagnostic) in found.into_iter().filter(|(path, it)| !told.contains(&(path.clone(), it.span))) {
        if let Some(note) = places.get(&path).and_then(|&place| notes.get_mut(place)) {
            note.diagnostics.push(diagnostic);
        }
    }
    for note in &mut notes {
        note.diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    }
    Ok(Box::new(CheckReport { notes, dry_run: args.dry_run, verbose: cx.global.verbose > 0 }))
}

/// What is checked that is not the notes of paths, where the first word says so.
fn other(args: &Args, cx: &Context<'_>) -> Option<Result<Box<dyn Output>>> {
    let words: Vec<String> = args.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    match &words[..] {
        [word] if word == "hosts" => return Some(drift::run(cx)),
        [word, host @ ..] if word == "hooks" && host.len() < 2 => return Some(hooks::status(host.first(), cx)),
        [word, host @ ..] if word == "mcp" && host.len() < 2 => return Some(mcp::setup::status(host.first(), cx)),
        _ => {}
    }
    let notes = if let Some(names) = marked("w:", &words) {
        workflow::checked(&names, args.dialect, cx)
    } else if let Some(names) = marked("c:", &words) {
        cases::checked(&names, cx)
    } else if let Some(names) = marked("r:", &words) {
        read::checked(&names, cx)
    } else {
        return None;
    };
    let report = |notes| CheckReport { notes, dry_run: false, verbose: cx.global.verbose > 0 };
    Some(notes.map(|notes| Box::new(report(notes)) as Box<dyn Output>))
}

/// A note to look at: its path as shown, and where it is.
pub(super) struct Target {
    pub(super) shown: String,
    pub(super) path: PathBuf,
    /// Whether it was named alone: then it is checked whatever it is.
    pub(super) named: bool,
}

/// The notes that `paths` name: files anywhere, folders and patterns of the vault; all of it where none is named. `writes` where they may be changed.
pub(super) fn targets(paths: &[PathBuf], writes: bool, cx: &Context<'_>) -> Result<Vec<Target>> {
    let plain = |path: &Path| Target { shown: path.display().to_string(), path: cx.absolute(path), named: true };
    // Single notes may be checked anywhere; only folders and patterns need a vault.
    if !paths.is_empty() && paths.iter().all(|path| cx.absolute(path).is_file()) {
        return Ok(paths.iter().map(|path| plain(path)).collect());
    }
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env)?;
    if writes {
        vault.writable()?;
    }
    let walk = Walk::of(&vault);
    for finding in &walk.findings {
        cx.ui.warn(&format!("{}: {}", finding.path.text(), finding.diagnostic.message));
    }
    let all = || walk.paths();
    let of = |path: &VaultPath| Target { shown: path.text().into_owned(), path: vault.file(path), named: false };
    if paths.is_empty() {
        return Ok(all().map(of).collect());
    }
    let mut chosen: Vec<&VaultPath> = Vec::new();
    for path in paths {
        let absolute = cx.absolute(path);
        let inside = vault.relative(&absolute);
        let before = chosen.len();
        if absolute.is_dir() {
            let root = inside.as_ref().map_or_else(PathBuf::new, |inside| inside.as_path().to_owned());
            chosen.extend(all().filter(|note| note.as_path().starts_with(&root)));
        } else if absolute.is_file() {
            chosen.extend(inside.iter().filter_map(|inside| all().find(|note| *note == inside)));
        } else {
            let pattern = path.to_string_lossy();
            let globs = Globs::new(&[&pattern]).map_err(|error| Error::usage(format!("`{pattern}`: {error}")))?;
            chosen.extend(all().filter(|note| globs.matches(note.as_path())));
        }
        if chosen.len() == before {
            return Err(Error::usage(format!("no note at {}", path.display()))
                .with_hint("a path from here, or a pattern on paths in the vault"));
        }
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen.into_iter().map(of).collect())
}

/// What the vault as a whole says: links that lead nowhere, ids used twice, cycles. Nothing outside of a vault.
fn links(cx: &Context<'_>, targets: &[Target]) -> Vec<(String, Diagnostic)> {
    let Ok(vault) = Vault::find_to_read(cx.vault_arg(), cx.env) else { return Vec::new() };
    let shown: HashMap<VaultPath, &str> =
        targets.iter().filter_map(|target| Some((vault.relative(&target.path)?, target.shown.as_str()))).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let catalog = Catalog::read(&vault);
    // A session that cannot be read stops the command where it is checked itself.
    let (sessions, _) = vault.load_sessions(&catalog);
    let graph = Graph::of(&catalog, &sessions);
    let copies = catalog.conflict_copies().filter_map(|(copy, of)| {
        let shown = *shown.get(&copy.path)?;
        let message = format!("this is a copy of {} that a sync service left; it is in no list", of.path);
        let help =
            format!("`cru admin merge {} {}` brings what it has into the note", quoted(&of.path), quoted(&copy.path));
        Some((shown.to_owned(), Diagnostic::warning("conflict-copy", Span::default(), message).help(help)))
    });
    let of = |finding: &Finding| Some(((*shown.get(&finding.path)?).to_owned(), finding.diagnostic.clone()));
    graph.findings().iter().filter_map(of).chain(copies).collect()
}

/// What is wrong with the bookmarks of the vault: `None` where there are none, or they are not among the targets.
fn checked_bookmarks(cx: &Context<'_>, targets: &[Target]) -> Option<CheckedNote> {
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env).ok()?;
    let target =
        targets.iter().find(|it| vault.relative(&it.path).is_some_and(|path| path.text() == bookmarks::NOTE))?;
    let catalog = Catalog::read(&vault);
    let (text, diagnostics) =
        References { vault: &vault, catalog: &catalog, cx, home: None, snapshot: None }.bookmark_diagnostics().ok()?;
    let path = target.shown.clone();
    (!diagnostics.is_empty()).then(|| CheckedNote { path, text, diagnostics, ..CheckedNote::default() })
}

/// What is wrong with the vault's own templates.
fn templates(cx: &Context<'_>) -> Vec<CheckedNote> {
    let Ok(vault) = Vault::find_to_read(cx.vault_arg(), cx.env) else { return Vec::new() };
    let checked = |(path, diagnostic)| CheckedNote { path, diagnostics: vec![diagnostic], ..CheckedNote::default() };
    Template::faults(&vault).into_iter().map(checked).collect()
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &VaultPath) -> String {
    let text = path.to_string();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// What is wrong in a note; `None` where it is not ours.
fn check(target: &Target, args: &Args, cx: &Context<'_>) -> Result<Option<CheckedNote>> {
    let mut bytes = files::read_note(&target.path)?;
    let is_ours = is_ours(&String::from_utf8_lossy(&bytes));
    if !is_ours && !target.named {
        return Ok(None);
    }
    let mut fixes = Vec::new();
    let mut diff = String::new();
    if args.fix && is_ours {
        let stem = target.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (mended, done) = session::fix::fix(&bytes, &stem);
        if mended != bytes {
            let (old, new) = (String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&mended));
            diff = super::output::note_diff(&old, &new, 0);
            bytes = if args.dry_run { mended } else { put(target, &stem, &bytes, mended, cx)? };
        }
        fixes = done;
    }
    let note = Note::parse(bytes);
    let (_, mut diagnostics) = session::read::session(&note);
    diagnostics.extend_from_slice(note.diagnostics());
    diagnostics.extend(session::read::damage(&note));
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    diagnostics.dedup();
    Ok(Some(CheckedNote {
        path: target.shown.clone(),
        text: session::Public::of(&note).shown(),
        diagnostics,
        fixes,
        diff,
    }))
}

/// Writes a mended note: that of a session in a vault as a write that can be taken back. What it has become.
fn put(target: &Target, stem: &str, old: &[u8], mended: Vec<u8>, cx: &Context<'_>) -> Result<Vec<u8>> {
    let (meta, _) = session::read::written_meta(&String::from_utf8_lossy(&mended));
    let vault = Vault::find(cx.vault_arg(), cx.env).ok().filter(|_| meta.is_session());
    let Some((path, vault)) = vault.and_then(|vault| Some((vault.relative(&target.path)?, vault))) else {
        return files::replace(&target.path, old, &mended).map(|()| mended);
    };
    let (state, id) = (State::of(&vault, cx.env)?, meta.session_id.unwrap_or_else(|| stem.to_owned()));
    let writer = Writer::new(&vault, &state, cx.env.now());
    writer.rewrite(&state::key(&id), &path, "check --fix", &mut |now| Ok(session::fix::fix(now, stem).0))?;
    files::read_note(&target.path)
}

/// Whether a note is of a kind that cru writes and reads. Where a conflict stands in or before the frontmatter, its lines
/// are looked at one by one.
fn is_ours(text: &str) -> bool {
    const KINDS: [&str; 4] = ["session", "workflow", "case", "lesson"];
    let is_kind = |kind: &str| KINDS.contains(&kind.trim().trim_matches(['"', '\'']).to_ascii_lowercase().as_str());
    let (meta, _) = session::read::meta(text);
    if meta.kind.as_deref().is_some_and(is_kind) {
        return true;
    }
    let text = text.trim_start_matches('\u{feff}');
    // Lines of a frontmatter that are looked at.
    let head = text.lines().take(2_000).take_while(|line| !line.starts_with("# "));
    let mut is_conflicted = false;
    let mut says_kind = false;
    for line in head {
        is_conflicted |= line.starts_with("<<<<<<<");
        says_kind |= line.strip_prefix("type:").is_some_and(is_kind);
    }
    is_conflicted && says_kind
}

/// A note with what is wrong in it.
#[derive(Default)]
pub(super) struct CheckedNote {
    /// Its path as it is shown.
    pub(super) path: String,
    /// What the spans of the diagnostics are places in.
    pub(super) text: String,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What was mended, in words and as a difference of lines.
    pub(super) fixes: Vec<String>,
    pub(super) diff: String,
}

struct CheckReport {
    notes: Vec<CheckedNote>,
    dry_run: bool,
    verbose: bool,
}

impl CheckReport {
    fn count(&self, severity: Severity) -> u64 {
        self.notes.iter().flat_map(|note| &note.diagnostics).filter(|it| it.severity == severity).count() as u64
    }
}

/// One remark, for programs.
#[derive(Serialize)]
struct CheckRow<'a> {
    path: &'a str,
    line: usize,
    column: usize,
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
}

impl Output for CheckReport {
    fn text(&self, view: &View) -> String {
        let mut text = String::new();
        for note in self.notes.iter().filter(|note| !note.fixes.is_empty()) {
            let verb = if self.dry_run { "would fix" } else { "fixed" };
            let _ = writeln!(text, "{} {}", paint(style::GOOD, verb), paint(style::TITLE, &note.path));
            for fix in &note.fixes {
                let _ = writeln!(text, "  {fix}");
            }
            text.push_str(&style::diff(&note.diff, "    "));
            text.push('\n');
        }
        for note in &self.notes {
            let lines = Lines::of(&note.text);
            for diagnostic in note.diagnostics.iter().filter(|it| self.verbose || it.severity > Severity::Info) {
                text.push_str(&frame::render(&note.path, &note.text, &lines, diagnostic, view));
                text.push_str("\n\n");
            }
        }
        let notes = plural(self.notes.len() as u64, "note");
        let found = frame::verdict(self.count(Severity::Error), self.count(Severity::Warning));
        let _ = writeln!(text, "{notes}: {found}");
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut rows = Vec::new();
        for note in &self.notes {
            let lines = Lines::of(&note.text);
            for diagnostic in &note.diagnostics {
                let (line, column) = lines.place(&note.text, diagnostic.span.start);
                rows.push(serde_json::to_value(CheckRow { path: &note.path, line, column, diagnostic })?);
            }
        }
        let fixes: Vec<_> = self.notes.iter().filter(|note| !note.fixes.is_empty()).collect();
        let fixes: Vec<_> =
            fixes.iter().map(|note| serde_json::json!({ "path": note.path, "fixes": note.fixes })).collect();
        Ok(serde_json::json!({
            "schema": 1,
            "notes": self.notes.len(),
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "fixed": fixes,
            "diagnostics": rows,
        }))
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.count(Severity::Error) > 0)
    }
}
