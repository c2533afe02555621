//! Programs whose arguments are programs: only the forms that print and cut are taken for a look.

use std::borrow::Cow;

/// Whether a command runs no text of its own that could do more than print. `true` for programs that have none.
pub(super) fn is_harmless(words: &[Cow<'_, str>]) -> bool {
    let Some(program) = words.first() else { return true };
    let mut texts = words.iter().skip(1).map(AsRef::as_ref).filter(|word: &&str| !word.starts_with('-'));
    match program.as_ref() {
        // Any other option may be, or bring, a text too.
        "sed" | "gsed" => {
            let mut options = words.iter().skip(1).filter(|word| word.starts_with('-'));
            let is_plain = |option: &Cow<'_, str>| {
                matches!(&**option, "--quiet" | "--silent" | "--regexp-extended")
                    || (option.len() > 1 && option[1..].bytes().all(|letter| b"nErsuz".contains(&letter)))
            };
            options.all(is_plain) && texts.next().is_some_and(is_plain_sed)
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            let mut options = words.iter().skip(1).filter(|word| word.starts_with('-'));
            options.all(|option| option.len() > 2 && option.starts_with("-F")) && texts.next().is_some_and(is_plain_awk)
        }
        // A word that is no format sets the clock.
        "date" => words.iter().skip(1).all(|word| {
            word.starts_with('+') || matches!(&**word, "-u" | "--utc" | "-R" | "-I") || word.starts_with("--iso-8601")
        }),
        "vi" | "vim" | "nvim" | "ed" | "ex" | "emacs" | "less" | "more" | "man" | "xargs" | "parallel" => false,
        _ => true,
    }
}

/// `10,20p`, `$d`, `/a/,/b/p`, `s/a/b/g`, and several of them with `;`.
fn is_plain_sed(text: &str) -> bool {
    text.split([';', '\n']).all(|part| {
        let part = part.trim();
        if let Some(rest) = part.strip_prefix('s') {
            let Some(mark) = rest.chars().next().filter(|mark| mark.is_ascii_punctuation() && *mark != '\\') else {
                return false;
            };
            let pieces: Vec<&str> = rest.split(mark).collect();
            return pieces.len() == 4 && pieces[3].chars().all(|c| matches!(c, 'g' | 'I' | 'i' | 'p' | '0'..='9'));
        }
        let Some(command) = part.chars().last() else { return true };
        let address = &part[..part.len() - command.len_utf8()];
        // The texts between slashes may hold anything.
        let outside: String = address.split('/').step_by(2).collect();
        matches!(command, 'p' | 'd' | 'q' | '=')
            && address.matches('/').count() % 2 == 0
            && outside.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' ' | '~' | '+'))
    })
}

/// A text that calls nothing, opens nothing and writes nothing.
fn is_plain_awk(text: &str) -> bool {
    let no_words =
        ["system", "getline", "close", "fflush", "load", "include", "ENVIRON", "ARGV", "ARGC", "printf >", "@"];
    !no_words.iter().any(|word| text.contains(word)) && !text.replace("||", "").contains('|') && !writes(text)
}

/// Whether `>` stands behind `print`, where it writes a file.
fn writes(text: &str) -> bool {
    text.split("print").skip(1).any(|rest| rest.split(['}', ';', '\n']).next().is_some_and(|it| it.contains('>')))
}
