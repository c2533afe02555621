//! Shell commands: their parts, what kind of deed each is, and the core that is worth repeating.
//!
//! A table says what well-known programs do; anything it does not know counts as run. No shell is emulated: quotes,
//! substitutions and here documents are only skipped over.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::program::PROGRAMS;
use crate::base::text::fold_whitespace;

/// What a deed is, least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Only looks, or prepares: `ls`, `git status`, `cd`.
    Look,
    /// Does something the table does not know.
    Run,
    /// Changes something that lasts: `git commit`, `npm install`.
    Change,
    /// Proves something: tests, builds, linters.
    Check,
    /// Changes a file through an editing tool.
    Edit,
}

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

/// Options with which a download program sends or keeps something.
const SENDING: &[&str] =
    &["-X", "-d", "-F", "-T", "-o", "-O", "--data", "--data-raw", "--request", "--form", "--output"];

/// One simple command and the operator before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simple<'a> {
    /// `&&`, `||`, `;`, `|`, `\n`; `""` before the first.
    pub operator: &'a str,
    /// The command with its redirections.
    pub text: &'a str,
}

/// Cuts a command at its operators, quotes and substitutions left whole; a here document belongs to its command.
pub(super) fn split(command: &str) -> Vec<Simple<'_>> {
    let bytes = command.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at, mut operator) = (0, 0, "");
    let (mut quote, mut depth) = (None::<u8>, 0_usize);
    let mut heredoc: Option<String> = None;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\\' && quote != Some(b'\'') {
            at += 2;
            continue;
        }
        if let Some(open) = quote {
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
        let two = command.get(at..at + 2).unwrap_or("");
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
            b'<' if two == "<<" && bytes.get(at + 2) != Some(&b'<') => {
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
            b'&' if two == "&&" => 2,
            b'|' if two == "||" => 2,
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
fn here_mark(text: &str) -> Option<String> {
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
    let mut words: Vec<&str> = simple.split_whitespace().take(24).collect();
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

/// What a simple command does.
pub(super) fn kind(simple: &str) -> Kind {
    let words = words(simple);
    let Some(program) = words.first() else { return Kind::Look };
    if is_assignment(simple) {
        return Kind::Look;
    }
    if matches!(words.get(1), Some(&("--version" | "version" | "--help" | "-h" | "help"))) {
        return Kind::Look;
    }
    if *program == "rm" && words.iter().skip(1).filter(|word| !word.starts_with('-')).all(|path| is_scratch(path)) {
        return Kind::Look;
    }
    if matches!(*program, "curl" | "wget") && words.iter().any(|word| SENDING.contains(word)) {
        return Kind::Run;
    }
    let best = known(&words);
    if let Some((_, Kind::Look)) = best
        && writes_file(simple)
    {
        return Kind::Change;
    }
    best.map_or(Kind::Run, |(_, kind)| kind)
}

/// Entries of the table by their first word; those with an open one stand under nothing.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<(Kind, &'static str)>>> = LazyLock::new(|| {
    let mut entries: HashMap<&str, Vec<(Kind, &str)>> = HashMap::new();
    for (kind, patterns) in PROGRAMS {
        for pattern in *patterns {
            let first = pattern.split(' ').next().unwrap_or("");
            let first = if first.ends_with('*') { "" } else { first };
            entries.entry(first).or_default().push((*kind, pattern));
        }
    }
    entries
});

/// How many of the first words the table knows, and the kind it says.
pub(super) fn known(words: &[&str]) -> Option<(usize, Kind)> {
    let mut best: Option<(usize, Kind)> = None;
    let entries = |first: &str| BY_PROGRAM.get(first).map_or(&[][..], Vec::as_slice);
    for (kind, pattern) in entries(words.first().copied().unwrap_or("")).iter().chain(entries("")) {
        let len = fit(pattern, words);
        if len > 0 && best.is_none_or(|(other, _)| len > other) {
            best = Some((len, *kind));
        }
    }
    best
}

/// Whether a simple command only sets a variable: `x=$(…)`, `x="a b"`.
pub(super) fn is_assignment(simple: &str) -> bool {
    let Some((name, value)) = simple.split_once('=') else { return false };
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let whole = |open: &str, close: char| value.starts_with(open) && value.ends_with(close);
    named
        && (value.starts_with('{')
            || whole("$(", ')')
            || whole("\"", '"')
            || whole("'", '\'')
            || !value.contains(char::is_whitespace))
}

/// Number of words of `pattern` that fit, 0 if it does not.
fn fit(pattern: &str, words: &[&str]) -> usize {
    let mut count = 0;
    for part in pattern.split(' ') {
        let Some(word) = words.get(count) else { return 0 };
        let fits = match part.strip_suffix('*') {
            Some(open) => word.starts_with(open),
            None => *word == part,
        };
        if !fits {
            return 0;
        }
        count += 1;
    }
    count
}

/// Whether it redirects its output into a file that is more than scratch.
fn writes_file(simple: &str) -> bool {
    let bytes = simple.as_bytes();
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None if byte == b'>' => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
                let target = simple[at + 1..].trim_start_matches('>').trim_start().trim_start_matches(['"', '\'']);
                let kept = !target.is_empty() && !target.starts_with(['&', '=', '$', '(']) && !is_scratch(target);
                if kept && !matches!(before, Some(b'-' | b'=' | b'2' | b'&' | b'<' | b'>')) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a path lies where nothing is kept.
pub(super) fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] = &["/tmp/", "/dev/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/proc/"];
    const PARTS: &[&str] = &["/scratchpad/", "\\AppData\\Local\\Temp\\", "/AppData/Local/Temp/"];
    PLACES.iter().any(|place| path.starts_with(place)) || PARTS.iter().any(|part| path.contains(part))
}

/// The most telling kind among a command's parts, and its core: what only looks is taken off (unless it is all there
/// is), and filters behind pipes, a `cd` to the project, redirections of messages, bodies of commit messages.
pub(super) fn core(command: &str, project: Option<&str>) -> (Kind, String) {
    let parts = split(command);
    let kinds: Vec<Kind> = parts.iter().map(|part| kind(part.text)).collect();
    let telling = kinds.iter().copied().max().unwrap_or(Kind::Look);
    let mut out = String::new();
    let mut from = 0;
    while from < parts.len() {
        let len = 1 + parts[from + 1..].iter().take_while(|part| part.operator == "|").count();
        let (pipeline, own) = (&parts[from..from + len], &kinds[from..from + len]);
        let rest = parts.get(from + len..).unwrap_or(&[]);
        from += len;
        let kind = own.iter().copied().max().unwrap_or(Kind::Look);
        let home = project.is_some_and(|project| is_project(pipeline[0].text, project));
        if home
            || pipeline[0].text.starts_with('#')
            || (telling > kind && kind == Kind::Look && !prepares(&pipeline[0], rest))
        {
            continue;
        }
        // What follows the last telling part of a pipe only filters what is shown.
        let end = own.iter().rposition(|kind| *kind > Kind::Look).map_or(1, |last| last + 1);
        if !out.is_empty() {
            out.push_str(match pipeline[0].operator {
                "||" => " || ",
                "&&" => " && ",
                "&" => " & ",
                _ => "; ",
            });
        }
        let texts: Vec<String> = pipeline[..end].iter().map(|part| simple_core(part.text)).collect();
        out.push_str(&texts.join(" | "));
    }
    if out.is_empty() {
        out = fold_whitespace(command);
    }
    (telling, out)
}

/// Whether a part that changes nothing makes ready what follows: a folder, an environment, a variable that is used.
fn prepares(part: &Simple<'_>, rest: &[Simple<'_>]) -> bool {
    if is_assignment(part.text) {
        let name = part.text.split('=').next().unwrap_or("");
        return rest
            .iter()
            .any(|part| part.text.contains(&format!("${name}")) || part.text.contains(&format!("${{{name}")));
    }
    let words = words(part.text);
    match words.first() {
        Some(&("cd" | "source" | "." | "export" | "set")) => !rest.is_empty(),
        Some(&"git") => words.get(1) == Some(&"add"),
        _ => false,
    }
}

fn is_project(cd: &str, project: &str) -> bool {
    let Some(target) = cd.strip_prefix("cd ") else { return false };
    let plain =
        |path: &str| path.trim().trim_matches(['"', '\'']).replace('\\', "/").trim_end_matches('/').to_lowercase();
    let (target, project) = (plain(target), plain(project));
    let tail = project.trim_start_matches('~');
    !tail.is_empty() && target.ends_with(tail)
}

fn simple_core(simple: &str) -> String {
    let mut text = match message(simple) {
        Some((flag, message)) => {
            let head = simple.split(" -m").next().unwrap_or(simple);
            let head = head.split(" --message").next().unwrap_or(head).split(" --title").next().unwrap_or(head);
            let head = head.split(" -am").next().unwrap_or(head).split(" -F -").next().unwrap_or(head);
            format!("{} {flag} {}", head.trim(), shell_quote(&message))
        }
        None if simple.contains("<<") || !simple.contains('\n') => simple.to_owned(),
        None => simple.lines().map(|line| line.trim().trim_end_matches('\\').trim()).collect::<Vec<_>>().join(" "),
    };
    for noise in ["2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null", "&>/dev/null", "1>&2"] {
        text = text.replace(noise, "");
    }
    text.trim().to_owned()
}

fn shell_quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// The first line of the message of a `git commit` or the title of a `gh pr create`, with its option.
pub(super) fn message(simple: &str) -> Option<(&'static str, String)> {
    let words = words(simple);
    let (flags, flag): (&[&str], _) = match (words.first()?, words.get(1)?, words.get(2)) {
        (&"git", &("commit" | "merge"), _) => {
            (&["-m", "-am", "--message", "-a -m"], if simple.contains(" -am") { "-am" } else { "-m" })
        }
        (&"gh", &("pr" | "issue"), Some(&"create")) => (&["--title", "-t"], "--title"),
        _ => return None,
    };
    if let Some((head, body)) = simple.split_once("<<")
        && head.contains(" -F -")
    {
        let line = body.lines().skip(1).map(str::trim).find(|line| !line.is_empty())?;
        return Some((flag, line.to_owned()));
    }
    let (at, len) = flags.iter().filter_map(|flag| Some((simple.find(&format!(" {flag}"))? + 1, flag.len()))).min()?;
    let value = simple[at + len..].trim_start_matches(['=', ' ', '\n']);
    let line = if let Some(here) = value.strip_prefix("@'").or_else(|| value.strip_prefix("@\"")) {
        here.lines().map(str::trim).find(|line| !line.is_empty())?
    } else if let Some(here) = value.strip_prefix("\"$(cat <<").or_else(|| value.strip_prefix("$(cat <<")) {
        here.lines().skip(1).map(str::trim).find(|line| !line.is_empty())?
    } else {
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        match quote {
            Some(quote) => value[1..].split(quote).next()?.lines().next()?,
            None => value.split_whitespace().next()?,
        }
    };
    let line = line.trim();
    (!line.is_empty()).then(|| (flag, line.to_owned()))
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
        assert_eq!(texts("x=$(ls; pwd) && y"), ["x=$(ls; pwd)", "y"]);
        assert_eq!(texts("\\"), ["\\"]);
        assert_eq!(texts("# don't\nls # now\n# end"), ["ls # now"]);
        assert_eq!(texts(" ; | "), Vec::<&str>::new());
    }

    #[test]
    fn knows_what_commands_do() {
        for (command, expected) in [
            ("ls -la", Kind::Look),
            ("git -C dir log", Kind::Look),
            ("sudo timeout 60 cargo +nightly test -p auth", Kind::Check),
            ("RUST_LOG=debug cargo run", Kind::Run),
            ("cargo fmt", Kind::Change),
            ("cargo fmt --check", Kind::Check),
            ("npm run test:unit", Kind::Check),
            ("npm run dev", Kind::Run),
            ("sed -n 1,5p x", Kind::Look),
            ("sed -i s/a/b/ x", Kind::Change),
            ("uv run pytest -q", Kind::Check),
            ("./gradlew build", Kind::Check),
            ("echo hi > out.txt", Kind::Change),
            ("grep '=>' x 2>/dev/null", Kind::Look),
            ("grep -o 'a\">[^<]*' x", Kind::Look),
            ("cat > /tmp/notes.md", Kind::Look),
            ("rm -rf /tmp/x", Kind::Look),
            ("rm -rf build", Kind::Change),
            ("go version", Kind::Look),
            ("./target/debug/tool", Kind::Run),
            ("", Kind::Look),
        ] {
            assert_eq!(kind(command), expected, "{command}");
        }
    }

    #[test]
    fn cores_are_short() {
        let project = Some("~/code/api");
        assert_eq!(
            core("cd /home/me/code/api && cargo test -p auth 2>&1 | tail -20", project),
            (Kind::Check, "cargo test -p auth".into())
        );
        assert_eq!(core("cd web && npm test; echo done", project), (Kind::Check, "cd web && npm test".into()));
        assert_eq!(
            core("git add -A && git commit -m \"$(cat <<'EOF'\nAdd rotation\n\nLong body.\nEOF\n)\"", project),
            (Kind::Change, "git add -A && git commit -m \"Add rotation\"".into())
        );
        assert_eq!(core("git commit -am 'fix: x' --no-verify", None).1, "git commit -am \"fix: x\"");
        assert_eq!(core("cat a | grep b", None), (Kind::Look, "cat a".into()));
        assert_eq!(core("git status; X=$(date); make all | tail -3; ls", None).1, "make all");
        assert_eq!(
            core("X=$(cat v); git tag $X && cat a | ./load --fast | head", None).1,
            "X=$(cat v); git tag $X && cat a | ./load --fast"
        );
        assert_eq!(core("git commit -q -F - <<'EOF'\nAdd x\n\nBody\nEOF", None).1, "git commit -q -m \"Add x\"");
    }
}
