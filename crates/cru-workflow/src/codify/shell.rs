//! Shell commands cut into simple ones, and these into words.
//!
//! No shell is emulated: quotes, substitutions and here documents are only skipped over.

use cru_base::text::byte_table;

/// Words before the program that say nothing about it, with the number of their own arguments.
const WRAPPERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("time", 0),
    ("nice", 0),
    ("nohup", 0),
    ("exec", 0),
    ("env", 0),
    ("command", 0),
    ("timeout", 1),
    ("gtimeout", 1),
    ("npx", 0),
    ("bunx", 0),
    ("pnpx", 0),
    ("rtk", 0),
];

/// Two words that run a third.
const RUNNERS: &[[&str; 2]] =
    &[["uv", "run"], ["poetry", "run"], ["bundle", "exec"], ["pipenv", "run"], ["mise", "exec"], ["php", "artisan"]];

/// One simple command and the operator before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simple<'a> {
    /// `&&`, `||`, `;`, `|`, `\n`; `""` before the first.
    pub operator: &'a str,
    /// The command with its redirections.
    pub text: &'a str,
}

/// The bytes that can mean something to [`split`].
const MEANS: [bool; 256] = byte_table(b"\\'\"$#()<\n&|;");

/// Cuts a command at its operators, quotes and substitutions left whole; a here document belongs to its command.
pub(super) fn split(command: &str) -> Vec<Simple<'_>> {
    let bytes = command.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at, mut operator) = (0, 0, "");
    let (mut quote, mut depth) = (None::<u8>, 0_usize);
    let mut heredoc: Option<String> = None;
    while at < bytes.len() {
        // Most bytes mean nothing here.
        at += bytes[at..].iter().position(|byte| MEANS[usize::from(*byte)]).unwrap_or(bytes.len() - at);
        let Some(&byte) = bytes.get(at) else { break };
        if byte == b'\\' && quote != Some(b'\'') {
            at += 2;
            continue;
        }
        if let Some(open) = quote {
            // A message from a here document within quotes: the quotes in it close nothing.
            if byte == b'$'
                && open == b'"'
                && let Some(after) = command[at..].strip_prefix("$(cat <<")
                && let (Some(mark), Some(line)) = (here_mark(after), after.find('\n'))
            {
                at = here_end(command, at + (command.len() - at - after.len()) + line + 1, &mark);
                continue;
            }
            if byte == open {
                quote = None;
            }
            at += 1;
            continue;
        }
        if byte == b'#' && command.get(start..at).is_some_and(|before| before.trim().is_empty()) {
            // A comment: its apostrophes open nothing.
            at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            continue;
        }
        let twice = bytes.get(at + 1) == Some(&byte);
        let width = match byte {
            b'\'' | b'"' => {
                quote = Some(byte);
                0
            }
            b'(' => {
                depth += 1;
                0
            }
            b')' => {
                depth = depth.saturating_sub(1);
                0
            }
            b'<' if twice && bytes.get(at + 2) != Some(&b'<') => {
                heredoc = heredoc.or_else(|| here_mark(&command[at + 2..]));
                at += 1;
                0
            }
            b'\n' => match heredoc.take() {
                Some(mark) => {
                    at = here_end(command, at + 1, &mark);
                    continue;
                }
                None => 1,
            },
            b'&' if twice => 2,
            b'|' if twice => 2,
            // `2>&1`, `&>`: not an operator.
            b'&' if at > 0 && bytes[at - 1] == b'>' || bytes.get(at + 1) == Some(&b'>') => 0,
            b'|' | b';' | b'&' => 1,
            _ => 0,
        };
        if width == 0 || depth > 0 {
            at += 1;
            continue;
        }
        parts.push(Simple { operator, text: command[start..at].trim() });
        operator = &command[at..at + width];
        at += width;
        start = at;
    }
    parts.push(Simple { operator, text: command.get(start..).unwrap_or("").trim() });
    parts.retain(|part| !part.text.is_empty() && !part.text.starts_with('#'));
    parts
}

/// The mark of a here document from what follows `<<`.
pub(super) fn here_mark(text: &str) -> Option<String> {
    let text = text.trim_start_matches('-').trim_start();
    let mark: String =
        text.trim_start_matches(['\'', '"', '\\']).chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!mark.is_empty()).then_some(mark)
}

/// Offset behind the line that ends the here document which starts at `from`.
fn here_end(command: &str, from: usize, mark: &str) -> usize {
    let mut at = from;
    for line in command.get(from..).unwrap_or("").split_inclusive('\n') {
        at += line.len();
        if line.trim() == mark {
            // Its line end stays, as the end of the command.
            return at - usize::from(line.ends_with('\n'));
        }
    }
    at
}

/// The words that say what a simple command does: program first, wrappers, assignments and folders taken off.
pub(super) fn words(simple: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::with_capacity(24);
    if simple.is_ascii() {
        words.extend(simple.split_ascii_whitespace().take(24));
    } else {
        words.extend(simple.split_whitespace().take(24));
    }
    let mut from = 0;
    while let Some(word) = words.get(from) {
        let assignment = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if assignment || matches!(*word, "!" | "(" | "{") {
            from += 1;
        } else if let Some((_, own)) = WRAPPERS.iter().find(|(name, _)| name == word) {
            from += 1 + own;
            while words.get(from).is_some_and(|word| word.starts_with('-')) {
                from += 1;
            }
        } else if words.len() > from + 2 && RUNNERS.contains(&[words[from], words[from + 1]]) {
            from += 2;
        } else {
            break;
        }
    }
    words.drain(..from.min(words.len()));
    if let Some(first) = words.first_mut() {
        *first = first.trim_start_matches(['(', '&']).rsplit('/').next().unwrap_or("");
    }
    // Options between program and verb (`git -C dir log`, `cargo +nightly test`).
    while words.len() > 2 {
        let takes = match (words[0], words[1]) {
            ("git", "-C" | "-c")
            | ("npm" | "pnpm" | "yarn", "--prefix" | "-C" | "--dir" | "-w" | "--workspace")
            | ("make" | "go", "-C")
            | ("pnpm", "--filter" | "-F") => 2,
            ("pnpm", "exec" | "-r") | ("npm", "exec") | ("git", "--no-pager") => 1,
            ("cargo", word) if word.starts_with('+') => 1,
            _ => break,
        };
        words.drain(1..(1 + takes).min(words.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    fn texts(command: &str) -> Vec<&str> {
        split(command).iter().map(|part| part.text).collect()
    }

    #[test]
    fn splits_at_operators_only() {
        assert_eq!(
            texts("cd x && cargo test 2>&1 | tail -5; echo 'a && b' &"),
            ["cd x", "cargo test 2>&1", "tail -5", "echo 'a && b'"]
        );
        assert_eq!(
            texts("python - <<'EOF'\nif a && b: pass\nEOF\nls"),
            ["python - <<'EOF'\nif a && b: pass\nEOF", "ls"]
        );
        assert_eq!(
            texts("git commit -m \"$(cat <<'EOF'\na; b\nEOF\n)\""),
            ["git commit -m \"$(cat <<'EOF'\na; b\nEOF\n)\""]
        );
        assert_eq!(
            texts("git commit -m \"$(cat <<'EOF'\nSay \"no\"; b\nEOF\n)\" && git push"),
            ["git commit -m \"$(cat <<'EOF'\nSay \"no\"; b\nEOF\n)\"", "git push"]
        );
        assert_eq!(texts("x=$(ls; pwd) && y"), ["x=$(ls; pwd)", "y"]);
        assert_eq!(texts("\\"), ["\\"]);
        assert_eq!(texts("# don't\nls # now\n# end"), ["ls # now"]);
        assert_eq!(texts(" ; | "), Vec::<&str>::new());
    }
}
