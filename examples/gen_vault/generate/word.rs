//! Words, sentences, names and paths, the frequent ones most often and each of many thousands now and then.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::random::Random;

/// How many words there are beside numbers and hashes.
const WORDS: usize = 150_000;

/// The most frequent words, in the order of their frequency.
static FREQUENT: LazyLock<Vec<&str>> = LazyLock::new(|| SENTENCES.split_ascii_whitespace().collect());
const SENTENCES: &str = "the to a is and of in test it that file not for with this on be as are error from run so by \
    which one when code has no but all line at only then they its two now fix first change new what path read if was \
    build function note out same value there them name where will before step can use call check into after case does \
    still each or would makes list key lines time returns up parser session makes more index empty other log state \
    second without because result fails instead also an left passes folder server type token data word text over than \
    how just made been three branch clock loop merge cache query config default module missing while already both \
    request response struct field schema version commit release thread lock journal buffer byte span digest retry \
    timeout panic assert fixture snapshot refactor helper import export table column row header footer migrate deploy \
    pipeline container cluster worker queue event stream socket client handler route endpoint login password cookie \
    permission policy review finding comment reason option argument flag default branch closure generic trait macro \
    allocate overflow underflow boundary offset cursor iterator sort filter group window frame render layout style \
    button dialog canvas pixel colour shader matrix vector kernel driver device register interrupt scheduler process";

const SYLLABLES: &[&str] = &[
    "ka", "to", "ri", "men", "sol", "ta", "ver", "ne", "lo", "dra", "qui", "bel", "os", "tan", "mi", "cor", "fe",
    "lun", "pa", "ster", "gi", "ran", "du", "vil", "hex", "ban", "mor", "pli", "sen", "tu", "zar", "wen", "jo", "kel",
    "by", "cra", "nim", "oth", "pru", "sha",
];

const ENDINGS: &[&str] = &["", "s", "ed"];

/// The word of a rank.
pub(crate) fn word(text: &mut String, rank: usize) {
    if let Some(word) = FREQUENT.get(rank) {
        text.push_str(word);
        return;
    }
    // Neighbours in rank look different, and no two words are alike: the factor shares no divisor with the range.
    let mut left = rank.wrapping_mul(2_654_435_761) % (64_000 * ENDINGS.len());
    for _ in 0..3 {
        text.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    text.push_str(ENDINGS[left % ENDINGS.len()]);
}

fn any(text: &mut String, random: &mut Random) {
    word(text, random.rank(WORDS));
}

/// A name as in code: `snake_case` or `camelCase`.
pub(crate) fn name(text: &mut String, random: &mut Random) {
    let (parts, camel) = (1 + usize::from(random.percent(40)), random.percent(35));
    for part in 0..parts {
        let from = text.len();
        if part > 0 && !camel {
            text.push('_');
        }
        any(text, random);
        if part > 0 && camel {
            text[from..=from].make_ascii_uppercase();
        }
    }
}

/// A path of a file in a project: projects share no files, and some files are worked on all the time.
pub(crate) fn path(text: &mut String, project: usize, random: &mut Random) {
    const TOPS: &[&str] = &["src", "tests", "docs", "crates", "app", "lib", "scripts", "web/components"];
    const ENDS: &[&str] = &["rs", "rs", "ts", "py", "md", "toml", "json", "tsx", "go", "sql"];
    let file = random.rank(1_500);
    let mut own = Random::new(project as u64, file as u64 + 1);
    text.push_str(own.pick(TOPS));
    for _ in 0..own.between(0, 1) {
        text.push('/');
        any(text, &mut own);
    }
    text.push('/');
    name(text, &mut own);
    text.push('.');
    text.push_str(own.pick(ENDS));
}

/// Hexadecimal digits.
pub(crate) fn hash(text: &mut String, digits: usize, random: &mut Random) {
    for _ in 0..digits {
        let _ = write!(text, "{:x}", random.below(16));
    }
}

/// Plain words with blanks between, as in a title.
pub(crate) fn words(text: &mut String, count: usize, random: &mut Random) {
    for place in 0..count {
        if place > 0 {
            text.push(' ');
        }
        any(text, random);
    }
}

/// A sentence of an agent or a person: words, and now and then a name, a path, a number, a code of an error.
pub(crate) fn sentence(text: &mut String, project: usize, random: &mut Random) {
    let (from, count) = (text.len(), random.between(5, 20));
    for place in 0..count {
        if place > 0 {
            text.push_str(if random.percent(7) { ", " } else { " " });
        }
        match if place == 0 { 99 } else { random.below(100) } {
            0..=3 => quoted(text, |text| name(text, random)),
            4 => quoted(text, |text| path(text, project, random)),
            5 => {
                let _ = write!(text, "{}", random.rank(100_000));
            }
            6 => {
                text.push_str("**");
                any(text, random);
                text.push_str("**");
            }
            7 if random.percent(30) => {
                let _ = write!(text, "E{:04}", random.below(1_000));
            }
            8 if random.percent(12) => {
                text.push_str(random.pick(&["naïve", "größer", "façade", "検索", "журнал", "ключ"]));
            }
            _ => any(text, random),
        }
    }
    text[from..=from].make_ascii_uppercase();
    text.push('.');
}

fn quoted(text: &mut String, inside: impl FnOnce(&mut String)) {
    text.push('`');
    inside(text);
    text.push('`');
}
