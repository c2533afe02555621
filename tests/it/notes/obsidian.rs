//! What Obsidian asks of the files that `cru` writes: properties of the types it was told, bases, canvases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use gray_matter::engine::YAML;
use gray_matter::{Matter, ParsedEntity, Pod};
use serde_json::Value;

/// A new vault with the sessions of the invented transcripts of all agents.
struct Imported {
    temp: tempfile::TempDir,
}

impl Imported {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        world.cru(&["--vault", "vault", "init"]);
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        world.cru(&["--vault", "vault", "import", corpus.to_str().unwrap()]);
        world
    }

    fn vault(&self) -> PathBuf {
        self.temp.path().join("vault")
    }

    fn cru(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.temp.path()).env("HOME", self.temp.path()).env("NO_COLOR", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn files(root: &Path, extension: &str) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).build().flatten();
    let files = walk.map(ignore::DirEntry::into_path);
    files.filter(|path| path.is_file() && path.extension().is_some_and(|it| it == extension)).collect()
}

fn yaml(text: &str) -> Option<Pod> {
    let parsed: ParsedEntity = Matter::<YAML>::new().parse(text).ok()?;
    parsed.data
}

fn members(pod: &Pod) -> BTreeMap<String, Pod> {
    pod.as_hashmap().unwrap_or_default().into_iter().collect()
}

/// Whether a value is one of a property type.
fn fits(kind: &str, value: &Pod) -> bool {
    let text = |value: &Pod| value.as_string().ok();
    let is_date = |text: &str| text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10;
    match kind {
        _ if matches!(value, Pod::Null) => true,
        "text" => text(value).is_some(),
        "number" => value.as_f64().is_ok() || value.as_i64().is_ok(),
        "checkbox" => value.as_bool().is_ok(),
        "date" => text(value).is_some_and(|text| is_date(&text)),
        "datetime" => text(value).is_some_and(|text| text.get(..10).is_some_and(is_date)),
        "multitext" | "tags" | "aliases" => value.as_vec().is_ok_and(|list| list.iter().all(|it| text(it).is_some())),
        other => panic!("Obsidian has no property type {other}"),
    }
}

#[test]
fn properties_have_the_types_that_are_registered() {
    let world = Imported::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-example");
    let mut seen = BTreeSet::new();
    for root in [world.vault(), example] {
        let types: Value = serde_json::from_slice(&std::fs::read(root.join(".obsidian/types.json")).unwrap()).unwrap();
        let types = types["types"].as_object().unwrap();
        let notes = files(&root.join("sessions"), "md");
        assert!(notes.len() > 5);
        for note in notes {
            let properties = yaml(&std::fs::read_to_string(&note).unwrap());
            let properties = properties.unwrap_or_else(|| panic!("{}: no properties", note.display()));
            for (name, value) in members(&properties) {
                if let Some(kind) = types.get(&name) {
                    let kind = kind.as_str().unwrap();
                    assert!(fits(kind, &value), "{}: {name} is no {kind}: {value:?}", note.display());
                    seen.insert(name);
                }
            }
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// A filter is a text, or one of `and`, `or`, `not` with a list of filters.
fn check_filter(filter: &Pod) {
    if filter.as_string().is_ok() {
        return;
    }
    for (key, list) in members(filter) {
        assert!(["and", "or", "not"].contains(&key.as_str()), "{key}");
        list.as_vec().unwrap().iter().for_each(check_filter);
    }
}

fn check_property(name: &str) {
    let (space, rest) = name.split_once('.').unwrap_or_else(|| panic!("{name}"));
    assert!(["note", "file", "formula"].contains(&space) && !rest.is_empty(), "{name}");
}

fn check_base(text: &str) {
    let base = yaml(&format!("---\n{text}\n---\n")).unwrap();
    for (key, value) in members(&base) {
        match key.as_str() {
            "filters" => check_filter(&value),
            "properties" => {
                for (name, settings) in members(&value) {
                    check_property(&name);
                    assert!(members(&settings).keys().eq(["displayName"]));
                }
            }
            "views" => value.as_vec().unwrap().iter().for_each(check_view),
            other => panic!("a base has no key {other}"),
        }
    }
}

fn check_view(view: &Pod) {
    let direction = |pod: &Pod| ["ASC", "DESC"].contains(&pod.as_string().unwrap().as_str());
    let view = members(view);
    assert!(view.contains_key("type") && view.contains_key("name"));
    for (key, value) in view {
        match key.as_str() {
            "type" => assert!(["table", "cards", "list"].contains(&value.as_string().unwrap().as_str())),
            "name" => assert!(!value.as_string().unwrap().is_empty()),
            "filters" => check_filter(&value),
            "order" => value.as_vec().unwrap().iter().for_each(|it| check_property(&it.as_string().unwrap())),
            "sort" => {
                for rule in value.as_vec().unwrap() {
                    let rule = members(&rule);
                    check_property(&rule["property"].as_string().unwrap());
                    assert!(rule.len() == 2 && direction(&rule["direction"]));
                }
            }
            "groupBy" => {
                let rule = members(&value);
                check_property(&rule["property"].as_string().unwrap());
                assert!(rule.len() == 2 && direction(&rule["direction"]));
            }
            "summaries" => {
                for (name, formula) in members(&value) {
                    check_property(&name);
                    assert!(["Sum", "Average", "Min", "Max"].contains(&formula.as_string().unwrap().as_str()));
                }
            }
            other => panic!("a view has no key {other}"),
        }
    }
}

#[test]
fn bases_are_yaml_with_known_keys_and_leave_out_templates() {
    let temp = tempfile::tempdir().unwrap();
    let settings = temp.path().join("other/.obsidian/templates.json");
    cru::base::files::create(&settings, br#"{"folder": "My \"own\" it's/Templates"}"#).unwrap();
    for (folder, templates) in [("new", "templates"), ("other", r#"My \"own\" it's/Templates"#)] {
        let root = temp.path().join(folder);
        cru::vault::scaffold::scaffold(&root, "x", "Europe/Berlin").unwrap();
        let bases = files(&root, "base");
        assert_eq!(bases.len(), 5);
        for base in bases {
            let text = std::fs::read_to_string(&base).unwrap();
            check_base(&text);
            let filters = yaml(&format!("---\n{text}\n---\n")).unwrap();
            let filters = format!("{:?}", members(&filters)["filters"]);
            let wanted = format!("{:?}", format!("!file.inFolder(\"{templates}\")"));
            assert!(filters.contains(&wanted), "{filters} {wanted}");
        }
        let types = std::fs::read(root.join(".obsidian/types.json")).unwrap();
        let types: Value = serde_json::from_slice(&types).unwrap();
        for kind in types["types"].as_object().unwrap().values() {
            fits(kind.as_str().unwrap(), &Pod::Boolean(true));
        }
        let graph = std::fs::read(root.join(".obsidian/graph.json")).unwrap();
        let graph: Value = serde_json::from_slice(&graph).unwrap();
        let search = graph["search"].as_str().unwrap();
        assert!(search.starts_with("-path:") && search.contains("emplates"), "{search}");
        assert!(graph["colorGroups"].as_array().unwrap().iter().all(|group| group["query"].is_string()));
    }
}

/// [JSON Canvas 1.0](https://jsoncanvas.org/spec/1.0/), with files of a vault.
fn check_canvas(text: &str, vault: &Path) -> usize {
    let canvas: Value = serde_json::from_str(text).unwrap();
    assert!(canvas.as_object().unwrap().keys().all(|key| ["nodes", "edges"].contains(&key.as_str())));
    let color = |value: &Value| {
        value.is_null() || {
            let text = value.as_str().unwrap();
            ["1", "2", "3", "4", "5", "6"].contains(&text) || (text.starts_with('#') && text.len() == 7)
        }
    };
    let mut ids = BTreeSet::new();
    for node in canvas["nodes"].as_array().unwrap() {
        assert!(ids.insert(node["id"].as_str().unwrap()), "{node}");
        assert!(["x", "y", "width", "height"].iter().all(|key| node[*key].is_i64() || node[*key].is_u64()), "{node}");
        assert!(node["width"].as_i64().unwrap() > 0 && node["height"].as_i64().unwrap() > 0 && color(&node["color"]));
        let own: &[&str] = match node["type"].as_str().unwrap() {
            "text" => &["text"],
            "file" => &["file", "subpath"],
            "link" => &["url"],
            "group" => &["label", "background", "backgroundStyle"],
            other => panic!("a canvas has no node {other}"),
        };
        let common = ["id", "type", "x", "y", "width", "height", "color"];
        for key in node.as_object().unwrap().keys() {
            assert!(common.contains(&key.as_str()) || own.contains(&key.as_str()), "{key} in {node}");
        }
        if let Some(file) = node["file"].as_str() {
            assert!(vault.join(file).is_file(), "{file}");
        }
        assert!(node["subpath"].as_str().is_none_or(|subpath| subpath.starts_with('#')), "{node}");
    }
    let mut edges = BTreeSet::new();
    for edge in canvas["edges"].as_array().unwrap() {
        assert!(edges.insert(edge["id"].as_str().unwrap()));
        for key in edge.as_object().unwrap().keys() {
            match key.as_str() {
                "id" | "label" => assert!(edge[key].is_string()),
                "fromNode" | "toNode" => assert!(ids.contains(edge[key].as_str().unwrap()), "{edge}"),
                "fromSide" | "toSide" => {
                    assert!(["top", "right", "bottom", "left"].contains(&edge[key].as_str().unwrap()));
                }
                "fromEnd" | "toEnd" => assert!(["none", "arrow"].contains(&edge[key].as_str().unwrap())),
                "color" => assert!(color(&edge[key])),
                other => panic!("an edge has no {other}"),
            }
        }
    }
    ids.len()
}

#[test]
fn canvases_are_json_canvas() {
    let world = Imported::new();
    let vault = world.vault();
    let mut cards = 0;
    for note in files(&vault.join("sessions"), "md") {
        let name = note.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = world.cru(&["--vault", "vault", "graph", &name, "-f", "canvas"]);
        cards += check_canvas(&text, &vault);
    }
    assert!(cards > 50, "{cards}");
}
