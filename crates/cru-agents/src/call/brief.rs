//! Answers in a few words, in the forms that hosts have in common.

/// `+3 −1` from the lines of a unified diff.
pub(crate) fn change(diff: &str) -> Option<String> {
    let starts =
        |sign: char, head: &str| diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count();
    let (added, removed) = (starts('+', "+++ "), starts('-', "--- "));
    (added + removed > 0).then(|| format!("+{added} −{removed}"))
}

/// `+3 −1` for lines that take the place of others, without those that both begin and end with.
pub(crate) fn exchange(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    format!("+{} −{}", new.len() - head - tail, old.len() - head - tail)
}

/// The output of a command without the line that a host put below it, and the code that stands in that between `head` and
/// `tail`.
pub(crate) fn ended<'t>(text: &'t str, head: &str, tail: &str) -> (&'t str, Option<i32>) {
    let (output, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let code = last.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)?.parse().ok());
    (if code.is_some() { output.trim_end() } else { text }, code)
}

/// Marks of headings, lists and quotes.
const MARKS: [char; 5] = ['#', '*', '-', '>', ' '];

/// The first line of a text that says something, without the marks of a heading or list.
pub(crate) fn first_line(text: &str) -> Option<&str> {
    let plain = |line| str::trim_end_matches(str::trim_start_matches(str::trim(line), MARKS), ['*', ':']).trim();
    text.lines().map(plain).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(change("--- a\n+++ b\n-x\n+y\n+z").as_deref(), Some("+2 −1"));
        assert_eq!((exchange("", ""), exchange("a", "a\na")), ("+0 −0".to_owned(), "+1 −0".to_owned()));
        assert_eq!(ended("a\n\n<exit 1>", "<exit ", ">"), ("a", Some(1)));
        assert_eq!(ended("<exit 0>", "<exit ", ">"), ("", Some(0)));
        assert_eq!(ended("a\n<exit 1", "<exit ", ">"), ("a\n<exit 1", None));
        assert_eq!(ended("", "<exit ", ">"), ("", None));
        assert_eq!(first_line("\n## **Two findings:**\nmore"), Some("Two findings"));
    }
}
