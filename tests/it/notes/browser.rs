//! The pages of `session show --html` and `stats --html` in a real browser, on a phone's and a desk's width, light and dark.
//!
//! The browser measures the page itself (`measure.js`): what sticks out, letters that stand below each other, contrast,
//! links without a target. Pixels are not compared. `CRU_CHROMIUM` names the browser, else `chromium` is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Measures the page in the frame and writes what it found as JSON.
const MEASURE: &str = include_str!("measure.js");

#[expect(clippy::disallowed_methods, reason = "which browser is meant")]
fn chromium() -> Command {
    let mut command = Command::new(std::env::var_os("CRU_CHROMIUM").unwrap_or_else(|| "chromium".into()));
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ]);
    command
}

/// The pages of the example vault.
fn pages(folder: &Path) -> Vec<(&'static str, String)> {
    let vault = folder.join("vault");
    copy(Path::new("vault-example"), &vault);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(folder).env("HOME", folder).env("CRU_VAULT", &vault);
        let output = command.env("CRU_NOW", "2026-11-21T12:00:00Z").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let site = folder.join("site");
    run(&["view", "--html", site.to_str().unwrap()]);
    let style = std::fs::read_to_string(site.join("style.css")).unwrap();
    // In a frame a page has no files beside it.
    let whole = |name: &str| {
        let page = std::fs::read_to_string(site.join(name)).unwrap();
        let lines = page.lines().filter(|line| !line.starts_with("<meta http-equiv") && !line.starts_with("<script"));
        let lines = lines.map(|line| {
            if line.starts_with("<link rel=\"stylesheet\"") {
                format!("<style>{style}</style>")
            } else {
                line.to_owned()
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    vec![
        ("view", whole("index.html")),
        ("inbox", whole("inbox.html")),
        ("files", whole("files.html")),
        ("note", whole("note/sessions/2026-11-16-refresh-tokens.html")),
        ("session", run(&["session", "show", "2026-11-04-tide-forecast-endpoint", "--html"])),
        ("stats", run(&["stats", "--html", "-"])),
    ]
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What the browser measured of `page` at `width`.
#[expect(clippy::disallowed_methods, reason = "a page for the browser")]
fn measured(folder: &Path, name: &str, page: &str, width: u32, dark: bool) -> Value {
    let scheme = if dark { "dark" } else { "light" };
    let file: PathBuf = folder.join(format!("{name}-{width}-{scheme}.html"));
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0\"><pre id=\"found\"></pre>\
         <iframe width=\"{width}\" height=\"2000\" srcdoc=\"{source}\"></iframe><script>{MEASURE}</script>"
    );
    std::fs::write(&file, frame).unwrap();
    let mut command = chromium();
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)));
    command.args(["--window-size=1400,2100", "--virtual-time-budget=10000", "--dump-dom"]);
    let output = command.arg(format!("file://{}", file.display())).output().unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let begin = dom.find("<pre id=\"found\">").unwrap_or_else(|| panic!("no page: {dom}")) + "<pre id=\"found\">".len();
    let json = dom[begin..].split("</pre>").next().unwrap();
    serde_json::from_str(&json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap()
}

#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM)"]
fn browser_pages_are_readable_on_every_width_and_in_both_schemes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, page) in pages(folder.path()) {
        let mut papers = Vec::new();
        for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
            let found = measured(folder.path(), name, &page, width, dark);
            assert_eq!(found["faults"], serde_json::json!([]), "{name} at {width}, dark: {dark}");
            assert_eq!(found["width"], width, "{name}");
            assert!(found["texts"].as_u64().is_some_and(|texts| texts > 20), "{name}: {found}");
            // Links within the page: those of a frame lead to others.
            let least = if matches!(name, "session" | "stats") { 2 } else { 0 };
            assert!(found["links"].as_u64().is_some_and(|links| links > least), "{name}: {found}");
            papers.push(found["paper"].clone());
        }
        assert_ne!(papers[0], papers[1], "{name} is dark where the reader wants it");
        assert_eq!((&papers[0], &papers[1]), (&papers[2], &papers[3]), "{name}");
    }
}
