//! The core of a command line, worth repeating: without what only looks, filters or keeps messages away.

use super::kind::{DeedKind, is_assignment, kind};
use super::shell::{Simple, split, words};
use cru_base::text::fold_whitespace;

/// The most telling kind among a command's parts, and its core: what only looks is taken off (unless it is all there
/// is), and filters behind pipes, a `cd` to the project, redirections of messages, bodies of commit messages.
pub(super) fn core(command: &str, project: Option<&str>) -> (DeedKind, String) {
    let parts = split(command);
    let kinds: Vec<DeedKind> = parts.iter().map(|part| kind(part.text)).collect();
    let telling = kinds.iter().copied().max().unwrap_or(DeedKind::Look);
    let defines = memchr::memmem::find(command.as_bytes(), b"()").is_some();
    if telling > DeedKind::Look && parts.iter().any(|part| is_compound(part.text, defines)) {
        return (telling, compound(&parts, project));
    }
    let mut out = String::new();
    let (mut from, mut dropped) = (0, false);
    while from < parts.len() {
        let len = 1 + parts[from + 1..].iter().take_while(|part| part.operator == "|").count();
        let (pipeline, own) = (&parts[from..from + len], &kinds[from..from + len]);
        let rest = parts.get(from + len..).unwrap_or(&[]);
        from += len;
        let kind = own.iter().copied().max().unwrap_or(DeedKind::Look);
        let home = project.is_some_and(|project| is_project(pipeline[0].text, project));
        // What runs only where a look fails is no more than the look.
        let fallback = pipeline[0].operator == "||" && dropped;
        let looks = telling > kind && kind == DeedKind::Look && !prepares(&pipeline[0], rest);
        dropped = home || pipeline[0].text.starts_with('#') || looks || fallback;
        if dropped {
            // What runs in the background does so whatever follows.
            if pipeline[0].operator == "&" && !out.is_empty() && !out.ends_with('&') {
                out.push_str(" &");
            }
            continue;
        }
        // What follows the last telling part of a pipe only filters what is shown.
        let end = own.iter().rposition(|kind| *kind > DeedKind::Look).map_or(1, |last| last + 1);
        if out.ends_with('&') {
            out.push(' ');
        } else if !out.is_empty() {
            // The mark that ends a here document stands alone on its line.
            let document = out.contains("<<") && out.contains('\n');
            out.push_str(match pipeline[0].operator {
                "" | ";" | "\n" if document => "\n",
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
    } else if command.trim_end().ends_with('&') && !command.trim_end().ends_with("&&") && !out.ends_with('&') {
        out.push_str(" &");
    }
    (telling, out)
}

/// Whether a loop, a condition or a function begins here: what stands in it makes no sense without it.
fn is_compound(part: &str, defines: bool) -> bool {
    ["for ", "while ", "until ", "if ", "case ", "function ", "{ "].iter().any(|word| part.starts_with(word))
        || (defines && (part.contains("(){") || part.contains("() {")))
}

/// A command with a loop or condition in it, whole but for the way to the project and messages kept away.
fn compound(parts: &[Simple<'_>], project: Option<&str>) -> String {
    let mut out = String::new();
    for part in parts {
        if out.is_empty() && project.is_some_and(|project| is_project(part.text, project)) {
            continue;
        }
        if !out.is_empty() {
            let operator = match part.operator {
                "\n" => "\n".to_owned(),
                ";" => "; ".to_owned(),
                operator => format!(" {operator} "),
            };
            out.push_str(&operator);
        }
        out.push_str(&simple_core(part.text));
    }
    out
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
    let redirects = memchr::memchr(b'>', text.as_bytes()).is_some();
    for noise in ["2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null", "&>/dev/null", "1>&2"] {
        if redirects && text.contains(noise) {
            text = text.replace(noise, "");
        }
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
    #[test]
    fn cores_are_short() {
        let project = Some("~/code/api");
        assert_eq!(
            core("cd /home/me/code/api && cargo test -p auth 2>&1 | tail -20", project),
            (DeedKind::Check, "cargo test -p auth".into())
        );
        assert_eq!(core("cd web && npm test; echo done", project), (DeedKind::Check, "cd web && npm test".into()));
        assert_eq!(
            core("git add -A && git commit -m \"$(cat <<'EOF'\nAdd rotation\n\nLong body.\nEOF\n)\"", project),
            (DeedKind::Change, "git add -A && git commit -m \"Add rotation\"".into())
        );
        assert_eq!(core("git commit -am 'fix: x' --no-verify", None).1, "git commit -am \"fix: x\"");
        assert_eq!(core("cat a | grep b", None), (DeedKind::Look, "cat a".into()));
        assert_eq!(core("git status; X=$(date); make all | tail -3; ls", None).1, "make all");
        assert_eq!(
            core("X=$(cat v); git tag $X && cat a | ./load --fast | head", None).1,
            "X=$(cat v); git tag $X && cat a | ./load --fast"
        );
        assert_eq!(
            core("cd ~/code/api && for f in *.c; do [ \"$f\" != x.c ] && mv $f old/ 2>/dev/null; done", project).1,
            "for f in *.c; do [ \"$f\" != x.c ] && mv $f old/; done"
        );
        assert_eq!(core("make serve & sleep 3; curl -s localhost:80 | head", None).1, "make serve &");
        assert_eq!(core("make serve &", None).1, "make serve &");
        assert_eq!(core("cat v || ./config check; make all", None).1, "make all");
        assert_eq!(
            core("dump(){ sqlite3 x \"$1\" | xxd -r -p; }; dump 1 > out.bin; ./read out.bin", None).1,
            "dump(){ sqlite3 x \"$1\" | xxd -r -p; }; dump 1 > out.bin; ./read out.bin"
        );
        assert_eq!(core("git commit -q -F - <<'EOF'\nAdd x\n\nBody\nEOF", None).1, "git commit -q -m \"Add x\"");
    }
}
