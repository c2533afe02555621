//! `cru import memories`: memory files of Serena and SuperClaude as notes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::sync::memories::{MemoryFolder, MemoryImport, MemoryReport, folders};
use crate::trace::ProjectRoots;
use crate::vault::{Catalog, State, UserConfig, Vault};

/// The word that stands where an agent's name does.
pub(super) const WORD: &str = "memories";

pub(super) fn run(paths: &[PathBuf], restore: bool, dry_run: bool, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault =
        if dry_run { Vault::find_to_read(cx.vault_arg(), cx.env) } else { Vault::find(cx.vault_arg(), cx.env) }?;
    let state = if dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    let mut found: Vec<MemoryFolder> = Vec::new();
    for path in paths {
        let path = cx.absolute(path);
        let of_path = folders(&std::fs::canonicalize(&path).unwrap_or(path.clone()));
        if of_path.is_empty() {
            return Err(Error::no(format!("no memories in {}", sanitise(&path.to_string_lossy())))
                .with_hint("name a project with `.serena/memories` or `docs/memory`, or such a folder"));
        }
        found.extend(of_path);
    }
    if paths.is_empty() {
        found = of_machine(&vault, cx)?;
    }
    if found.is_empty() {
        return Err(Error::no(
            "no memories of Serena or SuperClaude in this folder, in the projects of your sessions or in ~/.serena",
        )
        .with_hint("`cru import memories PROJECT` reads them from elsewhere"));
    }
    let import = MemoryImport { vault: &vault, state: &state, env: cx.env, restore, dry_run };
    let report = import.run(&found)?;
    Ok(Box::new(ImportedMemories { schema: 1, dry_run, report }))
}

/// Those of this folder, of all projects with sessions, and those of no project.
fn of_machine(vault: &Vault, cx: &Context<'_>) -> Result<Vec<MemoryFolder>> {
    let (user, _) = UserConfig::read(cx.env)?;
    let roots = ProjectRoots::new(&user.projects, cx.env);
    let catalog = Catalog::read(vault);
    let named: BTreeSet<&str> = catalog.sessions().filter_map(|head| head.meta.project.as_deref()).collect();
    let projects = named.into_iter().filter_map(|project| roots.root(project));
    let here =
        cx.env.cwd().ancestors().take_while(|folder| Some(*folder) != cx.env.home()).map(std::path::Path::to_owned);
    let all: BTreeSet<PathBuf> = projects.chain(here).collect();
    let mut found: Vec<MemoryFolder> = all.iter().flat_map(|path| folders(path)).collect();
    let global = cx.env.home().map(|home| home.join(".serena/memories/global")).filter(|path| path.is_dir());
    found.extend(global.iter().flat_map(|path| folders(path)));
    Ok(found)
}

#[derive(Debug, Serialize)]
struct ImportedMemories {
    schema: u32,
    dry_run: bool,
    #[serde(flatten)]
    report: MemoryReport,
}

impl PlainOutput for ImportedMemories {
    fn shown(&self, _: &View) -> String {
        let MemoryReport { made, updated, unchanged, deleted, left } = &self.report;
        let would = if self.dry_run { "would be " } else { "" };
        let mut text = String::new();
        for (notes, what) in [(made, "made"), (updated, "updated")] {
            if !notes.is_empty() {
                let _ = writeln!(text, "{} {would}{what}", plural(notes.len() as u64, "note"));
            }
            for note in notes {
                let _ = writeln!(text, "  {}", paint(style::DIM, sanitise(note)));
            }
        }
        if *unchanged > 0 {
            let _ = writeln!(text, "{} unchanged", plural(*unchanged, "note"));
        }
        for file in deleted {
            let _ = writeln!(text, "{}: its note is gone; --restore makes it again", sanitise(file));
        }
        for (file, why) in left {
            let _ = writeln!(text, "{}: {}", sanitise(file), sanitise(why));
        }
        text
    }

    fn code(&self) -> u8 {
        if self.report.left.is_empty() { 0 } else { 2 }
    }
}
