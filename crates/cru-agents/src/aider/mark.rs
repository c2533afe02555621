//! What a line of a history is, by how it begins and ends and where it stands.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::host;

/// How a run begins.
const START: &str = "# aider chat started at ";

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AiderMark<'l> {
    /// A run begins.
    Start,
    /// Nothing.
    Blank,
    /// A line of a prompt, without its mark.
    Prompt(&'l str),
    /// A line of the program, without its mark.
    Host(&'l str),
    /// Words of the model.
    Text,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stand {
    /// The model has begun to speak.
    pub(super) in_reply: bool,
    /// In a fence or an edit of it.
    pub(super) inside: bool,
    /// The line before was blank.
    pub(super) after_blank: bool,
}

/// Whether a file is a history: its first line that says anything begins a run.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // A slice may begin within a run; then the name must say the rest.
    let named = path.to_string_lossy().ends_with("aider.chat.history.md");
    lines.next().is_some_and(|line| started(line).is_some()) || (named && lines.any(|line| started(line).is_some()))
}

/// When a run began, where a line says so: the local time, taken for that of UTC.
pub(super) fn started(line: &str) -> Option<Timestamp> {
    let time: DateTime = line.strip_prefix(START)?.trim_end().parse().ok()?;
    time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
}

/// What a line is that stands there.
pub(super) fn mark(line: &str, stand: Stand) -> AiderMark<'_> {
    if line.trim().is_empty() {
        return AiderMark::Blank;
    }
    if line.starts_with('#') && started(line).is_some() {
        return AiderMark::Start;
    }
    let ends_so = line.ends_with("  ");
    let rest = line.strip_prefix("####").filter(|rest| rest.is_empty() || rest.starts_with(' '));
    if let Some(words) = rest.filter(|_| !stand.in_reply || (ends_so && stand.after_blank)) {
        let words = words.strip_prefix(' ').unwrap_or(words).trim_end();
        // An answer to a question of the program is logged like a prompt.
        return if host::is_question(words) { AiderMark::Host(words) } else { AiderMark::Prompt(words) };
    }
    if let Some(said) = line.strip_prefix('>') {
        let said = said.trim();
        let is_host = match (stand.in_reply, stand.inside) {
            (false, _) => true,
            (true, false) => ends_so || host::is_known(said),
            (true, true) => ends_so && host::ends_reply(said),
        };
        if is_host {
            return AiderMark::Host(said);
        }
    }
    AiderMark::Text
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: Stand = Stand { in_reply: true, inside: false, after_blank: true };
    const FENCE: Stand = Stand { inside: true, ..REPLY };

    #[test]
    fn table_of_lines() {
        let rows = [
            ("# aider chat started at 2026-01-02 03:04:05", FENCE, AiderMark::Start),
            ("# aider chat started at noon", Stand::default(), AiderMark::Text),
            ("  ", REPLY, AiderMark::Blank),
            ("#### fix it  ", Stand::default(), AiderMark::Prompt("fix it")),
            ("#### fix it", Stand::default(), AiderMark::Prompt("fix it")),
            ("####  two", Stand::default(), AiderMark::Prompt(" two")),
            ("#### fix it  ", REPLY, AiderMark::Prompt("fix it")),
            ("#### Step 1", REPLY, AiderMark::Text),
            ("#### Step 1  ", Stand { after_blank: false, ..REPLY }, AiderMark::Text),
            ("#### Run it? (Y)es/(N)o [Yes]: y  ", REPLY, AiderMark::Host("Run it? (Y)es/(N)o [Yes]: y")),
            ("#####", Stand::default(), AiderMark::Text),
            ("> Aider v1  ", Stand::default(), AiderMark::Host("Aider v1")),
            ("> quoted", REPLY, AiderMark::Text),
            ("> Applied edit to a.py", REPLY, AiderMark::Host("Applied edit to a.py")),
            ("> Some notice  ", REPLY, AiderMark::Host("Some notice")),
            ("> Some notice  ", FENCE, AiderMark::Text),
            ("> Tokens: 1k sent, 2 received.  ", FENCE, AiderMark::Host("Tokens: 1k sent, 2 received.")),
            ("words", Stand::default(), AiderMark::Text),
        ];
        for (line, stand, wanted) in rows {
            assert_eq!(mark(line, stand), wanted, "{line} {stand:?}");
        }
    }

    #[test]
    fn by_content() {
        let is = |name: &str, head: &str| recognise(Path::new(name), head.as_bytes());
        assert!(is("x.md", "\n# aider chat started at 2026-01-02 03:04:05\n"));
        assert!(is(".aider.chat.history.md", "words\n# aider chat started at 2026-01-02 03:04:05\n"));
        assert!(!is("x.md", "words\n# aider chat started at 2026-01-02 03:04:05\n"));
        assert!(!is(".aider.chat.history.md", "# aider chat started at some time\n"));
        assert!(!is(".aider.chat.history.md", ""));
    }
}
