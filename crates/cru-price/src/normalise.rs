//! The names under which the price of a model may stand.

/// The id as it is written, without the prefix of a provider, without a date at its end, without both.
pub(crate) fn candidates<'a>(model: &'a str, prefixes: &[String]) -> [&'a str; 4] {
    let bare = prefixes.iter().find_map(|prefix| model.strip_prefix(prefix.as_str())).unwrap_or(model);
    [model, bare, undated(model), undated(bare)]
}

/// The maker's own id for one as clouds and hosts write it, `us.anthropic.claude-opus-4-5-20251101-v1:0`,
/// `claude-opus-4-5@20251101`, `claude-opus-4.7`, `claude-opus-4-5[1m]`: they serve the maker's model at the maker's
/// list price. `None` where it is written in none of these ways.
pub(crate) fn makers_id(model: &str) -> Option<String> {
    const VENDOR: &str = "anthropic.";
    let mut id = model.split_once('[').map_or(model, |(id, _)| id);
    // An inference profile names its region before the vendor.
    let region = |at: usize| at == 0 || id[..at].strip_suffix('.').is_some_and(|it| !it.contains('.'));
    if let Some(at) = id.find(VENDOR).filter(|at| region(*at)) {
        id = &id[at + VENDOR.len()..];
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = |text: &str| text.split(':').all(is_number);
    if let Some((name, _)) = id.rsplit_once("-v").filter(|(_, version)| is_version(version)) {
        id = name;
    }
    let mut id = id.replace('@', "-");
    if id.contains("claude-") {
        id = id.replace('.', "-");
    }
    (id != model && !id.is_empty()).then_some(id)
}

/// Without `-20251101` or `-2025-11-01` at the end.
fn undated(model: &str) -> &str {
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |text: &str| {
        let mut parts = text.split('-');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(whole), None, ..) => digits(whole, 8) && whole.starts_with("20"),
            (Some(year), Some(month), Some(day), None) => {
                digits(year, 4) && year.starts_with("20") && digits(month, 2) && digits(day, 2)
            }
            _ => false,
        }
    };
    let cut = |length: usize| {
        let at = model.len().checked_sub(length)?;
        let (name, date) = (model.get(..at)?, model.get(at..)?.strip_prefix('-')?);
        (!name.is_empty() && is_date(date)).then_some(name)
    };
    cut(9).or_else(|| cut(11)).unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_and_a_date_are_taken_off() {
        let prefixes = ["anthropic/".to_owned(), "openai/".to_owned()];
        let all = |model| candidates(model, &prefixes);
        assert_eq!(all("claude-opus-4-5"), ["claude-opus-4-5"; 4]);
        assert_eq!(all("anthropic/claude-opus-4-5-20251101")[3], "claude-opus-4-5");
        assert_eq!(all("openai/gpt-4o-2024-05-13")[1..], ["gpt-4o-2024-05-13", "openai/gpt-4o", "gpt-4o"]);
        for other in ["groq/llama", "gemini-2.5-pro-preview-05-06", "x-12345678", "-20251101", "é-2025-11", ""] {
            assert_eq!(all(other), [other; 4]);
        }
    }

    #[test]
    fn ids_of_clouds_and_hosts_are_the_makers() {
        for other in [
            "us.anthropic.claude-opus-4-5-20251101-v1:0",
            "anthropic.claude-opus-4-5-20251101-v1",
            "bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5@20251101",
            "claude-opus-4-5-20251101[1m]",
            "claude-opus-4.5-20251101",
        ] {
            assert_eq!(makers_id(other).as_deref(), Some("claude-opus-4-5-20251101"), "{other}");
        }
        for own in ["claude-opus-4-5", "gpt-4.1", "kimi-k2-v", "groq/kimi-k3", ""] {
            assert_eq!(makers_id(own), None, "{own}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_name_can_be_asked(model in "\\PC{0,24}(-20[0-9-]{0,9})?") {
            let _ = (candidates(&model, &["a/".to_owned()]), makers_id(&model));
        }
    }
}
