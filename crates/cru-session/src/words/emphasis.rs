//! Words without the marks of emphasis.

/// `text` without `**` and `__` that emphasise words. Where the same characters stand within code or a path
/// (`src/**/*.ts`, `__init__`), they stay.
pub fn without_emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut at) = (0, 0);
    // Where the emphasis that is open began in `out`, and its mark.
    let mut open: Option<(usize, &str)> = None;
    while let Some(found) = text[at..].find(['`', '*', '_']) {
        let start = at + found;
        let rest = &text[start..];
        if let Some(code) = rest.strip_prefix('`') {
            // Between two backticks stands code; one alone is none.
            at = start + 1 + code.find('`').map_or(0, |end| end + 1);
            continue;
        }
        let Some(mark) = ["**", "__"].into_iter().find(|mark| rest.starts_with(mark)) else {
            at = start + 1;
            continue;
        };
        at = start + mark.len();
        let before = text[..start].chars().next_back();
        let after = text[at..].chars().next();
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '/' | '*' | '_'));
        let is_inner = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && !matches!(c, '/' | '*' | '_'));
        match open {
            // `__init__.py` goes on as a name.
            Some((begun, of)) if of == mark && is_inner(before) && is_edge(after) && !is_dotted(&text[at..]) => {
                out.push_str(&text[kept..start]);
                out.replace_range(begun..begun + mark.len(), "");
                (kept, open) = (at, None);
            }
            None if is_edge(before) && is_inner(after) => {
                out.push_str(&text[kept..start]);
                open = Some((out.len(), mark));
                kept = start;
            }
            _ => {}
        }
    }
    out.push_str(&text[kept..]);
    out
}

/// Whether a text begins like the extension of a name.
fn is_dotted(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::without_emphasis;

    #[test]
    fn marks_go_and_patterns_stay() {
        for (text, plain) in [
            ("**Done.** The __valve__ is **open**", "Done. The valve is open"),
            ("**`Valve`** opens", "`Valve` opens"),
            ("globs `**/*.ts` and `src/**/*`", "globs `**/*.ts` and `src/**/*`"),
            ("globs **/*.ts and src/**/*", "globs **/*.ts and src/**/*"),
            ("see __init__.py", "see __init__.py"),
            ("2 ** 3", "2 ** 3"),
            ("**Open", "**Open"),
        ] {
            assert_eq!(without_emphasis(text), plain);
        }
    }

    proptest::proptest! {
        #[test]
        fn only_marks_go(text in "[*_`a /.]{0,40}") {
            let plain = without_emphasis(&text);
            let rest = |text: &str| text.replace(['*', '_'], "");
            proptest::prop_assert_eq!(rest(&plain), rest(&text));
        }
    }
}
