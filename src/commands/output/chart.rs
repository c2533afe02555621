//! Bars and lines out of block characters, for terminals.

/// Eighths of a cell, from the left.
const LEFT: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Eighths of a cell, from below.
const BELOW: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of at most `width` columns; something that is not nothing is seen.
pub fn bar(part: u64, whole: u64, width: usize) -> String {
    if whole == 0 || part == 0 {
        return String::new();
    }
    let eighths = (u128::from(part.min(whole)) * (width as u128 * 8) / u128::from(whole)).max(1);
    let eighths = usize::try_from(eighths).unwrap_or(width * 8);
    let mut out = "█".repeat(eighths / 8);
    if let Some(rest) = (eighths % 8).checked_sub(1) {
        out.push(LEFT[rest]);
    }
    out
}

/// A line of one character for each value; nothing at all is a blank.
pub fn spark(values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0);
    values
        .iter()
        .map(|value| match (u128::from(*value) * 8).div_ceil(u128::from(most.max(1))) {
            0 => ' ',
            eighths => BELOW[usize::try_from(eighths - 1).unwrap_or(7).min(7)],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!([bar(0, 10, 4), bar(1, 1_000, 4), bar(5, 10, 4), bar(10, 10, 4)], ["", "▏", "██", "████"]);
        assert_eq!(bar(9, 16, 2), "█▏");
        assert_eq!([bar(1, 0, 4), bar(u64::MAX, 1, 2), bar(1, 1, 0)], ["", "██", "▏"]);
    }

    #[test]
    fn lines_tell_nothing_from_little() {
        assert_eq!(spark(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(spark(&[0, 0]), "  ");
        assert_eq!(spark(&[u64::MAX]), "█");
    }
}
