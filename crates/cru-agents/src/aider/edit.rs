//! The words of a reply, and the edits among them.

/// How the part of a file that is looked for begins.
const SEARCH: &str = "<<<<<<< SEARCH";
/// What stands between it and what takes its place.
const MIDDLE: &str = "=======";
/// How an edit ends.
const REPLACE: &str = ">>>>>>> REPLACE";

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AiderPiece {
    /// Words.
    Prose(String),
    /// One block.
    Edit {
        /// The file, as the model writes it.
        path: String,
        /// What is looked for.
        search: String,
        /// What takes its place.
        replace: String,
    },
}

/// Whether a line begins an edit.
pub(super) fn begins(line: &str) -> bool {
    line.trim_end().starts_with(SEARCH)
}

/// Whether a line ends an edit.
pub(super) fn ends(line: &str) -> bool {
    line.trim_end().starts_with(REPLACE)
}

/// The pieces of a reply, in order. An edit that is not closed stays words.
pub(super) fn pieces(lines: &[&str]) -> Vec<AiderPiece> {
    let mut pieces = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let mut path = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let block = if begins(line) { block(&lines[at + 1..]) } else { None };
        let Some((search, replace, length)) = block else {
            words.push(line);
            at += 1;
            continue;
        };
        at += 1 + length;
        if let Some(named) = take_path(&mut words) {
            path = named;
        }
        flush(&mut words, &mut pieces);
        pieces.push(AiderPiece::Edit { path: path.clone(), search: search.join("\n"), replace: replace.join("\n") });
        // The end of the fence that the edit stood in.
        if lines.get(at).is_some_and(|line| is_bare_fence(line)) {
            at += 1;
        }
    }
    flush(&mut words, &mut pieces);
    pieces
}

/// The two parts of an edit, and how many lines it takes.
fn block<'l, 't>(lines: &'l [&'t str]) -> Option<(&'l [&'t str], &'l [&'t str], usize)> {
    let end = lines.iter().position(|line| ends(line) || begins(line)).filter(|end| ends(lines[*end]))?;
    let middle = lines[..end].iter().position(|line| line.trim_end() == MIDDLE)?;
    Some((&lines[..middle], &lines[middle + 1..end], end + 1))
}

/// Takes the lines off the end of the words that name the file of the edit behind them: a name above a fence, or below.
fn take_path(words: &mut Vec<&str>) -> Option<String> {
    let last = words.last()?;
    let (fence, name) = if is_fence(last) {
        (true, words.len().checked_sub(2).and_then(|at| words.get(at)))
    } else {
        (false, Some(last))
    };
    let name = name.and_then(|line| file_name(line));
    match (&name, fence) {
        (Some(_), true) => words.truncate(words.len() - 2),
        (Some(_), false) => {
            words.pop();
            if words.last().is_some_and(|line| is_fence(line)) {
                words.pop();
            }
        }
        (None, true) => {
            words.pop();
        }
        (None, false) => {}
    }
    name
}

/// A line that is the name of a file: no blanks in it but those of a path.
fn file_name(line: &str) -> Option<String> {
    const LONGEST: usize = 300;
    let name = line.trim().trim_end_matches(':').trim_matches(['`', '*']).trim();
    let name = name.strip_prefix("# ").unwrap_or(name);
    let good = !name.is_empty() && name.len() <= LONGEST && name.contains(['.', '/', '\\']) && !name.ends_with('.');
    let plain = !name.contains(['<', '>', '|']) && (!name.contains(' ') || name.contains(['/', '\\']));
    (good && plain && !is_fence(name)).then(|| name.to_owned())
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~") || (line.starts_with('<') && line.trim_end() == "<source>")
}

fn is_bare_fence(line: &str) -> bool {
    let line = line.trim();
    line == "</source>" || (line.len() >= 3 && (line.bytes().all(|b| b == b'`') || line.bytes().all(|b| b == b'~')))
}

fn flush(words: &mut Vec<&str>, pieces: &mut Vec<AiderPiece>) {
    let text = words.join("\n");
    words.clear();
    if !text.trim().is_empty() {
        pieces.push(AiderPiece::Prose(text.trim_matches('\n').to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        let tell = |piece| match piece {
            AiderPiece::Prose(text) => format!("prose {text}"),
            AiderPiece::Edit { path, search, replace } => format!("edit {path}: {search} -> {replace}"),
        };
        pieces(&lines).into_iter().map(tell).collect()
    }

    const BLOCK: &str = "<<<<<<< SEARCH\nold\n=======\nnew\nmore\n>>>>>>> REPLACE\n```\n";

    #[test]
    fn names_above_and_in_the_fence() {
        let edit = "edit a/b.py: old -> new\nmore";
        assert_eq!(told(&format!("I do.\n\na/b.py\n```python\n{BLOCK}\nDone.")), ["prose I do.", edit, "prose Done."]);
        assert_eq!(told(&format!("I do.\n\n```python\na/b.py\n{BLOCK}")), ["prose I do.", edit]);
        assert_eq!(told(&format!("**`a/b.py`**:\n```\n{BLOCK}")), [edit]);
        assert_eq!(told(&format!("a/b.py\n```\n{BLOCK}\n```python\n{BLOCK}")), [edit, edit]);
        assert_eq!(told(&format!("No name here.\n{BLOCK}")), ["prose No name here.", "edit : old -> new\nmore"]);
    }

    #[test]
    fn what_is_not_closed_stays_words() {
        let text = "a.py\n```\n<<<<<<< SEARCH\nold\n=======\nnew";
        assert_eq!(told(text), [format!("prose {text}")]);
        let again = format!("<<<<<<< SEARCH\nold\na.py\n{BLOCK}");
        assert_eq!(told(&again), ["prose <<<<<<< SEARCH\nold", "edit a.py: old -> new\nmore"]);
    }
}
