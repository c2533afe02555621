//! Any bytes as a journal: each line is an entry, odd, or not yet whole, and reading in parts reads the same.

#![cfg_attr(fuzzing, no_main)]

use cru::vault::journal::lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u16, bool)| {
    let (bytes, at, whole) = input;
    let mut text = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        // Most lines are to be nearly right.
        if index % 3 > 0 {
            text.extend_from_slice(b"{\"id\":\"1\",\"time\":\"2026-11-20T09:31:10Z\",\"event\":");
            text.extend_from_slice(line);
            text.extend_from_slice(b"}");
        } else {
            text.extend_from_slice(line);
        }
        text.push(b'\n');
    }
    if !whole {
        text.pop();
    }
    let (entries, consumed, odd) = lines(&text);
    assert!(consumed <= text.len());
    assert!(!whole || consumed == text.len());
    assert!(entries.len() + odd <= text.split(|&byte| byte == b'\n').count());
    // A line may be whole before its end is written, so the cut is at the end of one.
    let at = usize::from(at) % (text.len() + 1);
    let cut = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let (first, until, odd_first) = lines(&text[..cut]);
    assert_eq!(until, cut);
    let (second, end, odd_second) = lines(&text[until..]);
    assert_eq!(odd_first + odd_second, odd);
    // Blank lines belong to either side.
    let (one, other) = (consumed.min(until + end), consumed.max(until + end));
    assert!(text[one..other].trim_ascii().is_empty(), "{consumed} and {}", until + end);
    let events =
        |all: &[cru::vault::journal::Entry]| all.iter().map(|it| it.event.get().to_owned()).collect::<Vec<_>>();
    assert_eq!([events(&first), events(&second)].concat(), events(&entries));
});
