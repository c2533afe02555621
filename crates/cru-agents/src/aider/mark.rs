//! What a line of a history is, by how it begins and ends and where it stands, and what lines of the program itself tell.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use cru_session::event::Usage;

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
        return if is_question(words) { AiderMark::Host(words) } else { AiderMark::Prompt(words) };
    }
    if let Some(said) = line.strip_prefix('>') {
        let said = said.trim();
        let is_host = match (stand.in_reply, stand.inside) {
            (false, _) => true,
            (true, false) => ends_so || is_known(said),
            (true, true) => ends_so && ends_reply(said),
        };
        if is_host {
            return AiderMark::Host(said);
        }
    }
    AiderMark::Text
}

/// What a line of the program tells.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AiderTold<'l> {
    /// Its version.
    Version(&'l str),
    /// The model that is used.
    Model(&'l str),
    /// Where it runs.
    Folder(&'l str),
    /// Tokens and dollars of one message.
    Tokens(Usage, Option<f64>),
    /// An edit was made.
    Applied(&'l str),
    /// An edit was not made, and why.
    NotApplied(&'l str, &'static str),
    /// A commit was made: its id and what it says.
    Commit(&'l str, &'l str),
    /// What follows says which edits did not fit.
    Report,
    /// The model service failed.
    Failure(&'l str),
    /// Nothing that a note shows; why.
    Nothing(&'static str),
}

/// Whether a line asks a person and holds the answer.
pub(super) fn is_question(said: &str) -> bool {
    said.contains("(Y)es/(N)o")
}

/// Whether a line of a reply that looks like one of the program's is one.
pub(super) fn is_known(said: &str) -> bool {
    const KNOWN: &[&str] = &["Creating empty file ", "Added ", "Retrying in ", "Committing "];
    !matches!(tell(said), AiderTold::Nothing(_) | AiderTold::Failure(_))
        || KNOWN.iter().any(|start| said.starts_with(start))
}

/// Whether a line ends a reply wherever it stands.
pub(super) fn ends_reply(said: &str) -> bool {
    matches!(tell(said), AiderTold::Tokens(..)) || said.starts_with("^C")
}

/// What a line tells.
pub(super) fn tell(said: &str) -> AiderTold<'_> {
    let behind = |head: &str| said.strip_prefix(head).map(str::trim).filter(|rest| !rest.is_empty());
    if let Some(version) = behind("Aider v") {
        return AiderTold::Version(version);
    }
    if let Some(model) = behind("Main model: ").or_else(|| behind("Model: ")) {
        return AiderTold::Model(model.split(" with ").next().unwrap_or(model));
    }
    if let Some(folder) = behind("Git working dir: ") {
        return AiderTold::Folder(folder);
    }
    if let Some(path) = behind("Applied edit to ") {
        return AiderTold::Applied(path);
    }
    if let Some(path) = behind("Skipping edits to ") {
        return AiderTold::NotApplied(path, "skipped");
    }
    if let Some(path) = behind("Did not apply edit to ") {
        return AiderTold::NotApplied(
            path.strip_suffix("(--dry-run)").map_or(path, str::trim),
            "not applied (--dry-run)",
        );
    }
    let is_sha = |sha: &str| (7..=40).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit = behind("Commit ").and_then(|rest| rest.split_once(' '));
    if let Some((sha, words)) = commit.filter(|(sha, _)| is_sha(sha)) {
        return AiderTold::Commit(sha, words.trim());
    }
    if said.starts_with("# ") && said.ends_with("failed to match!") {
        return AiderTold::Report;
    }
    if let Some((usage, cost)) = tokens(said) {
        return AiderTold::Tokens(usage, cost);
    }
    if said.starts_with("litellm.") {
        return AiderTold::Failure(said);
    }
    AiderTold::Nothing(match said {
        "" => "empty line of the program",
        _ if is_question(said) => "question of the program",
        _ if said.contains("/aider ") || said.ends_with("/aider") || said.ends_with("\\aider") => "command line",
        _ => "notice of the program",
    })
}

/// `Tokens: 2.4k sent, 1.2k cache hit, 91 received. Cost: $0.02 message, $0.10 session.`
fn tokens(said: &str) -> Option<(Usage, Option<f64>)> {
    let rest = said.strip_prefix("Tokens: ")?;
    let (counts, cost) = rest.split_once(" Cost: ").unwrap_or((rest, ""));
    let mut usage = Usage::default();
    for part in counts.trim_end_matches('.').split(", ") {
        let (number, what) = part.split_once(' ')?;
        let place = match what.trim_end_matches('.') {
            "sent" => &mut usage.input,
            "received" => &mut usage.output,
            "cache write" => &mut usage.cache_write,
            "cache hit" => &mut usage.cache_read,
            _ => continue,
        };
        *place = amount(number)?;
    }
    // What was sent holds what the cache gave or took.
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    usage.input = usage.input.checked_sub(cached).unwrap_or(usage.input);
    let cost = cost.split(' ').next().and_then(|cost| cost.strip_prefix('$')).and_then(|cost| cost.parse().ok());
    Some((usage, cost.filter(|cost: &f64| cost.is_finite() && *cost > 0.0)))
}

/// `518`, `7.7k`, `1.2M`: the program rounds what is large.
fn amount(text: &str) -> Option<u64> {
    let (number, factor) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let number: f64 = number.replace(',', "").parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    (number.is_finite() && number >= 0.0).then(|| (number * factor).round() as u64)
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

    #[test]
    fn table_of_marks() {
        let rows = [
            ("Aider v0.84.0", AiderTold::Version("0.84.0")),
            ("Main model: a/b with diff edit format, 32k think tokens", AiderTold::Model("a/b")),
            ("Git working dir: C:\\x", AiderTold::Folder("C:\\x")),
            ("Applied edit to src/a b.py", AiderTold::Applied("src/a b.py")),
            ("Did not apply edit to a.py (--dry-run)", AiderTold::NotApplied("a.py", "not applied (--dry-run)")),
            ("Commit 4ab3df9 chore: words", AiderTold::Commit("4ab3df9", "chore: words")),
            ("Commit to this", AiderTold::Nothing("notice of the program")),
            ("# 1 SEARCH/REPLACE block failed to match!", AiderTold::Report),
            ("/home/mia/bin/aider --openai-api-key x", AiderTold::Nothing("command line")),
            ("Add it? (Y)es/(N)o [Yes]: y", AiderTold::Nothing("question of the program")),
        ];
        for (said, wanted) in rows {
            assert_eq!(tell(said), wanted, "{said}");
        }
    }

    #[test]
    fn tokens_and_cost() {
        let of = |said: &str| tokens(said).map(|(usage, cost)| (usage.input, usage.output, usage.cache_read, cost));
        assert_eq!(
            of("Tokens: 7.7k sent, 41 received. Cost: $0.01 message, $0.02 session."),
            Some((7700, 41, 0, Some(0.01)))
        );
        assert_eq!(of("Tokens: 2,400 sent, 1k cache hit, 91 received."), Some((1400, 91, 1000, None)));
        assert_eq!(of("Tokens: many"), None);
        assert_eq!(of("Tokens: -3 sent"), None);
        assert_eq!(of("Tokens: ék sent"), None);
    }
}
