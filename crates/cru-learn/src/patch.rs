//! The lines of a patch, in the shape that agents write and in that of `diff -u`.

/// How a patch of an agent begins.
const BEGIN: &str = "*** Begin Patch";

/// A line of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// From here on it is about a file that was there.
    File(&'a str),
    /// From here on it is about a file that it makes.
    New(&'a str),
    /// From here on it is about another place.
    Break,
    /// A line that stays.
    Kept(&'a str),
    /// A line that goes.
    Out(&'a str),
    /// A line that comes.
    In(&'a str),
}

/// Whether a text is a patch, or a command that holds one.
pub(super) fn is_patch(text: &str) -> bool {
    text.contains(BEGIN) || is_diff(text)
}

fn is_diff(text: &str) -> bool {
    text.contains("\n+++ ") && text.contains("\n@@ ")
}

/// The lines of the patch that a text holds; none where it holds none.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    if let Some((_, patch)) = text.split_once(BEGIN) {
        // What follows the mark on its line is none of it.
        return patch.lines().skip(1).take_while(|line| !line.starts_with("*** End Patch")).map(of_agent).collect();
    }
    if is_diff(text) { of_diff(text) } else { Vec::new() }
}

fn of_agent(line: &str) -> Line<'_> {
    let file = ["*** Update File: ", "*** Delete File: "].iter().find_map(|mark| line.strip_prefix(mark));
    match (file, line.strip_prefix("*** Add File: ")) {
        (Some(path), _) => Line::File(path.trim()),
        (None, Some(path)) => Line::New(path.trim()),
        (None, None) if line.starts_with("***") || line.starts_with("@@") => Line::Break,
        (None, None) => changed(line),
    }
}

fn of_diff(text: &str) -> Vec<Line<'_>> {
    let mut inside = false;
    let mut told = Vec::new();
    for line in text.lines() {
        let file = |mark: &str| line.strip_prefix(mark).map(|path| path.split('\t').next().unwrap_or(path).trim());
        if let Some(path) = file("--- a/").or_else(|| file("--- ")).filter(|_| !inside || line.starts_with("--- a/")) {
            inside = false;
            told.push(if path == "/dev/null" { Line::Break } else { Line::File(path) });
        } else if let Some(path) = file("+++ b/").filter(|_| !inside && told.last() == Some(&Line::Break)) {
            told.push(Line::New(path));
        } else if line.starts_with("@@") {
            inside = true;
            told.push(Line::Break);
        } else if inside && (line.is_empty() || line.starts_with([' ', '+', '-'])) {
            told.push(changed(line));
        } else {
            inside = false;
        }
    }
    told
}

fn changed(line: &str) -> Line<'_> {
    match (line.strip_prefix('+'), line.strip_prefix('-')) {
        (Some(line), _) => Line::In(line),
        (None, Some(line)) => Line::Out(line),
        (None, None) => Line::Kept(line.strip_prefix(' ').unwrap_or(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_of_agents() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.c\n@@ int x\n kept\n-- out\n+in\n\n*** Add File: b.c\n+new\n*** End Patch\nEOF";
        let wanted = [
            Line::File("a.c"),
            Line::Break,
            Line::Kept("kept"),
            Line::Out("- out"),
            Line::In("in"),
            Line::Kept(""),
            Line::New("b.c"),
            Line::In("new"),
        ];
        assert_eq!(lines(patch), wanted);
    }

    #[test]
    fn patches_of_diff() {
        let patch = "git apply <<'EOF'\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n kept\n-out\n+in\n--- /dev/null\n+++ b/b.c\n@@ -0,0 +1 @@\n+new\nEOF";
        let wanted = [
            Line::File("a.c"),
            Line::Break,
            Line::Kept("kept"),
            Line::Out("out"),
            Line::In("in"),
            Line::Out("-- /dev/null"),
            Line::In("++ b/b.c"),
            Line::Break,
            Line::In("new"),
        ];
        assert_eq!(lines(patch), wanted);
        assert!(lines("no patch\n+in").is_empty() && !is_patch("+++ b/b.c"));
    }
}
