//! What a hook tells the agent's shell, and how words are written for a shell.

use std::borrow::Cow;

/// A word as a POSIX shell reads it back.
pub fn quote(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// The words of a command line that [`quote`] wrote; `None` for one that a shell would do more with than split it.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '$' | '`' | '\\' => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | '#' | '~' | '\n' => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// A line that sets a variable; `None` for a value that no id or path has.
pub fn export(name: &str, value: &str) -> Option<String> {
    if value.is_empty() || value.len() > 4096 || value.chars().any(char::is_control) {
        return None;
    }
    Some(format!("export {name}={}\n", quote(value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_only_what_needs_it() {
        assert_eq!(quote("/opt/cru-1.0/bin/cru"), "/opt/cru-1.0/bin/cru");
        assert_eq!(quote("/my tools/cru"), "'/my tools/cru'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(export("A", "949d-1").unwrap(), "export A=949d-1\n");
        assert_eq!(export("A", "$(x)").unwrap(), "export A='$(x)'\n");
        assert_eq!(export("A", "a\nb"), None);
        assert_eq!(export("A", ""), None);
    }

    #[test]
    fn splits_like_a_shell_or_not_at_all() {
        let split = |line| words(line).unwrap();
        assert_eq!(split(r#"  cru hook "a b" 'c'd \ e"#), ["cru", "hook", "a b", "cd", " e"]);
        for line in ["cru hook x; rm y", "$CRU hook x", "cru hook x | tee", "'open", "\"$X\" hook", "~/cru hook"] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_read_back(list in proptest::collection::vec("\\PC{0,12}", 1..4)) {
            let line: Vec<_> = list.iter().map(|word| quote(word)).collect();
            prop_assert_eq!(words(&line.join(" ")), Some(list));
        }
    }
}
