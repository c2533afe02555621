use proptest::prelude::*;

use super::*;

/// A secret of each rule, in the text it stands in; joined here so that no scanner takes this file for a leak.
fn samples() -> Vec<(&'static str, String, String)> {
    let long = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2";
    let of = |rule, secret: String, before: &str, behind: &str| (rule, format!("{before}{secret}{behind}"), secret);
    let prefixed = |rule, start: &str| of(rule, format!("{start}{long}"), "use ", " here");
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{long}\n{long}==\n-----END RSA PRIVATE KEY-----");
    vec![
        of("aws-access-key", format!("AKIA{}", "ABCD2345EFGH6789"), "id=", "\n"),
        prefixed("github-token", "ghp_"),
        prefixed("github-token", "github_pat_"),
        prefixed("gitlab-token", "glpat-"),
        prefixed("anthropic-key", "sk-ant-api03-"),
        prefixed("openai-key", "sk-"),
        prefixed("openai-key", "sk-proj-"),
        prefixed("slack-token", "xoxb-"),
        of("slack-webhook", format!("https://hooks.slack.com/services/T0/B1/{long}"), "", ""),
        prefixed("stripe-key", "sk_live_"),
        prefixed("google-api-key", "AIza"),
        prefixed("npm-token", "npm_"),
        of("jwt", format!("eyJ{long}.eyJ{long}.{long}"), "Cookie: id=", ";"),
        of("private-key", key.clone(), "", "\nafter"),
        of("private-key", key.replace('\n', "\\n"), "{\"key\": \"", "\"}"),
        of("bearer-token", long.to_owned(), "curl -H 'X: Bearer ", "'"),
        of("authorization", "dXNlcjpwYXNz".to_owned(), "Authorization: Basic ", "\r\n"),
        of("authorization", long.to_owned(), "{\"Authorization\": \"token ", "\"}"),
        of("url-password", "hunter2".to_owned(), "postgres://app:", "@db:5432/x"),
        of("password", "hunter2".to_owned(), "password=", ""),
        of("password", "correcthorse".to_owned(), "DB_PASSWORD=", "\n"),
        of("password", "correcthorse".to_owned(), "x --password ", " y"),
        of("password", "correcthorse".to_owned(), "{\"password\": \"", "\"}"),
        of("password", "correcthorse".to_owned(), "{\\\"password\\\": \\\"", "\\\"}"),
        of("password", "hunter2!".to_owned(), "password: ", "\n"),
        of("secret", long.to_owned(), "export MY_TOKEN=", "\n"),
        of("secret", long.to_owned(), "client_secret = '", "'"),
        of("secret", long.to_owned(), "\"apiKey\": \"", "\","),
    ]
}

#[test]
fn each_rule_finds_its_secret() {
    for (rule, text, secret) in samples() {
        let found = find(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].rule, &text[found[0].range.clone()]), (rule, secret.as_str()), "{text}");
        assert_eq!(mask(&text), text.replace(&secret, &format!("[secret:{rule}]")));
    }
}

#[test]
fn code_and_prose_stay() {
    for text in [
        "password: string;",
        "connect(user=user, password=password)",
        "let token = parse_token(input)?;",
        "const apiKey = process.env.API_KEY;",
        "export DB_PASSWORD=$SECRET_FROM_ENV",
        "password=${PASSWORD} token: <your-token> key='********'",
        "Authorization: Bearer {token}",
        "Enter your password: ",
        "expected Authorization: Basic header, got none",
        "\"password\": \"Enter your password here\"",
        "PWD=/home/me/work2 OLDPWD=/tmp/x1",
        "the task-runner and sk-button-primary-large-rounded",
        "https://example.org/a:b@c and git@github.com:me/repo.git",
        "primary_key = \"0123456789abcdef0123\"",
        "commit 9f2c11ab77aa01b29f2c11ab77aa01b29f2c11ab",
        "std::env::var(\"GITHUB_TOKEN\")",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "eyJ is how a JWT begins; eyJhbGciOiJIUzI1NiJ9 is its head",
        "tokens: 1234567890123",
        "Bearer of bad news",
        "[secret:password] and password=[secret:password]",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn an_open_key_block_is_masked_as_far_as_it_goes() {
    let text = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nabcd1234\nefgh5678\n\n[cut]";
    assert_eq!(mask(text), "a\n[secret:private-key][cut]");
}

#[test]
fn hostile_texts_take_no_more_time_than_others() {
    let most = 60_000;
    for part in [
        "eyJ-",
        "sk-",
        "sk-sk-",
        "password=",
        "token=",
        "TOKEN: ",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "Bearer ",
        "-----BEGIN ",
        "eyJaaaaaaaaaa.",
        "--password ",
        "ghp_",
        "=",
        ":",
        " ",
        "\\",
        "é=",
    ] {
        let text = part.repeat(most / part.len());
        assert!(mask(&text).len() <= text.len() * 3, "{part}");
    }
}

fn words() -> impl Strategy<Value = String> {
    // No name, no sign and no digit of a secret among them.
    proptest::collection::vec("[a-z]{1,9}|[ .,()\n]|é|[0-9]{1,4}", 0..40).prop_map(|parts| parts.join(" "))
}

proptest! {
    #[test]
    fn nothing_of_a_secret_is_left(before in words(), which in 0..28_usize, behind in words()) {
        let samples = samples();
        prop_assert_eq!(samples.len(), 28);
        let (_, text, secret) = &samples[which];
        let text = format!("{before} {text} {behind}");
        let masked = mask(&text);
        prop_assert!(!masked.contains(secret.as_str()), "{masked}");
    }

    #[test]
    fn text_without_secrets_stays(text in words()) {
        prop_assert!(matches!(mask(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn masking_twice_changes_nothing(
        parts in proptest::collection::vec(
            prop_oneof![
                (0..28_usize).prop_map(|which| samples()[which].1.clone()),
                "[a-zA-Z0-9=:@/ \"'\\\\_.é-]{0,12}",
                Just("password=".to_owned()),
                Just("token: ".to_owned()),
                Just("Authorization: ".to_owned()),
                Just("://u:".to_owned()),
                Just("-----BEGIN PRIVATE KEY-----".to_owned()),
            ],
            0..8,
        ),
    ) {
        let text = parts.concat();
        let once = mask(&text).into_owned();
        let twice = mask(&once);
        prop_assert_eq!(&twice, &once);
        let mut at = 0;
        for found in find(&text) {
            prop_assert!(found.range.start >= at && text.get(found.range.clone()).is_some_and(|part| !part.is_empty()));
            at = found.range.end;
        }
    }
}
