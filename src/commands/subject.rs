//! What a command is asked about, where a mark says its kind: `w:` workflows, `c:` cases, `l:` lessons, `r:` readings.

/// The names of one kind, where the first word has its mark. The mark alone means all of them, so it gives no name.
pub(super) fn marked(mark: &str, words: &[String]) -> Option<Vec<String>> {
    let (first, rest) = words.split_first()?;
    let name = first.strip_prefix(mark)?;
    let first = (!name.is_empty()).then(|| name.to_owned());
    Some(first.into_iter().chain(rest.iter().map(|word| word.strip_prefix(mark).unwrap_or(word).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_before_the_first_name_or_alone() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (given, names) in [("c:a b", Some("a b")), ("c:a c:b", Some("a b")), ("c: a", Some("a")), ("a c:b", None)] {
            assert_eq!(marked("c:", &words(given)), names.map(words), "{given}");
        }
        assert_eq!(marked("c:", &words("c:")), Some(Vec::new()));
        assert_eq!(marked("c:", &[]), None);
    }
}
