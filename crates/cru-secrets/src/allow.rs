//! What only looks like a secret: placeholders, the examples of handbooks, names and numbers that stand for other things.

/// Words of values that stand for a secret and are none.
const WORDS: &[&str] = &[
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "change-me",
    "change_me",
    "your-",
    "your_",
    "yourtoken",
    "dummy",
    "not-a-real",
    "notreal",
    "masked",
    "insert",
    "replace",
];

/// Whether a value is a placeholder: a reference, dots, the same sign over and over, an example by its own words.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    b"$<{%*[(".contains(first)
        || value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'.' | b'*' | b'-' | b'_' | b'0'))
        || is_example(value)
}

/// Whether it says of itself that it is no real one.
pub(crate) fn is_example(value: &[u8]) -> bool {
    /// Signs that repeat so often are filling.
    const FILLING: usize = 6;
    let mut run = 1;
    for pair in value.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        // Runs of `A` are common in what is encoded.
        if run >= FILLING && !pair[0].is_ascii_digit() && pair[0] != b'A' || run >= FILLING + 2 {
            return true;
        }
    }
    let holds = |word: &&str| {
        let word = word.as_bytes();
        value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
    };
    WORDS.iter().any(holds) || holds(&"abcdefghij") || holds(&"1234567890")
}

/// `0b5e1c1a-7a4c-4c5e-9d1f-000000000000`
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// `2026-11-20T09:31:04Z`, `10.0.0.1:8080`, `1.2.3-rc.1`: digits that signs divide.
pub(crate) fn is_number(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    letters <= 3 && value.iter().any(|byte| matches!(byte, b':' | b'.' | b'-'))
}

/// `./a/b2.rs`, `/etc/x`, `https://…`: where something is, and not what it is.
pub(crate) fn is_path(value: &[u8]) -> bool {
    [b"/".as_slice(), b"./", b"../", b"~/", b"file:", b"http:", b"https:"].iter().any(|start| value.starts_with(start))
}

/// `config.auth.token2`, `my_token_12`: a name in code, of words that letters make.
pub(crate) fn is_name(value: &[u8]) -> bool {
    /// The most digits at the end of a word.
    const SHORT: usize = 4;
    let is_word = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let rest = &part[letters..];
        let digits = if letters == 0 { SHORT + 2 } else { SHORT };
        // The most letters of one.
        let plain = rest.len() <= digits && letters <= 32 && rest.iter().all(u8::is_ascii_digit);
        let mut humps = 0;
        for pair in part[..letters].windows(2) {
            humps += usize::from(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        }
        plain && humps * 4 <= letters
    };
    value.split(|byte| b"._-/:".contains(byte)).all(is_word)
}
