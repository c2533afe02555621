//! How many tokens a text is, estimated.
//!
//! Every host has another tokenizer and some publish none, so a table of one of them (half a megabyte or more, read at
//! every start) would be no truer than a rule. The rule is careful: it counts the pieces that byte-pair encoders find
//! (words, runs of digits, marks), and rather too many than too few. Lines are counted one by one, so the tokens of
//! parts add up to the tokens of the whole.

/// Longest word that is taken for one token; longer ones are pieces of [`PIECE`].
const WORD: usize = 6;
const PIECE: usize = 4;
/// The same for a run of capitals, which no encoder knows as well.
const CAPITALS: usize = 3;

/// The tokens of `text`: the sum over its lines; a blank line costs nothing.
pub fn count(text: &str) -> u64 {
    text.lines().map(line).sum()
}

/// One line with the line end behind it.
pub(super) fn line(line: &str) -> u64 {
    if line.trim().is_empty() {
        return 0;
    }
    let mut tokens = 1;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let mut kind = TokenKind::of(c);
        let mut same = true;
        let mut run = 1;
        while let Some(&next) = chars.peek() {
            let goes_on = match kind {
                // `HttpServer` and `fooBar` are two words.
                TokenKind::Lower => TokenKind::of(next) == TokenKind::Lower,
                TokenKind::Upper if run == 1 && TokenKind::of(next) == TokenKind::Lower => {
                    kind = TokenKind::Lower;
                    true
                }
                TokenKind::Mark => {
                    TokenKind::of(next) == TokenKind::Mark && {
                        same &= next == c;
                        true
                    }
                }
                kind => TokenKind::of(next) == kind,
            };
            if !goes_on {
                break;
            }
            chars.next();
            run += 1;
        }
        tokens += match kind {
            TokenKind::Mark if same => 1 + run / 8,
            kind => cost(kind, run, c),
        } as u64;
    }
    tokens
}

fn cost(kind: TokenKind, run: usize, first: char) -> usize {
    match kind {
        TokenKind::Lower if run <= WORD => 1,
        TokenKind::Lower => run.div_ceil(PIECE),
        TokenKind::Upper => run.div_ceil(CAPITALS),
        TokenKind::Digit => run.div_ceil(3),
        // One blank belongs to the word behind it.
        TokenKind::Blank if run == 1 && first == ' ' => 0,
        TokenKind::Blank => 1 + run / 16,
        // `":"` and `});` are known to encoders.
        TokenKind::Mark => (2 * run).div_ceil(3),
        TokenKind::Letter => run.div_ceil(2),
        TokenKind::Wide => run + run / 2,
        TokenKind::Symbol => 2 * run,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    Lower,
    Upper,
    Digit,
    Blank,
    /// Any other ASCII.
    Mark,
    /// Letters of alphabets beyond ASCII.
    Letter,
    /// Letters of scripts without blanks between words.
    Wide,
    /// The rest: arrows, boxes, emoji.
    Symbol,
}

impl TokenKind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            c if c.is_whitespace() => Self::Blank,
            c if c.is_ascii() => Self::Mark,
            '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => Self::Wide,
            c if c.is_alphabetic() => Self::Letter,
            _ => Self::Symbol,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with the tokens that two public encoders make of them (`cl100k_base`, `o200k_base`; counted once).
    const REFERENCE: &[(&str, u64, u64)] = &[
        (
            "The harbour office asks once in the morning and prints the answer. Freshness of an hour is enough; a wrong time is worse than a missing one.",
            31,
            31,
        ),
        (
            "Die Zeiten werden nicht gerundet, weil der Hafenmeister sie mit der gedruckten Tabelle vergleicht und Abweichungen sofort bemerkt.",
            37,
            29,
        ),
        (
            "fn parse(row: &str) -> Option<Height> {\n    let (code, value) = row.split_once(' ')?;\n    value.parse::<f64>().ok().map(|metres| Height { code, metres })\n}",
            48,
            48,
        ),
        (
            "- `Bash cargo test --test hourly` → ✗ 2 of 7 failed: height -0.3 parsed as 0.3 (13:26:10, exit 101, 14.2 s) ^n-004\n    - reads: `src/hourly.rs@5e0d77aa`, `tests/hourly.rs@08b1f2c3`",
            86,
            84,
        ),
        ("| model | input | output |\n| --- | ---: | ---: |\n| claude-opus-4-5 | 8120 | 11900 |", 34, 34),
        ("949d76fb-5d94-4a37-8bf1-ee850e6992ec 9f2c11ab4f1c2ab07aa01b2c0ffee12d0c4e9183fa5510e", 56, 55),
        (
            "{\"id\":\"TASK-008\",\"content\":\"Rotate signing keys\",\"status\":\"in_progress\",\"priority\":\"high\",\"progress\":50}",
            26,
            26,
        ),
        ("启动应用时确保环境变量已经设置，然后再检查数据库连接是否正常。", 27, 16),
        ("Сначала проверь журнал, потом исправь ошибку и запусти все тесты ещё раз.", 30, 21),
        ("潮汐の予報を計算する前に、観測所の識別子を確認してください。", 35, 24),
        (
            "TypeError: Cannot read properties of undefined (reading 'stationCount') at HttpServer.handleRequest (/srv/tidepool/dist/server.js:188:27)",
            31,
            32,
        ),
        ("🚀 Deployed ✅ tests passed ❌ lint failed → see ├── src │ └── main.rs", 23, 23),
        (
            "git commit -m 'import: look harbours up by code' && git push origin HEAD:refs/heads/fix/station-import",
            28,
            28,
        ),
        (
            "SELECT station_id, MAX(height_m) FROM samples WHERE taken_at >= NOW() - INTERVAL '7 days' GROUP BY station_id ORDER BY 2 DESC;",
            32,
            33,
        ),
    ];

    /// The rule for single lines of any kind: at most 5 % fewer than the newer encoder, 15 % fewer than the older one.
    /// Over whole notes, where kinds of text mix, the estimate is 5 to 35 % above both.
    #[test]
    fn never_much_fewer_than_an_encoder_counts() {
        let mut sums = (0, 0);
        for (text, older, newer) in REFERENCE {
            let counted = count(text);
            assert!(counted * 100 >= newer * 95 && counted * 100 >= older * 85, "{counted} for {newer}: {text}");
            assert!(counted <= older * 2, "{counted} for {older}: {text}");
            sums = (sums.0 + counted, sums.1 + older.max(newer));
        }
        assert!(sums.0 >= sums.1 && sums.0 * 3 <= sums.1 * 4, "{sums:?}");
    }

    #[test]
    fn lines_add_up() {
        let (a, b) = ("## Title\n\nHttpServer x = 12345;", "- `next`\n\n\n> more…");
        assert_eq!(count(a) + count(b), count(&format!("{a}\n\n{b}\n")));
        assert_eq!(count("\n \n"), 0);
    }
}
