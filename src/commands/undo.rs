//! `cru undo`.

use std::fmt::Write as _;

use serde::Serialize;

use super::output::style::{self, paint};
use super::output::{Align, Cell, Table, minute};
use super::{Context, Output, PlainOutput, View};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::sync::archive;
use crate::sync::rename::{self, RenameGround};
use crate::vault::resolve::host_sessions;
use crate::vault::writer::{Past, Which};
use crate::vault::{Catalog, Head, State, Vault, VaultPath, Writer, state};

/// Undo the last write to a session
///
/// Of the session that a command wrote to last (a host's own, or `CRU_SESSION`, where it is called within one); what hooks
/// bring in is passed over. A rename is taken back with the file's name and the links to it. Only what cru wrote on this machine, and only where nobody has edited it since; everything else in the note stays
/// as it is. An undoing is a write too: `cru undo --write` with its revision brings back what it took.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of this session, not the one that was last written to
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Show what was written, newest first, and undo nothing
    #[arg(short, long, conflicts_with_all = ["write", "dry_run"])]
    list: bool,
    /// How many writes to undo, or to list
    #[arg(short = 'n', value_name = "N", conflicts_with = "write")]
    number: Option<usize>,
    /// Undo the write that made this revision, `r7`
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    write: Option<u64>,
    /// Show what would be undone and undo nothing
    #[arg(long)]
    dry_run: bool,
}

fn revision(text: &str) -> Result<u64, String> {
    text.strip_prefix('r').unwrap_or(text).parse().map_err(|_| "a revision is a number, as `r7`".to_owned())
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let state = State::of(&vault, cx.env)?;
    let writer = Writer::new(&vault, &state, cx.env.now());
    let head = session(args, &catalog, &vault, &writer, &state, cx)?;
    let (session, key) = (head.id(), state::key(&head.id()));
    if args.list {
        let mut writes = writer.history(&key)?;
        writes.reverse();
        writes.truncate(args.number.unwrap_or(usize::MAX));
        if writes.is_empty() {
            cx.ui.note("nothing was written to this session on this machine");
        }
        return Ok(Box::new(WriteList { schema: 1, session, writes }));
    }
    let which = args.write.map_or(Which::Newest(args.number.unwrap_or(1)), Which::Revision);
    let mut undone = writer.undo(&key, &head.path, which, true)?;
    let named = undone.writes.iter().rev().find(|past| past.root_label == rename::LABEL);
    // The name that the note had when the first of them was written; the folder is where it is now.
    let name = named.and_then(|past| VaultPath::new(&past.note)).and_then(|path| beside(&head.path, &path));
    let name = name.filter(|name| *name != head.path);
    if let Some(name) = name.as_ref().filter(|name| vault.file(name).exists()) {
        return Err(Error::no(format!("{name} exists, so the note cannot have that name again"))
            .with_hint("`cru session rename` gives it another"));
    }
    // Of an archived note the file goes back to where it was.
    let home = undone.writes.iter().rev().find(|past| past.root_label == archive::LABEL);
    let home = home.and_then(|past| VaultPath::new(&past.note)).filter(|home| name.is_none() && *home != head.path);
    if let Some(home) = home.as_ref().filter(|home| vault.file(home).exists()) {
        return Err(Error::no(format!("{home} exists, so the note cannot go back there")));
    }
    if !args.dry_run {
        undone = writer.undo(&key, &head.path, which, false)?;
    }
    let mut path = head.path.to_string();
    let mut renamed = None;
    if let Some(name) = name {
        let ground = RenameGround { vault: &vault, catalog: &catalog, state: &state, now: cx.env.now() };
        let moved = ground.rename_file(head, &name, args.dry_run)?;
        for (path, why) in &moved.failed {
            cx.ui.warn(&format!("links in {path} are as they were: {why}"));
        }
        if !args.dry_run {
            path = name.to_string();
        }
        renamed = Some(RenamedBack { from: moved.from, to: moved.to, links: moved.links });
    }
    if let Some(home) = home {
        if !args.dry_run {
            RenameGround { vault: &vault, catalog: &catalog, state: &state, now: cx.env.now() }
                .put_back(head, &home)?;
        }
        renamed = Some(RenamedBack { from: path.clone(), to: home.to_string(), links: 0 });
        if !args.dry_run {
            path = home.to_string();
        }
    }
    let diff = super::output::note_diff(&undone.before, &undone.after, 1);
    let (revision, undone) = (undone.revision, undone.writes);
    Ok(Box::new(UndoReport {
        schema: 1,
        is_named: args.session.is_some(),
        session,
        path,
        revision,
        undone,
        renamed,
        diff,
    }))
}

/// The file name of `name` in the folder of `path`.
fn beside(path: &VaultPath, name: &VaultPath) -> Option<VaultPath> {
    let folder = path.as_path().parent().unwrap_or_else(|| std::path::Path::new(""));
    VaultPath::new(folder.join(name.as_path().file_name()?))
}

/// The session that is named, or that a host or `CRU_SESSION` names; else the one that was last written to by a command,
/// which may be another than the current one: `cru session rename` takes any. A write that is named or listed may be undone.
fn session<'a>(
    args: &Args,
    catalog: &'a Catalog,
    vault: &Vault,
    writer: &Writer<'_>,
    state: &State,
    cx: &Context<'_>,
) -> Result<&'a Head> {
    if let Some(name) = &args.session {
        return catalog.session(name, vault, cx.env);
    }
    let is_told = cx.env.var("CRU_SESSION").is_some() || host_sessions(cx.env).next().is_some();
    let current = catalog.current(vault, cx.env);
    if is_told {
        let none = || Error::usage("no session is active").with_hint("name it: `cru undo --session <session>`");
        return current?.ok_or_else(none);
    }
    let current = current.ok().flatten();
    let is_any = args.list || args.write.is_some();
    match newest(catalog, current, writer, state, is_any)? {
        Some(head) => {
            if current.is_none_or(|current| current.path != head.path) {
                cx.ui.note(&format!("the last command wrote to {}; --session names another", head.id()));
            }
            Ok(head)
        }
        None => current.ok_or_else(|| {
            Error::no("nothing to undo: no write of a command to a session stands in this vault on this machine")
                .with_hint("`cru import --undo` takes an import back; `cru undo --session <session>` names a session")
        }),
    }
}

/// The session to which a command wrote last, what stands or, with `is_any`, anything; the current one where two did at the same
/// moment.
fn newest<'a>(
    catalog: &'a Catalog,
    current: Option<&'a Head>,
    writer: &Writer<'_>,
    state: &State,
    is_any: bool,
) -> Result<Option<&'a Head>> {
    let changed = |head: &&Head| {
        let log = std::fs::metadata(state.operations(&state::key(&head.id())));
        log.and_then(|it| it.modified()).ok()
    };
    let mut heads: Vec<(std::time::SystemTime, &Head)> =
        catalog.sessions().filter_map(|head| Some((changed(&head)?, head))).collect();
    heads.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut found: Option<((jiff::Timestamp, bool), &Head)> = None;
    // Logs that are read, those that were written last.
    for (_, head) in heads.into_iter().take(40) {
        let is_current = current.is_some_and(|current| current.path == head.path);
        let writes = writer.history(&state::key(&head.id()))?;
        let Some(last) = writes.iter().rev().find(|past| past.may_be_meant() || is_any && !past.is_of_host()) else {
            continue;
        };
        let worth = (last.time, is_current);
        if found.is_none_or(|(known, _)| worth > known) {
            found = Some((worth, head));
        }
    }
    Ok(found.map(|(_, head)| head))
}

#[derive(Debug, Serialize)]
struct WriteList {
    schema: u32,
    session: String,
    writes: Vec<Past>,
}

impl PlainOutput for WriteList {
    fn shown(&self, view: &View) -> String {
        if self.writes.is_empty() {
            return String::new();
        }
        let columns = [("WRITE", Align::Right), ("TIME", Align::Left), ("BY", Align::Left), ("WHAT", Align::Left)];
        let mut table = Table::new(&columns);
        for past in &self.writes {
            let look = if past.undone { style::DIM } else { style::ID };
            let mut what = past.what.first().cloned().unwrap_or_default();
            if past.what.len() > 1 {
                let _ = write!(what, " (+{})", past.what.len() - 1);
            }
            if past.undone {
                what = format!("undone: {what}");
            }
            table.row([
                Cell::new(format!("r{}", past.revision)).style(look),
                Cell::new(minute(past.time, &view.zone)),
                Cell::new(&past.label),
                Cell::new(what),
            ]);
        }
        table.render(view)
    }
}

#[derive(Debug, Serialize)]
struct UndoReport {
    schema: u32,
    #[serde(skip)]
    is_named: bool,
    session: String,
    path: String,
    /// Of the undoing; absent when it was only looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    undone: Vec<Past>,
    /// The name that the note has again.
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed: Option<RenamedBack>,
    diff: String,
}

#[derive(Debug, Serialize)]
struct RenamedBack {
    from: String,
    to: String,
    /// Links that were rewritten.
    links: usize,
}

impl PlainOutput for UndoReport {
    fn shown(&self, view: &View) -> String {
        let verb = if self.revision.is_some() { "undid" } else { "would undo" };
        let mut text = String::new();
        for past in &self.undone {
            let what = plural(past.what.len() as u64, "change");
            let write = format!("r{} {}", past.revision, past.label);
            let _ = writeln!(
                text,
                "{verb} {}  {}, {what}",
                paint(style::ID, sanitise(&write)),
                minute(past.time, &view.zone)
            );
        }
        text.push_str(&style::diff(&self.diff, "    "));
        if let Some(renamed) = &self.renamed {
            let verb = if self.revision.is_some() { "renamed" } else { "would rename" };
            let (from, to) = (sanitise(&renamed.from), sanitise(&renamed.to));
            let _ = writeln!(text, "{verb} {from} to {to}, {}", plural(renamed.links as u64, "link"));
        }
        if let Some(revision) = self.revision {
            let named = if self.is_named { format!(" --session {}", self.session) } else { String::new() };
            let again = format!("`cru undo --write r{revision}{named}` takes that back");
            let _ = writeln!(text, "{}", paint(style::DIM, again));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::base::{Env, files};
    use crate::commands::{Cli, Command, Progress, Ui};
    use crate::session::op::Op;
    use crate::vault::writer::Plan;

    struct Quiet;

    impl Ui for Quiet {
        fn warn(&self, _: &str) {}
        fn note(&self, _: &str) {}
        fn detail(&self, _: &str) {}
        fn progress(&self, _: &str, _: u64) -> Box<dyn Progress> {
            unreachable!("there is none")
        }
    }

    const NOTE: &str = "---\ntype: session\nsession_id: s\nstatus: active\n---\n# S\n\n## Build\n\nText.\n";

    struct World {
        dir: tempfile::TempDir,
        env: Env,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            files::create_dir(&dir.path().join("vault/.cru")).unwrap();
            files::create(&dir.path().join("vault/s.md"), NOTE.as_bytes()).unwrap();
            let home = dir.path().join("home");
            let vars = [("XDG_STATE_HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", "/nonexistent")];
            let env = Env::fixed("2026-11-21T12:00:00Z".parse().unwrap(), dir.path().join("vault"), &vars);
            Self { dir, env }
        }

        fn write(&self, number: u32) {
            let vault = Vault::open(&self.dir.path().join("vault")).unwrap();
            let state = State::of(&vault, &self.env).unwrap();
            let note = VaultPath::new("s.md").unwrap();
            let text = format!("> [!decision] Number {number}\n> Because.\n\n^d-00{number}\n");
            let plan =
                Plan { ops: vec![Op::Append { phase: None, text }], label: "log decision".into(), ..Plan::default() };
            let writer = Writer::new(&vault, &state, self.env.now());
            writer.write("s", &note, &mut |_, _| Ok(plan.clone())).unwrap();
        }

        fn text(&self) -> String {
            String::from_utf8(files::read(&self.dir.path().join("vault/s.md")).unwrap()).unwrap()
        }

        fn undo(&self, line: &str) -> Result<Box<dyn Output>> {
            let cli = Cli::try_parse_from(["cru", "undo"].into_iter().chain(line.split_whitespace())).unwrap();
            let cx = Context { env: &self.env, global: &cli.global, ui: &Quiet };
            match cli.command {
                Command::Undo(args) => run(&args, &cx),
                _ => unreachable!("the line begins with it"),
            }
        }

        fn says(&self, line: &str) -> String {
            anstream::adapter::strip_str(&self.undo(line).unwrap().text(&View::plain())).to_string()
        }
    }

    #[test]
    fn what_it_says() {
        let world = World::new();
        world.write(1);
        world.write(2);
        let before = world.text();
        let mut said = world.says("--dry-run");
        assert_eq!(world.text(), before);
        for line in ["", "--list", "--write r3", "--list -n 2", "-n 2"] {
            said.push_str(&format!("$ cru undo {line}\n{}", world.says(line)));
        }
        insta::assert_snapshot!(said);
        assert!(world.text().ends_with("## Build\n\nText.\n"), "{}", world.text());
    }

    #[test]
    fn programs_are_told_the_same() {
        let world = World::new();
        world.write(1);
        let list = world.undo("--list").unwrap().json().unwrap();
        assert_eq!(list["writes"][0]["what"][0], "> [!decision] Number 1");
        let report = world.undo("--session s").unwrap().json().unwrap();
        assert_eq!((&report["revision"], &report["undone"][0]["revision"]), (&2.into(), &1.into()));
        assert!(report["diff"].as_str().unwrap().contains("-> Because."));
    }

    #[test]
    fn what_it_refuses() {
        let world = World::new();
        assert_eq!(world.undo("").err().unwrap().to_string(), "nothing to undo");
        world.write(1);
        let path = world.dir.path().join("vault/s.md");
        files::put(&path, world.text().replace("Because.", "Because I say so.").as_bytes()).unwrap();
        let error = world.undo("").err().unwrap();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("r1 cannot be undone"), "{error}");
        assert!(Cli::try_parse_from(["cru", "undo", "--write", "x"]).is_err());
    }
}
