//! The rules, and where each is asked.

use super::assignment::{self, Assignment};
use super::prefix::{Bytes, Prefix};
use super::scan::Text;
use super::shape;
use std::ops::Range;

/// What finds one kind of secrets.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) by: By,
}

/// How a rule finds.
pub(super) enum By {
    /// A word that begins in a certain way.
    Prefix(Prefix),
    /// What stands at the start of a word that begins with one of these.
    Word(&'static [&'static str], fn(&Text<'_>, usize) -> Option<Range<usize>>),
    /// What stands around one of these.
    Around(&'static [&'static str], fn(&Text<'_>, usize) -> Option<Range<usize>>),
    /// The value behind the `=`, `:` or blank that ends a name; what such names end with.
    Value(&'static [&'static str], fn(&Text<'_>, &Assignment<'_>) -> Option<Range<usize>>),
}

const fn token(name: &'static str, starts: &'static [&'static str], bytes: Bytes, least: usize) -> Rule {
    Rule { name, by: By::Prefix(Prefix { starts, bytes, least, exact: false }) }
}

const fn exact(name: &'static str, starts: &'static [&'static str], bytes: Bytes, len: usize) -> Rule {
    Rule { name, by: By::Prefix(Prefix { starts, bytes, least: len, exact: true }) }
}

const fn word(
    name: &'static str,
    starts: &'static [&'static str],
    find: fn(&Text<'_>, usize) -> Option<Range<usize>>,
) -> Rule {
    Rule { name, by: By::Word(starts, find) }
}

const fn value(
    name: &'static str,
    ends: &'static [&'static str],
    find: fn(&Text<'_>, &Assignment<'_>) -> Option<Range<usize>>,
) -> Rule {
    Rule { name, by: By::Value(ends, find) }
}

/// Every rule; where two find at one place, the first one counts.
pub(super) const RULES: &[Rule] = &[
    word("private-key", &["-----BEGIN "], shape::private_key),
    Rule { name: "private-key", by: By::Around(&["-----END "], shape::private_key_tail) },
    exact("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Bytes::Capitals, 16),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Bytes::Letters, 30),
    token("github-token", &["github_pat_"], Bytes::Name, 22),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glagent-", "glft-", "glimt-"],
        Bytes::Dotted,
        20,
    ),
    token("anthropic-key", &["sk-ant-"], Bytes::Dashed, 20),
    token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-lf-", "sk-"], Bytes::Dashed, 20),
    token(
        "slack-token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-"],
        Bytes::Dotted,
        10,
    ),
    token(
        "slack-webhook",
        &["https://hooks.slack.com/services/", "https://hooks.slack.com/workflows/"],
        Bytes::Path,
        20,
    ),
    token(
        "discord-webhook",
        &["https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"],
        Bytes::Path,
        40,
    ),
    Rule { name: "discord-token", by: By::Around(&["login(", "bot ", "discord"], shape::discord) },
    token("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], Bytes::Letters, 16),
    token("stripe-key", &["whsec_"], Bytes::Path, 24),
    token("google-api-key", &["AIza"], Bytes::Dashed, 35),
    token("google-oauth", &["ya29.", "GOCSPX-", "1//0"], Bytes::Dashed, 20),
    Rule { name: "azure-secret", by: By::Around(&["Q~"], shape::azure_secret) },
    token("npm-token", &["npm_"], Bytes::Letters, 36),
    token("pypi-token", &["pypi-AgE", "pypi-AgN", "pypi-"], Bytes::Dashed, 50),
    token("hugging-face-token", &["hf_", "api_org_"], Bytes::Letters, 30),
    token("sendgrid-key", &["SG."], Bytes::Dotted, 40),
    exact("twilio-key", &["SK"], Bytes::Hex, 32),
    Rule { name: "telegram-token", by: By::Around(&[":AA"], shape::telegram) },
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Bytes::Letters, 40),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], Bytes::Dashed, 20),
    token("vault-token", &["hvs.", "hvb.", "hvr."], Bytes::Dashed, 24),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Bytes::Letters, 32),
    token("age-key", &["AGE-SECRET-KEY-1"], Bytes::Capitals, 50),
    token(
        "service-key",
        &[
            "gsk_",
            "glsa_",
            "glc_",
            "lin_api_",
            "sbp_",
            "sb_secret_",
            "xai-",
            "pplx-",
            "PMAK-",
            "NRAK-",
            "HRKU-",
            "dapi",
            "dp.pt.",
            "nfp_",
            "ntn_",
            "sntrys_",
            "tvly-",
            "e2b_",
            "lsv2_pt_",
            "lsv2_sk_",
            "pscale_tkn_",
            "jina_",
            "tgp_v1_",
            "rpa_",
            "figd_",
            "ATATT3",
            "ATCTT3",
        ],
        Bytes::Dashed,
        28,
    ),
    token("service-key", &["r8_"], Bytes::Letters, 30),
    word("jwt", &["eyJ"], shape::jwt),
    word("bearer-token", &["bearer"], shape::bearer),
    Rule { name: "url-password", by: By::Around(&["://"], shape::url_password) },
    value(
        "authorization",
        &["authorization", "x-api-key", "x-auth-token", "private-token", "x-goog-api-key"],
        assignment::authorization,
    ),
    value("docker-auth", &["auth"], assignment::basic),
    value("password", assignment::PASSWORDS, assignment::password),
    value("aws-secret-key", &["secret_access_key", "secretaccesskey", "secret-access-key"], assignment::secret),
    value("azure-key", &["accountkey", "sharedaccesskey"], assignment::secret),
    value("signature", &["sig"], assignment::signature),
    value("secret", assignment::SECRETS, assignment::secret),
];
