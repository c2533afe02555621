//! Where a session ran, in words that hold on every machine: home folder, project, channel, agent name.
//!
//! Home is recognised in the transcript's own paths and never taken from the environment, so that the same transcript
//! gives the same note everywhere.

/// The letter of the drive that a path of Windows lies on, in small letters, and the path behind it: of `C:\x`, and of the
/// same as the shells there write it, `/c/x`, `/mnt/c/x` and `/cygdrive/c/x`.
pub fn drive(path: &str) -> Option<(u8, &str)> {
    if let [letter, b':', ..] = path.as_bytes() {
        return letter.is_ascii_alphabetic().then(|| (letter.to_ascii_lowercase(), &path[2..]));
    }
    let root = ["/mnt/", "/cygdrive/", "/"].into_iter().find_map(|root| path.strip_prefix(root))?;
    let (letter, behind) = (root.as_bytes().first()?, root.get(1..)?);
    let is_drive = letter.is_ascii_alphabetic() && (behind.is_empty() || behind.starts_with('/'));
    is_drive.then(|| (letter.to_ascii_lowercase(), behind))
}

/// The home folder that `path` lies in, by its form: `/home/me`, `/Users/me`, `/root`, `C:\Users\me`.
pub fn home_of(path: &str) -> Option<&str> {
    if path == "/root" || path.starts_with("/root/") {
        return Some("/root");
    }
    let drive = drive(path).map(|(_, rest)| rest);
    let (base, rest) = drive.unwrap_or(path).strip_prefix(['/', '\\'])?.split_once(['/', '\\'])?;
    let name = rest.split(['/', '\\']).next().filter(|name| !name.is_empty())?;
    let is_letter = path.as_bytes().get(1) == Some(&b':');
    let known = base == "Users" || drive.is_none() && base == "home" || is_letter && base.eq_ignore_ascii_case("users");
    known.then(|| &path[..path.len() - rest.len() + name.len()])
}

/// `path` with `~` in the place of `home`.
pub fn shorten(path: &str, home: Option<&str>) -> String {
    let rest = home.and_then(|home| path.strip_prefix(home));
    match rest {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// The last folder of `path` as a tag: letters, digits, `_` and `-`, not digits alone. `None` when nothing is left.
pub fn channel(path: &str) -> Option<String> {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next()?;
    let tag = squeeze(name, |c| c.is_alphanumeric() || c == '_');
    if tag.is_empty() {
        None
    } else if tag.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '_') {
        Some(format!("project-{tag}"))
    } else {
        Some(tag)
    }
}

/// `text` as a tag of a note: letters, digits, `_`, `-` and `/`, not digits alone.
pub(super) fn tag(text: &str) -> Option<String> {
    let tag = squeeze(text.trim().trim_start_matches('#'), |c| c.is_alphanumeric() || matches!(c, '_' | '/'));
    tag.chars().any(char::is_alphabetic).then_some(tag)
}

/// `name` as an agent may be called: a letter, then letters, digits, `_`, `.`, `-`.
pub(super) fn agent_name(name: &str) -> String {
    let name = squeeze(name, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    match name.chars().next() {
        None => "agent".to_owned(),
        Some(c) if c.is_ascii_alphabetic() => name,
        Some(_) => format!("agent-{name}"),
    }
}

/// `name` with every run of characters that are not kept as one `-`, none at the ends.
fn squeeze(name: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in name.chars().take(64) {
        if keep(c) {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches(['-', '.']).len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes() {
        assert_eq!(home_of("/home/me/code/api"), Some("/home/me"));
        assert_eq!(home_of("/Users/Ada Lovelace"), Some("/Users/Ada Lovelace"));
        assert_eq!(home_of("/root/x"), Some("/root"));
        assert_eq!(home_of(r"C:\Users\me\code"), Some(r"C:\Users\me"));
        assert_eq!(home_of("c:/users/me/code"), Some("c:/users/me"));
        assert_eq!(home_of("/c/Users/me/code"), Some("/c/Users/me"));
        assert_eq!(home_of("/mnt/c/Users/me"), Some("/mnt/c/Users/me"));
        for path in [
            "/srv/app",
            "/home/",
            "",
            "C:",
            "é:\\Users",
            "/rooted",
            "/mnt/home/me",
            "/c/home/me",
            "/u/users/me",
            "/mnt/é",
        ] {
            assert_eq!(home_of(path), None, "{path}");
        }
    }

    #[test]
    fn shortens_only_whole_folders() {
        assert_eq!(shorten("/home/me/code", Some("/home/me")), "~/code");
        assert_eq!(shorten("/home/me", Some("/home/me")), "~");
        assert_eq!(shorten("/home/meg/code", Some("/home/me")), "/home/meg/code");
        assert_eq!(shorten("/srv", None), "/srv");
    }

    #[test]
    fn channels_are_tags() {
        assert_eq!(channel("/home/me/code/api.v2/").as_deref(), Some("api-v2"));
        assert_eq!(channel(r"C:\work\my project").as_deref(), Some("my-project"));
        assert_eq!(channel("/srv/2024").as_deref(), Some("project-2024"));
        assert_eq!(channel("/"), None);
    }

    #[test]
    fn agents_begin_with_a_letter() {
        assert_eq!(agent_name("general-purpose"), "general-purpose");
        assert_eq!(agent_name("plugin:code reviewer"), "plugin-code-reviewer");
        assert_eq!(agent_name("7th"), "agent-7th");
        assert_eq!(agent_name("…"), "agent");
    }
}
