use proptest::prelude::*;

use super::*;

/// Words with their positions.
fn words(text: &str) -> String {
    cut(text).iter().map(|token| format!("{}:{}", token.position, token.text)).collect::<Vec<_>>().join(" ")
}

#[test]
fn prose() {
    assert_eq!(words("Fix the Login, again."), "0:fix 1:the 2:login 3:again");
    assert_eq!(words(""), "");
    assert_eq!(words(" -- !? "), "");
}

#[test]
fn names_are_cut_and_stand_whole() {
    assert_eq!(words("fooBar"), "0:foo 0:foobar 1:bar");
    assert_eq!(words("x snake_case y"), "0:x 1:snake 1:snakecase 2:case 3:y");
    assert_eq!(words("HTTPServer"), "0:http 0:httpserver 1:server");
    assert_eq!(words("getHTTPUrl"), "0:get 0:gethttpurl 1:http 2:url");
    assert_eq!(words("__init__ _ MAX_LEN"), "0:init 1:max 1:maxlen 2:len");
    assert_eq!(words("ÉcoleÜber"), "0:ecole 0:ecoleuber 1:uber");
    assert_eq!(words("Login ÀB"), "0:login 1:ab");
}

#[test]
fn paths_and_the_rest_are_cut() {
    assert_eq!(words("src/index/words.rs:12"), "0:src 1:index 2:words 3:rs 4:12");
    assert_eq!(words("std::io::Error"), "0:std 1:io 2:error");
    assert_eq!(words("--dry-run=yes"), "0:dry 1:run 2:yes");
}

#[test]
fn escapes_of_quoted_text_hide_no_word() {
    assert_eq!(words(r"hello\nworld\tfooBar\n"), "0:hello 1:nworld 1:world 2:tfoo 2:foo 2:foobar 3:bar 4:n");
    assert_eq!(words(r"C:\temp\new"), "0:c 1:temp 1:emp 2:new 2:ew");
}

#[test]
fn digits_stay_with_letters() {
    assert_eq!(words("e0308 E0308 9f2c11ab 9F2C11AB v2 sha256"), "0:e0308 1:e0308 2:9f2c11ab 3:9f2c11ab 4:v2 5:sha256");
    assert_eq!(words("utf8Parser"), "0:utf8 0:utf8parser 1:parser");
    assert_eq!(words("HTTP2Server"), "0:http2 0:http2server 1:server");
}

#[test]
fn case_and_accents_do_not_matter() {
    assert_eq!(words("Café cafe\u{301} CAFÉ"), "0:cafe 1:cafe 2:cafe");
    assert_eq!(words("Straße STRASSE Øl Łódź İstanbul"), "0:strasse 1:strasse 2:ol 3:lodz 4:istanbul");
    assert_eq!(words("ﬁle ＡＢＣ"), "0:file 1:abc");
    assert_eq!(words("Ответ ΣΊΣΥΦΟΣ Σίσυφος"), "0:ответ 1:σισυφοσ 2:σισυφοσ");
}

#[test]
fn scripts_without_blanks() {
    assert_eq!(words("全文検索とは"), "0:全 1:文 2:検 3:索 4:と 5:は");
    assert_eq!(words("ガ カ\u{3099} ｶﾞ"), "0:ガ 1:ガ 2:ガ");
    assert_eq!(words("검색 \u{1100}\u{1165}\u{11b7}"), "0:검 1:색 2:검");
    assert_eq!(words("v2の結果abc"), "0:v2 1:の 2:結 3:果 4:abc");
}

#[test]
fn long_runs_are_cut_and_not_dropped() {
    let tokens = cut(&format!("{}needle", "a".repeat(1000)));
    assert_eq!(tokens.iter().map(|token| token.text.len()).max(), Some(LONGEST));
    assert_eq!(tokens.last().map(|token| (token.offset_from, token.offset_to)), Some((1000, 1006)));
    let snake = cut(&"ab_".repeat(500));
    assert_eq!(snake.len(), 501);
    assert_eq!(snake[1].text.len(), LONGEST);
}

#[test]
fn a_tokenizer_is_used_again() {
    let mut words = Words::default();
    for _ in 0..2 {
        let mut stream = words.token_stream("fooBar");
        assert!(stream.advance() && stream.advance());
        assert_eq!(stream.token().text, "foobar");
    }
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        r"[a-zA-Z0-9_ ./\\]{0,40}",
        "[a-zA-Zéß\u{301}\u{3099}가カ\u{1100}\u{1161}\u{11a8}漢字ﬁกิ\u{345}0-9_ -]{0,40}",
    ]
}

proptest! {
    #[test]
    fn every_letter_is_in_a_word(text in texts()) {
        let mut covered = vec![false; text.len()];
        let mut before = 0;
        for token in cut(&text) {
            prop_assert!(text.get(token.offset_from..token.offset_to).is_some_and(|part| !part.is_empty()));
            prop_assert!(!token.text.is_empty());
            prop_assert!(token.position >= before && token.position <= before + 1);
            before = token.position;
            covered[token.offset_from..token.offset_to].fill(true);
        }
        for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            prop_assert!(covered[at], "{c:?} at {at}");
        }
    }

    #[test]
    fn case_is_nothing_to_a_plain_word(word in "[a-z0-9é]{1,20}") {
        let texts = |text: &str| cut(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
        prop_assert_eq!(texts(&word), texts(&word.to_uppercase()));
    }
}
