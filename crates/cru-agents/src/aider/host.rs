//! Lines that the program itself says, and what they tell.

use cru_session::event::Usage;

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

    #[test]
    fn table_of_lines() {
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
