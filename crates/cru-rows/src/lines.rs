//! Where lines of a file begin and how long they are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Offset and length, without the end of the line, of each of the `wanted` lines, which are numbered from 1. Nothing of a
/// file that is compressed, since its lines stand in what comes out of it.
pub(crate) fn places(path: &Path, wanted: impl IntoIterator<Item = u64>) -> BTreeMap<u64, (u64, u64)> {
    let mut wanted: Vec<u64> = wanted.into_iter().collect();
    wanted.retain(|line| *line > 0);
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = BTreeMap::new();
    let Ok(file) = cru_base::files::open_regular(path) else { return found };
    let mut source = BufReader::with_capacity(256 << 10, file);
    if source.fill_buf().is_ok_and(|bytes| bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])) {
        return found;
    }
    let mut wanted = wanted.into_iter().peekable();
    let (mut line, mut at) = (1_u64, 0_u64);
    while let Some(&next) = wanted.peek() {
        let Ok(length) = skip_line(&mut source) else { break };
        if length.0 == 0 {
            break;
        }
        if line == next {
            found.insert(line, (at, length.1));
            wanted.next();
        }
        at += length.0;
        line += 1;
    }
    found
}

/// Reads to the end of a line: its bytes with and without its end.
fn skip_line(source: &mut BufReader<File>) -> std::io::Result<(u64, u64)> {
    let (mut all, mut text) = (0_u64, 0_u64);
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok((all, text));
        }
        if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            source.consume(end + 1);
            return Ok((all + end as u64 + 1, text + end as u64));
        }
        let length = bytes.len();
        source.consume(length);
        all += length as u64;
        text += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        cru_base::files::create(&path, b"one\n\nthree\nlast").unwrap();
        let found = places(&path, [3, 1, 4, 9, 0]);
        assert_eq!(found, BTreeMap::from([(1, (0, 3)), (3, (5, 5)), (4, (11, 4))]));
        assert!(places(&folder.path().join("none"), [1]).is_empty());
    }
}
