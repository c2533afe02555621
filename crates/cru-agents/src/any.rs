//! Transcripts of any agent, told apart by what is in them.
//!
//! A file that a person names may have been copied anywhere and called anything, so each importer is asked, in the order
//! of the table; in a folder only files are opened whose name some importer knows. The sub-agents of a session that is
//! named come with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Found, IMPORTERS, Listed, UNREADABLE, head, is_named_so};
use cru_base::{Error, Result};
use cru_session::source::Importer;

/// What was found, by importer in the order of the table, and the files that are no transcript of any.
#[derive(Debug, Default)]
pub struct Any {
    /// One for each importer that knows something of it; without strangers.
    pub found: Vec<(&'static Importer, Found)>,
    /// Files that were named, or are called like transcripts, and are none; with the reason, in order.
    pub strangers: Vec<(PathBuf, &'static str)>,
    /// Files in the folders that are not named like transcripts of any agent, and were not looked into.
    pub others: u64,
}

/// Looks for transcripts of all agents under `paths`.
pub fn search(paths: &[PathBuf]) -> Result<Any> {
    let mut named = BTreeSet::new();
    let mut listed = Listed::default();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        if metadata.is_dir() {
            let is_meant = |path: &Path| IMPORTERS.iter().any(|importer| is_named_so(importer, path));
            super::below(path, &is_meant, &mut listed);
        } else {
            named.insert(path.clone());
        }
    }
    let Listed { files: found_below, unreadable, others } = listed;
    let mut any = Any { others, ..Any::default() };
    any.strangers.extend(unreadable.into_iter().map(|path| (path, UNREADABLE)));
    let mut known: BTreeMap<usize, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in found_below.union(&named).cloned().collect::<Vec<_>>() {
        let head = match head(&path) {
            Ok(head) => head,
            Err(reason) => {
                any.strangers.push((path, reason));
                continue;
            }
        };
        let knows = |importer: &&Importer| (importer.recognise)(&path, &head);
        // By its usual name first: formats that resemble each other are mostly called differently.
        let by_name = IMPORTERS.iter().position(|it| is_named_so(it, &path) && knows(&it));
        let by_content = || IMPORTERS.iter().position(|it| knows(&it)).filter(|_| named.contains(&path));
        match by_name.or_else(by_content) {
            Some(at) => {
                let beside = if named.contains(&path) { (IMPORTERS[at].beside)(&path) } else { Vec::new() };
                known.entry(at).or_default().extend(beside.into_iter().chain([path]));
            }
            None => any.strangers.push((path, "not a transcript of an agent that is known")),
        }
    }
    for (at, files) in known {
        let Some(importer) = IMPORTERS.get(at) else { continue };
        let bundles = (importer.bundle)(files.into_iter().collect())?;
        any.found.push((importer, Found { bundles, ..Found::default() }));
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_record_of_any_length_is_recognised() {
        let temp = tempfile::tempdir().unwrap();
        let long = "x".repeat(200_000);
        let records = [
            format!(
                "{{\"message\":{{\"role\":\"user\",\"content\":\"{long}\"}},\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}}"
            ),
            format!("{{\"payload\":{{\"base_instructions\":\"{long}\",\"id\":\"s\"}},\"type\":\"session_meta\"}}"),
        ];
        for (host, record) in ["claude", "codex"].into_iter().zip(records) {
            let file = temp.path().join(format!("{host}.jsonl"));
            cru_base::files::put(&file, format!("{record}\n").as_bytes()).unwrap();
            let found = search(&[file]).unwrap().found;
            assert_eq!(found.iter().map(|(importer, _)| importer.id).collect::<Vec<_>>(), [host]);
        }
    }

    #[test]
    fn sub_agents_come_with_the_session_that_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let line = |more: &str| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s\",{more}\"timestamp\":\"2026-01-01T10:00:00Z\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"go\"}}}}\n"
            )
        };
        let own = temp.path().join("s.jsonl");
        let agent = temp.path().join("s/subagents/agent-a.jsonl");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        cru_base::files::put(&own, line("").as_bytes()).unwrap();
        cru_base::files::put(&agent, line("\"agentId\":\"a\",\"isSidechain\":true,").as_bytes()).unwrap();
        let files = |found: &Found| found.bundles.iter().flat_map(|it| it.files.clone()).collect::<BTreeSet<_>>();
        let both = BTreeSet::from([own.clone(), agent]);
        for paths in [vec![own.clone()], vec![temp.path().to_owned()], vec![own.clone(), temp.path().to_owned()]] {
            let any = search(&paths).unwrap();
            assert_eq!(
                any.found.iter().map(|(_, found)| files(found)).collect::<Vec<_>>(),
                std::slice::from_ref(&both),
                "{paths:?}"
            );
            let claude = crate::find("claude").unwrap();
            assert_eq!(files(&crate::search(claude, &paths).unwrap()), both, "{paths:?}");
        }
    }
}
