//! Commands that a host records as a list of words: `["bash", "-lc", "cargo test"]`.

use std::borrow::Cow;

use serde_json::Value;

use crate::program::program_name;

/// The shell text of a recorded command: a text as it is, the script of `[shell, options…, script]`, else the words
/// quoted as they would be typed. `None` where nothing is run.
pub fn script(command: &Value) -> Option<Cow<'_, str>> {
    let script = match command {
        Value::String(script) => Cow::Borrowed(script.as_str()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            inner(&words).map_or_else(|| Cow::Owned(join(&words)), Cow::Borrowed)
        }
        _ => return None,
    };
    (!script.trim().is_empty()).then_some(script)
}

/// The text of a command as it stands in an argument text: plain, or the JSON of a list or of an object that has one.
pub(crate) fn unpack(args: &str) -> Cow<'_, str> {
    let text = args.trim_start();
    if !text.starts_with(['[', '{']) || text.starts_with("[ ") || text.starts_with("[[ ") {
        return Cow::Borrowed(args);
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(args) };
    let command = match &value {
        Value::Object(map) => ["command", "cmd", "script"].iter().find_map(|key| map.get(*key)),
        list => Some(list),
    };
    command.and_then(script).map_or(Cow::Borrowed(args), |script| Cow::Owned(script.into_owned()))
}

/// The script in `bash -lc script`.
fn inner<'w>(words: &[&'w str]) -> Option<&'w str> {
    const SHELLS: &[&str] = &["bash", "cmd", "dash", "powershell", "pwsh", "sh", "zsh", "ksh", "fish"];
    let (program, rest) = words.split_first()?;
    let name = program_name(program).to_ascii_lowercase();
    let (script, options) = rest.split_last().filter(|_| SHELLS.contains(&name.as_str()))?;
    (!options.is_empty() && options.iter().all(|word| word.starts_with(['-', '/']))).then_some(script)
}

/// Words as they would be typed.
pub fn join(words: &[&str]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', r"'\''"));
            line.push('\'');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_a_command() {
        let is = |value: Value, wanted: &str| assert_eq!(script(&value).as_deref(), Some(wanted), "{value}");
        is(json!(["bash", "-lc", "ls -la | head"]), "ls -la | head");
        is(json!(["/usr/bin/zsh", "-l", "-c", "pwd"]), "pwd");
        is(json!("cargo test"), "cargo test");
        is(json!(["git", "commit", "-m", "it's done"]), r"git commit -m 'it'\''s done'");
        is(json!(["powershell.exe", "-NoProfile", "-Command", "dir"]), "dir");
        is(json!(["bash", "run.sh"]), "bash run.sh");
        assert_eq!(script(&json!([])), None);
        assert_eq!(unpack(r#"["bash","-lc","make all"]"#), "make all");
        assert_eq!(unpack(r#"{"cmd":"ls","workdir":"x"}"#), "ls");
        assert_eq!(unpack("[ -f x ] && ls"), "[ -f x ] && ls");
    }
}
