//! What in somebody's words was pasted: output of programs, code, data. Told by its shape.

/// Bytes of a line that tell whether it was pasted.
const TELLING: usize = 400;

/// Whether a line opens or closes a fence.
pub fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a line, trimmed, looks like the output of a program, code or data rather than words.
pub fn is_pasted(line: &str) -> bool {
    // A line of words can be as long as all that somebody said; its beginning tells.
    let long = line.len() > TELLING;
    let whole = line;
    let line = &line[..cru_base::lines::floor_char_boundary(line, TELLING)];
    let (told, all) = if line.is_ascii() {
        (line.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b' ').count(), line.len())
    } else {
        (line.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count(), line.chars().count())
    };
    let fence = ["```", "~~~", "===", "---"].iter().any(|mark| line.starts_with(mark) || whole.ends_with(mark));
    let diff = ["diff --git ", "index ", "+++ ", "--- ", "@@ "].iter().any(|mark| line.starts_with(mark));
    let log = ["ERROR", "error:", "error[", "FAILED", "Traceback", "warning:", "panic"]
        .iter()
        .any(|mark| line.starts_with(mark));
    // A line of code, or a place in it. People end an item of a list with a semicolon too.
    let few = line.split_whitespace().nth(3).is_none();
    let code = whole.ends_with('}')
        || (whole.ends_with(';') && (few || line.contains(['=', '(', '{', '"', '<'])))
        || (line.starts_with("at ") && line.contains(':'));
    // A line of a log: `01:12:38 Cloning`.
    let clock = matches!(line.as_bytes(), [b'0'..=b'2', b'0'..=b'9', b':', b'0'..=b'5', b'0'..=b'9', b':', ..]);
    let place = !long
        && !line.contains(char::is_whitespace)
        && line.rsplit(':').next().is_some_and(|end| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()))
        && line.contains(':')
        && !line.contains("://");
    let data = whole.ends_with(['[', '{', '(']) || (line.starts_with('"') && line.contains("\": "));
    let prompt = ["$ ", "% ", "➜ ", "❯ ", "PS ", ">>> "].iter().any(|mark| line.starts_with(mark));
    // What a shell shows before the cursor: `~/code/api (main)`.
    let shell = line.starts_with("~/") && line.ends_with(')') && line.split_whitespace().count() <= 2;
    fence
        || diff
        || log
        || code
        || place
        || clock
        || data
        || prompt
        || shell
        || line.starts_with(['<', '{', '|'])
        || (line.starts_with('[') && !is_item_or_link(line))
        || told * 5 < all * 3
}

/// Whether a line that begins with a bracket is an item of a checklist, or begins with a link.
fn is_item_or_link(line: &str) -> bool {
    ["[ ] ", "[x] ", "[X] ", "[["].iter().any(|mark| line.starts_with(mark)) || line.contains("](")
}

/// Whether words are mostly something that was pasted: no request stands in them that a heading could be made of.
pub fn is_mostly_pasted(words: &str) -> bool {
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = |line: &&&str| {
        let count = line.split_whitespace().count();
        (3..=60).contains(&count)
            && !is_pasted(line)
            && !line.contains("==")
            && !line.starts_with(['-', '*', '#', '✓', '✗', '='])
    };
    lines.len() > 5 && lines.iter().filter(sentence).count() * 2 < lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_output() {
        for line in [
            "fix it now",
            "Use the https address",
            "why is src/x.rs so slow?",
            "1. Move the pump",
            "[ ] the pump",
            "\"No\" is no answer",
            "first the pump, then the valve;",
            // A host's prompt takes a backslash for a new line, and keeps it.
            "Move the pump to the cellar \\",
        ] {
            assert!(!is_pasted(line), "{line}");
        }
        for line in [
            "diff --git a/x b/x",
            "at Object.open (fs.js:3:1)",
            "node:fs:443",
            "return x;",
            "01:12:38.208 Cloning into x",
            "➜ api git:(main) ✗ push the branch",
            "~/code/api (main)",
            "{\"a\": 1}",
            "\"a\": \"b\",",
            "[2026-01-02] started",
        ] {
            assert!(is_pasted(line), "{line}");
        }
    }
}
