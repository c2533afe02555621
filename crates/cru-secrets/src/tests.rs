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
        "password=9fK2-",
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

/// Values that differ by `seed`.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn of(&mut self, signs: &[u8], len: usize) -> String {
        (0..len).map(|_| char::from(signs[self.next(signs.len())])).collect()
    }

    /// Letters and digits.
    fn random(&mut self, len: usize) -> String {
        self.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", len)
    }

    /// Letters alone.
    fn letters(&mut self, len: usize) -> String {
        self.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", len)
    }

    fn hex(&mut self, len: usize) -> String {
        self.of(b"0123456789abcdef", len)
    }
}

/// Names whose value is a secret, as programs and people write them; `{}` stands for it.
const KEYED: &[&str] = &[
    "password: {}",
    "Password: {}",
    "please use password: {} now",
    "passwd: {}",
    "pass: {}",
    "--password={} --host db",
    "PASS={}",
    "export SMTP_PASS={}",
    "db_password = \"{}\"",
    "pwd={}",
    "Server=db;Uid=sa;Pwd={};Encrypt=true",
    "API_TOKEN={}",
    "export API_KEY={}",
    "api_token: {}",
    "**Token:** {}",
    "**Token**: {}",
    "**Token:** `{}`",
    "- **API key**: {}",
    "**Password:** {}",
    "| API key | {} |",
    "| `API_KEY` | `{}` |",
    "| Password | {} |",
    "`API_TOKEN`: `{}`",
    "`token` = `{}`",
    "`password`: `{}`",
    "the secret key is {}",
    "The API key is `{}`.",
    "my password is {}",
    "the token is: {}",
    "curl -u admin:{} https://example.org",
    "curl -s --user 'admin:{}' https://example.org",
    "mysql -h db -u root -p{} app",
    "mysqldump -p{} app",
    "sshpass -p {} ssh root@host",
    "sshpass -p '{}' ssh root@host",
    "docker login -u me -p {} registry.io",
    "docker login --password {} registry.io",
    "machine api.host login me password {}",
    "redis-cli -a {} ping",
];

#[test]
fn no_random_value_of_a_name_is_missed() {
    let mut missed = Vec::new();
    for shape in KEYED {
        let mut drawn = Drawn(7);
        for round in 0..1_000 {
            let len = 16 + drawn.next(17);
            let value = if round % 4 == 0 { drawn.letters(len) } else { drawn.random(len) };
            let text = shape.replace("{}", &value);
            if mask(&text).contains(&value) {
                missed.push(text);
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {}: {}",
        missed.len(),
        KEYED.len() * 1_000,
        missed[..missed.len().min(40)].join("\n")
    );
}

/// Tokens of registries are longer than any password.
#[test]
fn no_end_of_a_long_secret_stays() {
    let mut drawn = Drawn(5);
    for length in [40, 256, 257, 512, 3_000] {
        let secret = drawn.letters(length);
        for line in [
            format!("docker login -u AWS -p {secret} registry.io"),
            format!("curl -u me:{secret} https://example.org"),
            format!("curl -u \"me:{secret}\" https://example.org"),
            format!("mysql -h db -p{secret} app"),
        ] {
            let masked = mask(&line);
            assert!(!masked.contains(&secret[length - 20..]), "{length}: {masked}");
            assert!(masked.contains("example.org") || masked.contains("registry.io") || masked.ends_with(" app"));
        }
    }
}

#[test]
fn the_beginning_alone_decides() {
    let mut drawn = Drawn(3);
    for _ in 0..1_000 {
        let letters = |drawn: &mut Drawn, len| drawn.letters(len);
        for secret in [
            format!("ghp_{}", letters(&mut drawn, 36)),
            format!("glpat-{}", letters(&mut drawn, 20)),
            format!("sk_live_{}", letters(&mut drawn, 24)),
            format!("npm_{}", letters(&mut drawn, 36)),
            format!("hf_{}", letters(&mut drawn, 34)),
            format!("1//0{}", letters(&mut drawn, 60)),
            format!("AKIA{}", drawn.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 16)),
            format!("nvapi-{}", letters(&mut drawn, 64)),
            format!("NRAK-{}", drawn.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 27)),
            format!("tskey-auth-{}-{}", drawn.random(17), drawn.random(32)),
            format!("pul-{}", drawn.hex(40)),
            format!("{}.atlasv1.{}", drawn.random(14), drawn.random(67)),
            format!("key-{}", drawn.hex(32)),
        ] {
            for text in [format!("use {secret} here"), format!("refresh_token: {secret}"), format!("\"{secret}\"")] {
                assert!(!mask(&text).contains(&secret[6..]), "{text}: {}", mask(&text));
            }
        }
    }
}

#[test]
fn cookies_and_refresh_tokens_are_masked() {
    let mut drawn = Drawn(5);
    for _ in 0..200 {
        let value = drawn.random(32);
        for text in [
            format!("Cookie: theme=dark; sid={value}; lang=en"),
            format!("Set-Cookie: session={value}; Path=/; HttpOnly"),
            format!("curl -b 'sid={value}' https://example.org"),
            format!("refresh_token: 1//0{value}"),
            format!("curl -H \"Cookie: PHPSESSID={value}\" https://example.org"),
        ] {
            assert!(!mask(&text).contains(&value), "{text}");
        }
    }
    assert_eq!(mask("Cookie: theme=dark; lang=en"), "Cookie: theme=dark; lang=en");
}

#[test]
fn an_id_that_a_program_is_given_as_its_token_is_masked() {
    let id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
    for text in [format!("export DEPLOY_TOKEN=\"{id}\""), format!("CI_API_KEY={id} make deploy")] {
        assert!(!mask(&text).contains(id), "{text}");
    }
    for text in
        [format!("token: {id}"), format!("SESSION_ID={id}"), format!("PARTITION_KEY={id}"), format!("users:{id}")]
    {
        assert_eq!(mask(&text), text);
    }
}

#[test]
fn what_one_place_tells_is_masked_in_all() {
    let [odd, number] = ["tR9v%2mQx4", "48213370B.z"];
    let told = format!("PASSWORD='{odd}' sshpass -p '{number}' ssh host; password: \"hunter22\"; password='changeit'");
    let clear = format!("echo {odd} | ssh; plink -pw {number}; say [{odd}]; changeit; v1.2.3-rc.1");
    let mut first = Masks::default();
    first.text(&clear);
    let masked = first.text(&told).into_owned();
    let mut again = first.with_hindsight([].into_iter()).unwrap();
    assert_eq!(again.text(&told), masked, "names stay");
    let shown = again.text(&clear).into_owned();
    assert!(!shown.contains(odd) && !shown.contains(number) && shown.ends_with("; changeit; v1.2.3-rc.1"), "{shown}");
    assert_eq!(again.text(&shown), shown);
    // Of another session it has no number.
    let other = Masks::default().with_hindsight([&first].into_iter()).unwrap().text(&clear).into_owned();
    assert!(other.contains("echo [secret:password] |"), "{other}");
    assert!(Masks::default().with_hindsight([].into_iter()).is_none());
    // In a note both places are told, the ordinary word in one.
    let note = format!("{clear}\n{told}\n");
    let found = find_all(&note);
    let of = |value: &str| found.iter().filter(|found| &note[found.range.clone()] == value).count();
    assert_eq!([of(odd), of(number), of("changeit")], [3, 2, 1], "{found:?}");
}

#[test]
fn words_behind_names_stay() {
    for text in [
        "PASS=12 FAIL=0",
        "PASS: test_reader_of_lines",
        "--- PASS: TestLogin (0.00s)",
        "pass: ok",
        "compass: northwest1",
        "pwd=/home/me/work2",
        "pwd=os.getcwd()",
        "  password: str",
        "  password: string",
        "password: required",
        "The password is stored hashed",
        "the password is sha256 hashed",
        "the password is user-provided",
        "token is missing",
        "The token is refreshed-automatically",
        "| token | string | the token of the session |",
        "| password | varchar255 | no |",
        "| Password | required |",
        "**Token:** the token of a session",
        "**Password**: at least twelve characters",
        "`token`: `string`",
        "    lpszProxyBypass: LPWSTR,",
        "    password: LPWSTR,",
        "credentials: SECPKG_BYTE_VECTOR,",
        "User: \"My password is secret123\"",
        "qpdf --password=mypassword --decrypt",
        "--password=PASSWORD",
        "--password=<password>",
        "--password=\"$PASSWORD\"",
        "curl -u user:password https://example.org",
        "curl -u \"$USER:$PASS\" https://example.org",
        "curl -u USER:TOKEN https://example.org",
        "mysql -u root -p",
        "mkdir -p src/deep/folder",
        "docker login -u me --password-stdin",
        "sshpass -p \"$PASS\" ssh host",
        "const apiToken = authService.createToken;",
        "idToken: cipherboxJwt,",
        "token: currentUserSessionToken",
        "cache-key-0123456789abcdef0123456789abcdee",
        "ASIAPACIFICREGIONALS",
        "export API_TOKEN=my_development_token_value",
        "the login page of a machine with a password reset",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

/// One value of each service that only the public rules know.
#[test]
fn public_rules_find() {
    let mut drawn = Drawn(11);
    let lower = |drawn: &mut Drawn, len| drawn.of(b"abcdefghijklmnopqrstuvwxyz0123456789", len);
    for (rule, text, secret) in [
        (
            "dynatrace-api-token",
            "",
            format!("dt0c01.{}.{}", drawn.of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 24), lower(&mut drawn, 64)),
        ),
        ("duffel-api-token", "", format!("duffel_test_{}", lower(&mut drawn, 43))),
        ("sendinblue-api-token", "", format!("xkeysib-{}-{}", drawn.hex(64), lower(&mut drawn, 16))),
        ("shippo-api-token", "", format!("shippo_live_{}", drawn.hex(40))),
        ("dropbox-api-token", "dropbox = ", lower(&mut drawn, 15)),
        ("datadog-access-token", "datadog: ", lower(&mut drawn, 40)),
        ("mailchimp-api-key", "mailchimp = ", format!("{}-us20", drawn.hex(32))),
        ("cloudflare-api-key", "cloudflare = ", lower(&mut drawn, 40)),
    ] {
        let found = find(&format!("{text}{secret} and more"));
        assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), [rule], "{text}{secret}");
    }
}

/// What was masked stays as it is, and nothing takes long.
#[test]
fn hostile_texts_of_public_rules_end_soon() {
    for part in [
        "cloudflare=",
        "discord:",
        "sg.",
        "a3-",
        "test_",
        "curl ",
        "curl -u ",
        "mysql -p",
        "cookie: a=",
        "machine ",
        "| token | ",
        "**token** ",
    ] {
        let text = part.repeat(200_000 / part.len());
        let began = std::time::Instant::now();
        let _ = mask(&text);
        assert!(began.elapsed().as_secs() < 20, "{part}: {:?}", began.elapsed());
    }
}

/// Where a text with a secret may stand: on a line, in JSON, a variable, an address, a header, code, output, a command.
fn places(text: &str) -> [String; 8] {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    [
        format!("I pasted it here: {text} and went on"),
        format!("{{\"id\": 7, \"content\": \"{quoted}\", \"ok\": true}}"),
        format!("export MY_THING={text}\nexport B=1"),
        format!("https://api.example.org/v1/items?x={text}&limit=20"),
        format!("X-Thing: {text}\r\nAccept: */*"),
        format!("let client = Client::new(\"{quoted}\");"),
        format!("     3\u{2192}{text}\n     4\u{2192}done"),
        format!("deploy --with {text} --region eu-1"),
    ]
}

/// How keys of services begin, what they are made of, and how long that is.
const TOKENS: &[(&str, &str, usize)] = &[
    ("csk-", "b36", 48),
    ("fw_", "b62", 24),
    ("pcsk_4Kx9a_", "b62", 63),
    ("vcp_", "b62", 24),
    ("vck_", "b62", 56),
    ("crsr_", "hex", 64),
    ("cfat_", "b62", 48),
    ("cfut_", "b62", 48),
    ("cfk_", "b62", 48),
    ("napi_", "b36", 64),
    ("re_Ab3dE5gH_", "b62", 24),
    ("KGAT_", "hex", 32),
    ("sk_", "hex", 48),
    ("fc-", "hex", 32),
    ("tvly-dev-", "b62", 32),
    ("rnd_", "b62", 32),
    ("ddp_", "b62", 36),
    ("nbp_", "b62", 36),
    ("hcaik_", "b36", 58),
    ("apify_api_", "b62", 36),
    ("ucat_", "b62", 26),
    ("polar_oat_", "b62", 43),
    ("ory_pat_", "b62", 32),
    ("sqp_", "hex", 40),
    ("squ_", "hex", 40),
    ("bkua_", "hex", 40),
    ("CCIPAT_F3kq9ZpLx2Wn7RtV4cYb8d_", "hex", 40),
    ("tr_prod_", "b62", 20),
    ("signkey-prod-", "hex", 64),
    ("llx-", "b62", 48),
    ("bb_live_", "b62", 27),
    ("mercury_production_rma_", "b62", 44),
    ("dp.st.prd.", "b62", 43),
    ("glrtr-", "b62", 20),
    ("lin_oauth_", "hex", 64),
    ("sbp_", "hex", 40),
    ("xaat-", "uuid", 36),
    ("pat-na1-", "uuid", 36),
    ("waka_", "uuid", 36),
    ("sdk-", "uuid", 36),
    ("nfp_", "b62", 36),
    ("secret-token:", "b62", 40),
    ("whsec_", "b62", 32),
    ("sk-or-v1-", "hex", 64),
    ("sntrys_", "b62", 90),
    ("IQoJb3JpZ2lu", "b62", 300),
    ("ABSK", "b62", 120),
    ("dt0s02.", "b62", 60),
    ("amzn.mws.", "uuid", 36),
    ("mdb_sa_sk_", "b62", 40),
    ("EAAB", "b62", 120),
    ("nsec1", "b36", 58),
    // Of services that nobody knows: the form alone tells.
    ("acme_live_", "b62", 24),
    ("qx_", "b62", 32),
    ("ZETA-", "b62", 28),
    ("blub_v2_", "b62", 40),
];

/// How many values each shape is tried with: 32, or 1,000 where `PROPTEST_CASES` is 8,000.
fn rounds() -> u32 {
    ProptestConfig::default().cases / 8
}

impl Drawn {
    fn body(&mut self, made: &str, len: usize) -> String {
        match made {
            "hex" => self.hex(len),
            "b36" => self.of(b"abcdefghijklmnopqrstuvwxyz0123456789", len),
            "uuid" => [8, 4, 4, 4, 12].map(|len| self.hex(len)).join("-"),
            _ => self.random(len),
        }
    }
}

#[test]
fn no_key_of_a_service_is_left_in_any_place() {
    let mut missed = Vec::new();
    for &(start, made, len) in TOKENS {
        let mut drawn = Drawn(13);
        for _ in 0..rounds() {
            let body = drawn.body(made, len);
            // One in some hundred has too few signs of a kind to be told by its form.
            let kinds = |is: fn(&u8) -> bool| body.bytes().filter(is).count() >= 3;
            let told = made != "b62" || (kinds(u8::is_ascii_digit) && kinds(u8::is_ascii_uppercase));
            for text in places(&format!("{start}{body}")) {
                if told && mask(&text).contains(&body) {
                    missed.push(text);
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}: {}", missed.len(), missed[..missed.len().min(40)].join("\n"));
}

/// Forms that say of a value that it is secret; `{}` stands for it.
const FORMS: &[&str] = &[
    "os.environ[\"API_TOKEN\"] = \"{}\"",
    "os.environ['DB_PASSWORD'] = '{}'",
    "process.env.API_TOKEN = \"{}\";",
    "process.env[\"API_KEY\"] = '{}'",
    "ENV['SECRET_TOKEN'] = '{}'",
    "$_ENV[\"DB_PASSWORD\"] = \"{}\";",
    "config[\"auth\"][\"api_token\"] = \"{}\"",
    "$env:API_TOKEN = \"{}\"",
    "setenv(\"API_TOKEN\", \"{}\", 1);",
    "os.Setenv(\"DB_PASSWORD\", \"{}\")",
    "System.setProperty(\"db.password\", \"{}\");",
    "config.set('api_token', '{}')",
    "define('DB_PASSWORD', '{}');",
    "[Environment]::SetEnvironmentVariable(\"API_TOKEN\", \"{}\", \"User\")",
    "request.addHeader(\"X-Auth-Token\", \"{}\");",
    "{\"name\": \"DB_PASSWORD\", \"value\": \"{}\"}",
    "{\"key\": \"API_TOKEN\", \"value\": \"{}\"}",
    "{\"value\": \"{}\", \"name\": \"API_TOKEN\"}",
    "{\n  \"name\": \"API_TOKEN\",\n  \"value\": \"{}\"\n}",
    "- name: DB_PASSWORD\n  value: {}",
    "- name: API_TOKEN\n  value: \"{}\"",
    "  - value: \"{}\"\n    name: API_TOKEN",
    "name = \"DB_PASSWORD\"\nvalue = \"{}\"",
    "variable \"db_password\" {\n  default = \"{}\"\n}",
    "<add key=\"ApiToken\" value=\"{}\" />",
    "<property name=\"db.password\" value=\"{}\"/>",
    "<entry key=\"db.password\">{}</entry>",
    "<string name=\"api_key\">{}</string>",
    "aws configure set aws_secret_access_key {}",
    "aws configure set aws_session_token {} --profile dev",
    "gh secret set API_TOKEN --body {}",
    "gh secret set API_TOKEN -b\"{}\"",
    "heroku config:set API_TOKEN={}",
    "fly secrets set DB_PASSWORD={}",
    "doppler secrets set API_TOKEN {}",
    "echo {} | vercel env add API_TOKEN production",
    "printf '%s' '{}' | wrangler secret put API_TOKEN",
    "echo \"{}\" | docker login -u me --password-stdin ghcr.io",
    "gh auth login --with-token <<< {}",
    "kubectl create secret generic db --from-literal=password={}",
    "kubectl create secret generic db --from-literal=stripe={}",
    "npm config set //registry.npmjs.org/:_authToken {}",
    "git config --global github.token {}",
    "pulumi config set --secret dbPassword {}",
    "set -gx API_TOKEN {}",
    "setx API_TOKEN {}",
    "vault kv put secret/db password={}",
    "vault login {}",
    "cargo login {}",
    "ngrok config add-authtoken {}",
    "tailscale up --authkey={}",
    "az login --service-principal -u app -p {} --tenant t",
    "az ad sp credential reset --client-secret {}",
    "openssl enc -aes-256-cbc -pass pass:{} -in a",
    "ALTER USER app WITH PASSWORD '{}';",
    "CREATE USER app IDENTIFIED BY '{}';",
    "requests.get(url, auth=(\"admin\", \"{}\"))",
    "HTTPBasicAuth('admin', '{}')",
    "API_KEY_PROD={}",
    "OPENAI_API_KEY_2={}",
    "SECRET_KEY_BASE={}",
    "const apiToken = '{}';",
    "\"privateKey\": \"{}\"",
    "serviceRoleKey: '{}'",
    "spring.datasource.password={}",
    "app.api.key={}",
    "-H \"X-Api-Key: {}\"",
    "Server=db;Database=x;User Id=sa;Password={};Encrypt=true",
    "AccountName=x;AccountKey={};EndpointSuffix=core.windows.net",
    "psql postgres://app:{}@db.example.org:5432/x",
    "redis://:{}@cache:6379/0",
];

#[test]
fn no_value_of_a_form_is_left_in_any_place() {
    let mut missed = Vec::new();
    for form in FORMS {
        let mut drawn = Drawn(17);
        for _ in 0..rounds() {
            let len = 20 + drawn.next(21);
            let value = drawn.random(len);
            if value.bytes().filter(u8::is_ascii_digit).count() < 2 {
                continue;
            }
            for (place, text) in places(&form.replace("{}", &value)).into_iter().enumerate() {
                if mask(&text).contains(&value) {
                    missed.push((format!("{form} {place}"), text));
                }
            }
        }
    }
    // One of each form and place.
    missed.sort_by_key(|(at, text): &(String, String)| (at.clone(), text.len()));
    missed.dedup_by(|a, b| a.0 == b.0);
    assert!(missed.is_empty(), "{}: {missed:#?}", missed.len());
}

#[test]
fn a_password_in_quotes_is_masked_to_its_end() {
    for value in ["aB3&xY,9)z", "p;q]r}s<t7", "tr0ub4dor&3"] {
        for text in [format!("{{\"password\": \"{value}\"}}"), format!("DB_PASSWORD='{value}'")] {
            assert_eq!(mask(&text), text.replace(value, "[secret:password]"));
        }
    }
}

#[test]
fn fields_and_commands_without_secrets_stay() {
    for text in [
        "{\"name\": \"DB_PASSWORD\", \"required\": true}",
        "{\"name\": \"password\", \"type\": \"string\", \"description\": \"of the user\"}",
        "{\"value\": \"a\", \"name\": \"password\", \"label\": \"Password\"}",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password",
        "- name: API_TOKEN\n  value: ${{ secrets.API_TOKEN }}",
        "variable \"db_password\" {\n  type = string\n  sensitive = true\n}",
        "<input name=\"password\" value=\"\" type=\"password\">",
        "fields = [\"password\", \"username\", \"created_at\"]",
        "os.environ[\"API_TOKEN\"] = get_token(config)",
        "os.environ[\"API_TOKEN\"]",
        "os.environ.get(\"API_TOKEN\", \"\")",
        "set the password prompt to something short",
        "git config user.signingkey 3AA5C34371567BD2",
        "git config credential.helper store",
        "gh secret set API_TOKEN --body \"$API_TOKEN\"",
        "gh secret set API_TOKEN < token.txt",
        "echo \"$TOKEN\" | docker login -u me --password-stdin",
        "cat token | gh auth login --with-token",
        "add a token refresh to the login page",
        "we use token bucket limits and create token streams",
        "aws configure set aws_session_token $AWS_SESSION_TOKEN",
        "vault login -method=userpass username=me",
        "cargo login --help",
        "the key is public.key and private.key lies beside",
        "integrity sha512-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2aB3dE5gH7jK9mN1pQ2rS4tU6==",
        "checksum = \"9f2c11ab77aa01b29f2c11ab77aa01b29f2c11ab9f2c11ab77aa01b29f2c11ab\"",
        "background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4)",
        ".Button_primary__a1B2c .sc-bdVaJa1x{color:#fff}",
        "!function(e,t){var n=e.token,r=t.password;n.secret=r.key}(a1,b2);",
        "test_token_is_refreshed_when_expired_2 ... ok",
        "id: 0b5e1c1a-7a4c-4c5e-9d1f-0c00f0a0b000, token: 0b5e1c1a-7a4c-4c5e-9d1f-0c00f0a0b000",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

/// Output of tools is cut anywhere, and prompts end anywhere.
#[test]
fn no_text_is_too_short_wherever_it_ends_or_begins() {
    let value = Drawn(5).random(24);
    let forms = FORMS.iter().map(|form| form.replace("{}", &value));
    let samples = samples().into_iter().map(|(_, text, _)| text);
    let bare = [
        "set the PASSWORD ",
        "set the password ",
        "gh secret set TOKEN ",
        "rm -rf x # TOKEN ",
        "export API_KEY=",
        "token:\t",
    ];
    for text in forms.chain(samples).chain(bare.map(str::to_owned)) {
        for (at, _) in text.char_indices() {
            let _ = (find(&text[..at]), find(&text[at..]));
            for more in ["PASSWORD ", "token ", "\"", "'", "\\", "=", " -", "\n"] {
                let _ = find(&format!("{}{more}", &text[..at]));
            }
        }
        find(&text);
    }
}
