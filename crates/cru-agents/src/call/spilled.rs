//! Answers that a host put into a file of its own, for their size: `tool-results/` beside the transcript.
//!
//! The record says where that was on the machine that wrote it. Only a file of that name in such a folder of the host
//! is read, below the folders that the transcript lies in.

use std::path::{Component, Path, PathBuf};

/// The folders of such files.
const FOLDERS: [&str; 4] = ["tool-results", "tool-outputs", "tool-output", "tool_outputs"];
/// What hosts write before the place.
const SAYS: [&str; 5] = [
    "Full output saved to: ",
    "full output see: ",
    "Full output available at: ",
    "full output available at: ",
    "Output has been saved to ",
];
/// Folders above a transcript that are looked into.
const ABOVE: usize = 4;
/// A larger file is not read.
const LARGEST: u64 = 64 << 20;

/// The whole of an answer, where the record names a file that is still there. `named`: the place, where the record says
/// it beside the text.
pub(crate) fn whole(output: &str, named: Option<&str>, transcript: &Path) -> Option<String> {
    let below = below(named.or_else(|| place(output))?)?;
    let own = transcript.with_extension("");
    let folders = std::iter::once(own.as_path()).chain(transcript.ancestors().skip(1).take(ABOVE));
    let file = folders.map(|folder| folder.join(&below)).find(|path| path.is_file())?;
    let bytes = cru_base::files::read_regular(&file, LARGEST).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The place that an answer names.
fn place(output: &str) -> Option<&str> {
    let (_, rest) = SAYS.iter().find_map(|says| output.split_once(says))?;
    rest.lines().next().map(|line| line.trim().trim_end_matches('.'))
}

/// The end of a path from the folder of such files on.
fn below(path: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let at = parts.iter().rposition(|part| FOLDERS.contains(part))?;
    let below: PathBuf = parts.get(at..)?.iter().collect();
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && parts.len() > at + 1).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_host_alone_are_read() {
        let temp = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| cru_base::files::create(&temp.path().join(name), text.as_bytes()).unwrap();
        write("p/s1/tool-results/b.txt", "all of it");
        write("p/tool-outputs/x/c.txt", "more");
        write("p/secret.txt", "secret");
        let transcript = temp.path().join("p/s1.jsonl");
        let of = |output: &str, named: Option<&str>| whole(output, named, &transcript);
        let says = "Output too large (80KB). Full output saved to: /home/mia/.claude/projects/p/s1/tool-results/b.txt\n\nPreview";
        assert_eq!(of(says, None).as_deref(), Some("all of it"));
        assert_eq!(of("", Some("C:\\x\\s1\\tool-results\\b.txt")).as_deref(), Some("all of it"));
        let saved = "Error: result (9 characters) exceeds maximum allowed tokens. Output has been saved to /x/tool-results/b.txt.\nFormat: text";
        assert_eq!(of(saved, None).as_deref(), Some("all of it"));
        assert_eq!(of("For full output see: /t/tool-outputs/x/c.txt", None).as_deref(), Some("more"));
        let agent = temp.path().join("p/s1/subagents/agent-1.jsonl");
        assert_eq!(whole(says, None, &agent).as_deref(), Some("all of it"));
        for named in ["/p/secret.txt", "tool-results/../secret.txt", "tool-results/", "/x/tool-results/gone.txt", ""] {
            assert_eq!(of("", Some(named)), None, "{named}");
        }
    }
}
