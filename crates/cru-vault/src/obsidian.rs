//! What Obsidian's own settings say of a vault.

use std::path::Path;

use serde_json::Value;

use super::VaultPath;
use cru_base::files;

/// The folder that the core plugin "Templates" takes its templates from; `None` where nothing names one in the vault.
pub fn template_folder(root: &Path) -> Option<VaultPath> {
    // The largest settings file that is read, bytes.
    let bytes = files::read_regular(&root.join(".obsidian/templates.json"), 1 << 20).ok().flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    let settings: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let folder = VaultPath::new(settings.get("folder")?.as_str()?.trim().trim_matches('/'))?;
    // A hidden folder is none that Obsidian shows.
    let is_hidden = folder.as_path().iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
    (!is_hidden).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_templates() {
        let rows = [
            (r#"{"folder":"My templates"}"#, Some("My templates")),
            (r#"{"folder":"Meta/Templates/"}"#, Some("Meta/Templates")),
            (r#"{"folder":"/"}"#, None),
            (r#"{"folder":""}"#, None),
            (r#"{"folder":"../out"}"#, None),
            (r#"{"folder":".hidden/a"}"#, None),
            (r#"{"folder":7}"#, None),
            ("{ nonsense", None),
        ];
        for (settings, wanted) in rows {
            let temp = tempfile::tempdir().unwrap();
            files::create(&temp.path().join(".obsidian/templates.json"), settings.as_bytes()).unwrap();
            assert_eq!(template_folder(temp.path()).map(|it| it.to_string()).as_deref(), wanted, "{settings}");
        }
        assert_eq!(template_folder(Path::new("/nonexistent")), None);
    }
}
