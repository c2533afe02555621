//! Hooks that came by a plugin of the host: which plugin is enabled, and what its files call.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::place::SettingsPlace;
use super::settings::{self, FoundHooks};
use crate::base::{Env, files};
use crate::live::hook::HOSTS;

/// Bytes of a file that is read.
const LARGEST: u64 = 16 << 20;

/// A plugin of ours that settings enable.
#[derive(Debug)]
pub(super) struct InstalledPlugin {
    /// As the settings name it: `cru@marketplace`.
    pub(super) name: String,
    /// Its file of hooks, where it is found.
    pub(super) hooks: Option<PathBuf>,
    pub(super) found: Vec<FoundHooks>,
}

/// The name under which settings enable the plugin.
pub(super) fn enabled(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let plugins = value.get("enabledPlugins")?.as_object()?;
    let (name, _) = plugins.iter().find(|(name, on)| name.split('@').next() == Some("cru") && **on == true)?;
    Some(name.clone())
}

/// The plugin that the settings of some places enable.
pub(super) fn find(places: &[SettingsPlace], env: &Env) -> Option<InstalledPlugin> {
    let mut texts = places.iter().filter_map(|place| place.read().ok().flatten());
    let name = texts.find_map(|text| enabled(&text))?;
    let user = SettingsPlace::user(env);
    let folder = user.as_ref().and_then(|place| place.path.parent()).map(|folder| folder.join("plugins"));
    let roots = folder.map(|folder| roots(&folder, &name)).unwrap_or_default();
    let files = roots.into_iter().map(|root| root.join("hooks/hooks.json"));
    let read = |path: &Path| String::from_utf8(files::read_regular(path, LARGEST).ok().flatten()?).ok();
    let mut found = files.filter_map(|path| Some((settings::find(&read(&path)?, &HOSTS[0]).ok()?, path)));
    let (found, hooks) = found.next().map(|(found, path)| (found, Some(path))).unwrap_or_default();
    Some(InstalledPlugin { name, hooks, found })
}

/// The folders that the host's list of installed plugins names for one: an object, or a list of them.
fn roots(folder: &Path, name: &str) -> Vec<PathBuf> {
    let bytes = files::read_regular(&folder.join("installed_plugins.json"), LARGEST).ok().flatten();
    let Some(list) = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()) else { return Vec::new() };
    let Some(plugin) = list.get("plugins").and_then(|plugins| plugins.get(name)) else { return Vec::new() };
    let installs = plugin.as_array().map_or_else(|| vec![plugin], |list| list.iter().collect());
    let paths = installs.into_iter().filter_map(|install| install.get("installPath")?.as_str());
    paths.map(PathBuf::from).filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn an_enabled_plugin_is_found_with_its_hooks() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (temp.path(), temp.path().join("cache/cru/1"));
        let env = Env::fixed(Timestamp::UNIX_EPOCH, home, &[("HOME", home.to_str().unwrap())]);
        let put = |path: &str, text: &str| files::put(&home.join(path), text.as_bytes()).unwrap();
        let places = [SettingsPlace::user(&env).unwrap()];
        assert!(find(&places, &env).is_none());
        put(".claude/settings.json", r#"{"enabledPlugins": {"cru@own": false, "other@own": true}}"#);
        assert!(find(&places, &env).is_none());
        put(".claude/settings.json", r#"{"enabledPlugins": {"cru@own": true}}"#);
        let plugin = find(&places, &env).unwrap();
        assert!(plugin.name == "cru@own" && plugin.hooks.is_none() && plugin.found.is_empty());

        put("cache/cru/1/hooks/hooks.json", include_str!("../../../plugin/hooks/hooks.json"));
        let install = serde_json::json!({ "installPath": root });
        for list in [serde_json::json!([install]), install] {
            let list = serde_json::json!({ "plugins": { "cru@own": list } });
            put(".claude/plugins/installed_plugins.json", &list.to_string());
            let plugin = find(&places, &env).unwrap();
            assert_eq!(plugin.hooks, Some(root.join("hooks/hooks.json")));
            assert!(plugin.found.len() > 5);
        }
    }
}
