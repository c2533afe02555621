use proptest::prelude::*;

use super::super::{EditError, Fill, GeneratedLines, Missing, Region, RenewedRegion, region, renew_region};
use crate::Note;

const LEAVE: Missing<'_> = Missing::Leave;

fn renewed(text: &str, fill: &Fill<'_>, old: &str) -> Result<String, EditError> {
    let lines = GeneratedLines::of(old);
    let known = |seal: &str| (seal == lines.seal()).then(|| lines.clone());
    renew_region(&Note::parse(text), fill, &known).map(|it| it.patch.apply_to(text))
}

fn filled(text: &str, new: &str) -> String {
    renewed(text, &Fill::new("log", new, LEAVE), "").unwrap()
}

#[test]
fn only_what_stands_between_the_marks_changes() {
    let text = "mine\n<!-- cru:begin log -->\n<!-- cru:end -->\nmine too\n\n<!-- cru:begin x -->\n<!-- cru:end -->";
    let seal = GeneratedLines::of("- a\n- b").seal();
    let new = filled(text, "- a\n- b\n");
    assert_eq!(new, text.replacen("log -->\n", &format!("log {seal} -->\n\n- a\n- b\n\n"), 1));
    assert_eq!(region(&Note::parse(new.as_str()), "log"), Ok(Region { inside: "\n- a\n- b\n\n", seal: &seal }));
    assert_eq!(filled(&new, "- a\n- b"), new);
    let spaced = new.replace("- a\n", "- a  \n\n");
    assert_eq!(filled(&spaced, "- a\n- b"), spaced, "white space is the editor's");
    let none = GeneratedLines::default().seal();
    assert_eq!(filled(&new, ""), text.replacen("log", &format!("log {none}"), 1));
    assert_eq!(filled(&new.replace('\n', "\r\n"), "- c"), filled(&new, "- c").replace('\n', "\r\n"));
}

#[test]
fn what_a_person_wrote_moves_below_once() {
    let first = filled("# P\n\n<!-- cru:begin log -->\n<!-- cru:end -->\n- mine\n", "- a\n- b");
    let edited = first.replace("- a\n", "mine first\n\n- a, changed\n").replace("- b\n", "- b\n\n> mine last\n");
    let new = renewed(&edited, &Fill::new("log", "- b\n- c", LEAVE), "- a\n- b").unwrap();
    let below = "<!-- cru:end -->\n\nmine first\n\n- a, changed\n\n> mine last\n\n- mine\n";
    assert!(new.ends_with(below), "{new}");
    assert_eq!(renewed(&new, &Fill::new("log", "- b\n- c", LEAVE), "- b\n- c").unwrap(), new);
    let lists = first.replace("- b\n", "- b\n- mine too\n");
    let new = renewed(&lists, &Fill::new("log", "- c", LEAVE), "- a\n- b").unwrap();
    assert!(new.ends_with("<!-- cru:end -->\n\n- mine too\n\n<!-- -->\n\n- mine\n"), "lists stay two: {new}");
    let alone = first.replace("- b\n", "- b\n\n^own-id\n");
    let new = renewed(&alone, &Fill::new("log", "- c", LEAVE), "- a\n- b").unwrap();
    assert!(new.contains("<!-- cru:end -->\n\n- a\n- b\n\n^own-id\n"), "an id stays with its list: {new}");
}

#[test]
fn a_region_without_seal_loses_nothing() {
    let text = "<!-- cru:begin log -->\n\n- old\n- same\n\n<!-- cru:end -->";
    let new = filled(text, "- same\n- new");
    assert!(new.ends_with("\n- same\n- new\n\n<!-- cru:end -->\n\n- old"), "{new}");
    assert_eq!(filled(&new, "- same\n- new"), new);
    let named = filled("<!-- cru:begin log Europe/Berlin -->\n\n- old\n\n<!-- cru:end log -->\n", "- new");
    assert!(named.ends_with("<!-- cru:end log -->\n\n- old\n"), "{named}");
}

#[test]
fn broken_marks_are_left() {
    for text in [
        "<!-- cru:begin log -->\nx",
        "<!-- cru:begin log -->\n<!-- cru:begin log -->\n<!-- cru:end -->",
        "<!-- cru:begin log -->\n\n<!-- cru:begin x -->\n<!-- cru:end -->\n<!-- cru:end -->",
        "<!-- cru:end -->\n<!-- cru:begin log -->\n",
        "<!-- cru:begin log --> words\n<!-- cru:end -->",
        "<!-- cru:begin log --> words -->\n<!-- cru:end -->",
        "<!-- cru:begin log my own words -->\n<!-- cru:end -->",
        "- item\n  <!-- cru:begin log -->\n  <!-- cru:end -->",
        "<!-- cru:begin log -->\n```\nopen\n<!-- cru:end -->",
        "<!-- cru:begin log\n-->\n<!-- cru:end -->",
    ] {
        assert_eq!(
            renewed(text, &Fill::new("log", "x", LEAVE), ""),
            Err(EditError::BrokenRegion("log".into())),
            "{text}"
        );
    }
    for text in ["", "```\n<!-- cru:begin log -->\n<!-- cru:end -->\n```", "<!-- cru:begin logs -->\n<!-- cru:end -->"]
    {
        assert_eq!(filled(text, "x"), text);
    }
    let latin = b"<!-- cru:begin log -->\n\nm\xfcde\n\n<!-- cru:end -->\n";
    let fill = Fill::new("log", "x", LEAVE);
    assert_eq!(renew_region(&Note::parse(latin.to_vec()), &fill, &|_| None), Err(EditError::NoText));
    let open = filled("<!-- cru:begin log -->\n<!-- cru:end -->\n", "- a");
    assert_eq!(renewed(&open, &Fill::new("log", "```\nopen", LEAVE), "- a"), Err(EditError::Open));
}

#[test]
fn a_region_is_put_where_it_is_missing() {
    let put = |text: &str, missing| renewed(text, &Fill::new("log", "- a", missing), "").unwrap();
    let region = filled("<!-- cru:begin log -->\n<!-- cru:end -->", "- a");
    let end = Missing::Append(None);
    assert_eq!(put("", end), format!("{region}\n"));
    assert_eq!(put("---\nk: v\n---\n", end), format!("---\nk: v\n---\n{region}\n"));
    assert_eq!(put("# A\n", end), format!("# A\n\n{region}\n"));
    assert_eq!(put("# A\n\n", end), format!("# A\n\n{region}\n"));
    assert_eq!(put("# A", end), format!("# A\n\n{region}"));
    assert_eq!(put("\u{feff}# A\r\n", end), format!("\u{feff}# A\n\n{region}\n").replace('\n', "\r\n"));
    assert_eq!(put("# A\n", Missing::Append(Some("## V"))), format!("# A\n\n## V\n\n{region}\n"));
    assert_eq!(put("# A\n\n## B\n", Missing::At(5)), format!("# A\n\n{region}\n\n## B\n"));
    let open = Fill::new("log", "x", end);
    assert_eq!(renewed("```\nopen", &open, ""), Err(EditError::Merge));
}

/// Generated lines of many kinds.
fn generated() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "- \\[\\[[ab]#\\^d-0[12]\\|T[12]\\]\\]",
        "\\| [a-c] \\| [0-9] \\|",
        "[A-C][a-c ]{0,4}",
        "- \\[ \\] lesson: [abc] %%r-0000000[0-9]%%",
        Just(String::new()),
    ];
    prop::collection::vec(line, 0..7).prop_map(|lines| lines.join("\n"))
}

/// What a person writes: blocks of any kind, each with a word that stands nowhere else.
fn own() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("mine {}"),
        Just("- mine {}"),
        Just("  - mine {}"),
        Just("> mine {}\n> more"),
        Just("```\nmine {}\n\nx\n```"),
        Just("| mine {} |\n| --- |\n| a |"),
        Just("# mine {}"),
        Just("mine {} %%c%%"),
        Just("- [x] mine {} %%r-00000001%%"),
        Just("mine {}\n\n^an-id"),
        Just("1. mine {}"),
        Just("mine {}\n---"),
        Just("\tmine {}"),
        Just("%%\nmine {}\n%%"),
        Just("<b>mine {}</b>"),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    /// Whatever a person does inside a region, with or without the seal and the lines that belong to it: their words stand
    /// in the note exactly once, all around stays byte for byte, and the next write changes nothing.
    #[test]
    fn no_word_of_a_person_is_lost(
        old in generated(),
        new in generated(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..5, own()), 0..5),
        around in ("(words\n\n|- item\n|# H\n\n|> q\n\n|```\ncode\n```\n){0,2}", "(\n?words\n|\n?- item\n|\n# H\n|\n```\ncode\n```\n){0,2}"),
        forms in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let (above, behind) = around;
        let (crlf, bom, is_known, has_seal) = forms;
        let first = format!("{above}<!-- cru:begin log -->\n<!-- cru:end -->\n{behind}");
        let Ok(first) = renewed(&first, &Fill::new("log", &old, LEAVE), "") else { return Ok(()) };
        let begin = first.find("<!-- cru:begin").unwrap();
        let begin = begin + first[begin..].find('\n').unwrap() + 1;
        let end = first.find("<!-- cru:end").unwrap();
        let mut lines: Vec<String> = first[begin..end].lines().map(str::to_owned).collect();
        let mut words = Vec::new();
        for (number, (at, how, own)) in edits.iter().enumerate() {
            let word = format!("w{number}w");
            let at = at.index(lines.len() + 1);
            match (how, lines.get_mut(at)) {
                (0, Some(_)) => drop(lines.remove(at)),
                (1, Some(line)) => line.push_str("  "),
                (2, Some(line)) if !line.is_empty() && !line.contains('w') => {
                    line.push_str(&format!(" {word}"));
                    words.push(word);
                }
                _ => {
                    lines.insert(at, own.replace("{}", &word));
                    words.push(word);
                }
            }
        }
        // A whole line that a person deleted takes the words of theirs that stood in it along.
        let inside = lines.join("\n");
        words.retain(|word| inside.contains(word.as_str()));
        let mut text = format!("{}{inside}\n{}", &first[..begin], &first[end..]);
        if !has_seal {
            let seal = GeneratedLines::of(&old).seal();
            text = text.replace(&format!(" {seal} -->"), " -->");
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if bom {
            text = format!("\u{feff}{text}");
        }
        let known = GeneratedLines::of(if is_known { &old } else { "" });
        let known = |seal: &str| (seal == known.seal()).then(|| known.clone());
        let fill = Fill::new("log", &new, LEAVE);
        let Ok(RenewedRegion { patch, .. }) = renew_region(&Note::parse(text.as_str()), &fill, &known) else {
            return Ok(());
        };
        let after = patch.apply_to(&text);
        for word in &words {
            prop_assert_eq!(after.matches(word.as_str()).count(), 1, "{}\n--- became\n{}", text, after);
        }
        let mark = |text: &str| text.find("<!-- cru:begin").unwrap();
        prop_assert_eq!(&after[..mark(&after)], &text[..mark(&text)]);
        prop_assert!(after.ends_with(&text[text.find("<!-- cru:end -->").unwrap() + 16..]), "{}\n---\n{}", text, after);
        prop_assert_eq!(after.contains("\r\n"), text.contains("\r\n"));
        prop_assert!(!crlf || !after.replace("\r\n", "").contains('\n'), "{:?}", after);
        let lines = GeneratedLines::of(&new);
        let again = renew_region(&Note::parse(after.as_str()), &fill, &|seal| (seal == lines.seal()).then(|| lines.clone()));
        prop_assert!(again.as_ref().is_ok_and(|it| it.patch.is_empty()), "{:?}\n{}", again, after);
    }

    /// Whatever text has marks in whatever order: a write is refused, or every line that was not between the marks of the one
    /// region stands as it did, and those between stand somewhere.
    #[test]
    fn marks_in_any_order_lose_nothing(
        parts in prop::collection::vec(prop_oneof![
            Just("<!-- cru:begin log -->\n"), Just("<!-- cru:begin log 0a1b2c3d -->\n"), Just("<!-- cru:end -->\n"), Just("<!-- cru:end -->"),
            Just("<!-- cru:begin x -->\n"), Just("```\n"), Just("%%\n"), Just("> <!-- cru:begin log -->\n"), Just("    <!-- cru:end -->\n"),
            Just("<!-- cru:begin log\n"), Just("mine\n"), Just("- b\r\n"), Just("\n"), Just("---\n"), Just("a: b\n"), Just("-->\n"), Just("## H\n"),
        ], 0..9),
        append: bool,
    ) {
        let text = parts.concat();
        let fill = Fill::new("log", "- a\n- b", if append { Missing::Append(None) } else { LEAVE });
        if let Ok(renewed) = renew_region(&Note::parse(text.as_str()), &fill, &|_| None) {
            let after = renewed.patch.apply_to(&text);
            for line in text.lines().filter(|line| !line.contains("cru:") && !line.trim().is_empty()) {
                let count = |text: &str| text.lines().filter(|it| it.trim_end() == line.trim_end()).count();
                prop_assert!(count(&after) >= count(&text), "{:?}\n{}\n--- became\n{}", line, text, after);
            }
        }
    }
}
