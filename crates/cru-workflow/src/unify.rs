//! Whether a command of a workflow is one that was run, with names in the place of values: `git push origin <branch>`.
//!
//! Nothing may be added: no program, no option, no redirection, no wrapper. `<name>` stands for a part of a word, or for
//! one or more words that are no options.

use cru_action::shell::{Nesting, Operator, Script, SimpleCommand};

/// Takes the place of `<` and `>` of a name while a shell text is read, in which they would redirect.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';
/// Words of a command that are compared.
const MAX_WORDS: usize = 400;

/// Whether each simple command of `template` is one of `run`, names aside. What only reads the output of a command that
/// was run may be left out; nothing may be there that was not.
pub(crate) fn unifies(template: &str, run: &str) -> bool {
    if squeezed(template) == squeezed(run) {
        return true;
    }
    let marked = marked(template);
    if let (Some(wanted), Some(ran)) = (marked.trim_end().strip_suffix('…'), run.trim_end().strip_suffix('…')) {
        return fits_cut(wanted, ran);
    }
    let (wanted, ran) = (Script::read(&marked), Script::read(run));
    if !wanted.complete || wanted.commands.is_empty() {
        return false;
    }
    let mut free: Vec<bool> = vec![true; ran.commands.len()];
    wanted.commands.iter().all(|command| {
        let found = ran.commands.iter().enumerate().find(|(at, own)| free[*at] && is_instance(command, own));
        found.is_some_and(|(at, _)| {
            free[at] = false;
            true
        })
    })
}

/// Whether a command that is shown cut fits another that is cut at the same place: word by word, as it can be read by no
/// shell. A name stands for one word, and for none that means something to a shell.
fn fits_cut(wanted: &str, ran: &str) -> bool {
    let (wanted, ran): (Vec<&str>, Vec<&str>) = (wanted.split_whitespace().collect(), ran.split_whitespace().collect());
    let is_plain = |word: &str| !word.contains(['"', '\'', '`', '$', ';', '&', '|', '<', '>', '(', ')', '\\']);
    let same = |(wanted, ran): (&&str, &&str)| wanted == ran || (is_plain(ran) && fits(wanted, ran));
    wanted.len() == ran.len() && wanted.iter().zip(&ran).all(same)
}

/// Text with single blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` with names marked in a way that means nothing to a shell.
fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let end =
            behind.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '@' | '.')).unwrap_or(behind.len());
        let is_name = behind[end..].starts_with('>') && behind.starts_with(char::is_alphabetic);
        if is_name {
            out.push(OPEN);
            out.push_str(&behind[..end]);
            out.push(CLOSE);
            rest = &behind[end + 1..];
        } else {
            out.push('<');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

fn is_instance(wanted: &SimpleCommand<'_>, ran: &SimpleCommand<'_>) -> bool {
    // What hides a failure or goes on alone may not be added.
    let hides = |it: &SimpleCommand<'_>| matches!(it.operator, Operator::Or | Operator::Background);
    if hides(wanted) && !hides(ran) {
        return false;
    }
    let inner = |it: &SimpleCommand<'_>| it.nesting == Nesting::Substitution;
    if inner(wanted) != inner(ran) {
        return false;
    }
    let same = |left: &str, right: &str| fits(left, right);
    let assigned = wanted.assignments.iter().all(|it| ran.assignments.iter().any(|own| same(&it.text, &own.text)));
    let redirected = wanted.redirections.iter().all(|it| {
        ran.redirections
            .iter()
            .any(|own| it.kind == own.kind && it.fd == own.fd && same(&it.target.text, &own.target.text))
    });
    if !assigned || !redirected || wanted.words.len() > MAX_WORDS || ran.words.len() > MAX_WORDS {
        return false;
    }
    let wanted: Vec<&str> = wanted.words.iter().map(|word| word.text.as_ref()).collect();
    let ran: Vec<&str> = ran.words.iter().map(|word| word.text.as_ref()).collect();
    words_fit(&wanted, &ran)
}

/// Whether the words of a template fit those that were run, one by one; a name alone may stand for several.
fn words_fit(wanted: &[&str], ran: &[&str]) -> bool {
    // Whether the first words up to each place fit what was looked at of the template.
    let mut before = vec![false; ran.len() + 1];
    before[0] = true;
    for word in wanted {
        let mut now = vec![false; ran.len() + 1];
        let is_name =
            word.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)).is_some_and(|it| !it.contains(OPEN));
        for at in 1..=ran.len() {
            let own = ran[at - 1];
            let one = before[at - 1] && fits(word, own);
            let more = is_name && now[at - 1] && !own.starts_with('-');
            now[at] = one || more;
        }
        before = now;
    }
    before[ran.len()]
}

/// Whether a word with names in it fits another: what stands between the names is there in that order. A name alone stands
/// for no option.
fn fits(wanted: &str, ran: &str) -> bool {
    if !wanted.contains(OPEN) {
        return wanted == ran;
    }
    if wanted.starts_with(OPEN) && ran.starts_with('-') {
        return false;
    }
    // Another name may stand in the very same place.
    let mut rest = ran;
    let mut pieces = wanted.split(OPEN);
    let first = pieces.next().unwrap_or("");
    let Some(behind) = rest.strip_prefix(first) else { return false };
    rest = behind;
    let pieces: Vec<&str> = pieces.map(|piece| piece.split_once(CLOSE).map_or("", |(_, literal)| literal)).collect();
    let Some((last, middle)) = pieces.split_last() else { return true };
    for literal in middle {
        // At least one character for the name.
        let Some(start) = rest.char_indices().nth(1).map(|(at, _)| at).or((!rest.is_empty()).then_some(rest.len()))
        else {
            return false;
        };
        let Some(at) = rest[start..].find(literal) else { return false };
        rest = &rest[start + at + literal.len()..];
    }
    rest.len() > last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_may_be_added() {
        for (template, run, expected) in [
            ("git push origin <branch>", "git push origin fix/x", true),
            ("git push", "git push 2>&1 | tail -3", true),
            ("git push --force", "git push", false),
            ("git push origin main", "git push origin fix/x", false),
            ("sudo git push", "git push", false),
            ("git push && git reset --hard", "git push", false),
            ("git fetch && git push", "git fetch && cargo test && git push origin", false),
            ("git fetch && git push", "git fetch && cargo test && git push", true),
            ("git push || true", "git push", false),
            ("cargo test > log", "cargo test", false),
            ("git add <files> && git commit -m \"<what>\"", "git add a.rs b.rs && git commit -m \"fix: x\"", true),
            ("git commit -m <what>", "git commit --amend -m x", false),
            ("git commit -m \"<what>\"", "git commit -m \"$(cat <<'EOF'\nfix: x\n\nWhy.\nEOF\n)\"", true),
            (
                "git add <file> && git commit -m \"<what>\"",
                "git add a.rs && git commit -m \"$(cat <<'EOF'\nfix: x; (y)\nEOF\n)\" && git status",
                true,
            ),
            ("rm <files>", "rm -rf x", false),
            ("gh run view <run> --repo <repo>", "gh run view 12 --repo a/b", true),
            ("npm view <package>@<version> version", "npm view core@1.2.3 version", true),
            ("npm view <package>@<version> version", "npm view core version", false),
            ("cargo test $(id)", "cargo test", false),
            ("cargo 'test", "cargo test", false),
            (
                "git add <file> && git commit -m \"$(cat <<'EOF' …",
                "git add a.md && git commit -m \"$(cat <<'EOF' …",
                true,
            ),
            ("git add -f <file> && git commit -m \"$(cat …", "git add a.md && git commit -m \"$(cat …", false),
            ("git add <file> && git commit -m <what> …", "git add a.md && git commit -m \"$(cat …", false),
            ("git add <file> …", "git add a.md && git commit -m \"$(cat …", false),
            ("", "cargo test", false),
            ("RUST_LOG=x cargo test", "cargo test", false),
        ] {
            assert_eq!(unifies(template, run), expected, "{template} / {run}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_command_is_an_instance_of_itself(command in "[a-z]{1,8}( [a-z./-]{1,8}){0,5}") {
            proptest::prop_assert!(unifies(&command, &command));
            let longer = format!("{command} --new-option");
            proptest::prop_assert!(!unifies(&longer, &command));
        }

        #[test]
        fn anything_is_compared(template in ".{0,80}", run in ".{0,80}") {
            let _ = unifies(&template, &run);
        }
    }
}
