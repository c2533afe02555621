//! The shell command of a call, out of the forms it has had: a list of words, `bash -lc` and a script, or a text.

use serde_json::Value;

/// What is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// A command as a shell reads it.
    Script(String),
    /// A patch given to the host's own program.
    Patch(String),
}

/// Shells that take a script after one option.
const SHELLS: &[&str] = &["bash", "cmd", "cmd.exe", "dash", "powershell", "powershell.exe", "pwsh", "sh", "zsh"];

/// Reads what is run; `None` where nothing is.
pub(super) fn read(command: &Value) -> Option<Run> {
    let script = match command {
        Value::String(script) => script.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            if let ["apply_patch" | "applypatch", patch, ..] = words[..] {
                return Some(Run::Patch(patch.to_owned()));
            }
            inner(&words).map_or_else(|| join(&words), str::to_owned)
        }
        _ => return None,
    };
    if script.trim().is_empty() {
        return None;
    }
    Some(patch_in(&script).map_or_else(|| Run::Script(script.trim().to_owned()), Run::Patch))
}

/// The script in `bash -lc script`.
fn inner<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (program, rest) = words.split_first()?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    if !SHELLS.contains(&name.as_str()) {
        return None;
    }
    let (script, options) = rest.split_last()?;
    let is_option = |word: &&str| word.starts_with(['-', '/']);
    (!options.is_empty() && options.iter().all(is_option)).then_some(script)
}

/// Words as they would be typed.
fn join(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// The patch of a script that does nothing but apply one.
fn patch_in(script: &str) -> Option<String> {
    let script = script.trim();
    let starts = |text: &str| text.starts_with("apply_patch") || text.starts_with("applypatch");
    let after_cd = || script.strip_prefix("cd ")?.split_once("&&").map(|(_, rest)| rest.trim_start());
    if !starts(script) && !after_cd().is_some_and(starts) {
        return None;
    }
    let from = script.find(crate::patch::BEGIN)?;
    let to = script.rfind(crate::patch::END).map_or(script.len(), |at| at + crate::patch::END.len());
    script.get(from..to).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_a_command() {
        let script =
            |value: Value, wanted: &str| assert_eq!(read(&value), Some(Run::Script(wanted.to_owned())), "{value}");
        script(json!(["bash", "-lc", "ls -la | head"]), "ls -la | head");
        script(json!(["/usr/bin/zsh", "-l", "-c", "pwd\n"]), "pwd");
        script(json!("cargo test"), "cargo test");
        script(json!(["git", "commit", "-m", "it's done"]), r"git commit -m 'it'\''s done'");
        script(json!(["powershell.exe", "-NoProfile", "-Command", "dir"]), "dir");
        script(json!(["bash", "run.sh"]), "bash run.sh");
        assert_eq!(read(&json!([])), None);
        assert_eq!(read(&json!(5)), None);
    }

    #[test]
    fn patches_in_disguise() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
        let is = |value: Value| assert_eq!(read(&value), Some(Run::Patch(patch.to_owned())), "{value}");
        is(json!(["apply_patch", patch]));
        is(json!(["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF\n")]));
        is(json!(format!("cd sub && apply_patch <<'EOF'\n{patch}\nEOF")));
        assert!(matches!(read(&json!(format!("cat <<'EOF'\n{patch}\nEOF"))), Some(Run::Script(_))));
    }
}
