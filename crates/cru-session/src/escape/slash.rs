//! Backslashes before the bytes of a line that would open something: added, and taken away again.

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `k` backslashes become `2k + 1`.
    Escape,
    /// `2k + 1` backslashes become `k`; an even number is somebody's own and stays.
    Undo,
}

/// Copies `line` to `out`, the backslashes before each of the bytes `at` (ascending) turned.
pub(super) fn apply(line: &str, at: &[usize], way: Way, out: &mut String) {
    let mut done = 0;
    for &at in at {
        let slashes = slashes_before(line, at, done);
        match way {
            Way::Escape => {
                out.push_str(&line[done..at]);
                out.extend(std::iter::repeat_n('\\', slashes + 1));
            }
            Way::Undo if slashes % 2 == 1 => {
                out.push_str(&line[done..at - slashes.div_ceil(2)]);
            }
            Way::Undo => out.push_str(&line[done..at]),
        }
        done = at;
    }
    out.push_str(&line[done..]);
}

/// How many backslashes stand directly before `at`, not looking before `from`.
pub(super) fn slashes_before(line: &str, at: usize, from: usize) -> usize {
    let before = line.as_bytes().get(from..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}
