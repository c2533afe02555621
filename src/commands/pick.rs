//! `-i`: the sessions of a list or a search, to pick one from on a terminal.

use serde_json::Value;

use super::ask::Caller;
use super::output::Launch;
use super::{Context, Format, Output, PickVerb, Pickable, Raw, Reach};
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::vault::VaultPath;

struct Picks<'a> {
    caller: Caller<'a>,
    /// The words that a search begins with; `None` where the rows are sessions, of which words stand in the title, project, status
    /// or agents, and fields are a query.
    search: Option<String>,
    /// All sessions, read once.
    all: Vec<Value>,
    found: Vec<Value>,
    /// The row whose preview was made last, with its text.
    preview: Option<(String, String)>,
}

impl Picks<'_> {
    fn asked(&self, words: &[&str], rows: &str) -> Vec<Value> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let output = self.caller.output(&words, Reach::All, Format::Json);
        let value = output.ok().and_then(|output| output.json().ok()).unwrap_or_default();
        value[rows].as_array().cloned().unwrap_or_default()
    }
}

impl Pickable for Picks<'_> {
    fn words(&self) -> String {
        self.search.clone().unwrap_or_default()
    }

    fn rows(&mut self, words: &str) -> Vec<String> {
        let words = words.trim();
        let is_query = words.contains([':', '=', '<', '>', '~']);
        self.found = match self.search {
            Some(_) if words.is_empty() => Vec::new(),
            Some(_) => {
                let goes_on = if words.ends_with(char::is_alphanumeric) { "*" } else { "" };
                self.asked(&["search", "--limit=200", "--context=4", "--", &format!("{words}{goes_on}")], "hits")
            }
            None if is_query => self.asked(&["list", &format!("--where={words}")], "sessions"),
            None => {
                let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
                let about = |row: &&Value| {
                    let names = ["title", "project", "status", "participants", "started"];
                    let text = names.map(|name| row[name].to_string().to_lowercase()).join(" ");
                    wanted.iter().all(|word| text.contains(word))
                };
                self.all.iter().filter(about).cloned().collect()
            }
        };
        let line = |row: &Value| {
            let when: String =
                row["started"].as_str().or(row["time"].as_str()).unwrap_or_default().chars().take(10).collect();
            let text = row["text"].as_str().map(|text| format!("  {text}")).unwrap_or_default();
            format!("{when:<10}  {}{text}", row["title"].as_str().unwrap_or_default())
        };
        self.found.iter().map(line).collect()
    }

    fn preview(&mut self, row: usize, width: usize) -> String {
        let Some(found) = self.found.get(row) else { return String::new() };
        let Some(path) = found["path"].as_str() else { return String::new() };
        let wrapped = |text: &str| textwrap::fill(&sanitise(text).replace('\t', " "), width);
        // Of a hit what stands around it.
        if let Some(lines) = found["lines"].as_array().filter(|lines| !lines.is_empty()) {
            let line = |line: &Value| {
                let pieces = line["pieces"].as_array().into_iter().flatten();
                let text: String = pieces.filter_map(|piece| piece["text"].as_str()).collect();
                wrapped(&format!("{} {text}", if line["line"] == found["line"] { "▸" } else { " " }))
            };
            return lines.iter().map(line).collect::<Vec<_>>().join("\n");
        }
        if self.preview.as_ref().is_none_or(|(known, _)| known != path) {
            let text = self.caller.text(&["show", "--", path].map(str::to_owned), Reach::All);
            self.preview = Some((path.to_owned(), text.unwrap_or_else(|error| error.to_string())));
        }
        let text = self.preview.as_ref().map_or("", |(_, text)| text);
        // More than a screen of it is not seen.
        wrapped(&text.lines().take(200).collect::<Vec<_>>().join("\n"))
    }
}

/// What the person picked, shown, taken up again or opened. Error: there is no terminal.
pub(super) fn run(search: Option<String>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = super::reading::vault(cx)?;
    let caller = Caller::new(cx.env, cx.vault_arg().map(|path| cx.absolute(path)));
    let mut picks = Picks { caller, search, all: Vec::new(), found: Vec::new(), preview: None };
    if picks.search.is_none() {
        picks.all = picks.asked(&["list"], "sessions");
    }
    let picked = cx.ui.pick(&mut picks).map_err(|error| match error.kind() {
        std::io::ErrorKind::Unsupported => {
            Error::usage("-i needs a terminal to pick on").with_hint("without it the same rows are printed")
        }
        _ => Error::io("read", "the terminal", error),
    })?;
    let path = picked.and_then(|(row, verb)| Some((picks.found.get(row)?["path"].as_str()?.to_owned(), verb)));
    let Some((path, verb)) = path else { return Ok(Box::new(Raw { name: "picked", text: String::new() })) };
    let word = match verb {
        PickVerb::Show => "show",
        PickVerb::Resume => "resume",
        PickVerb::Edit => {
            let mut words = cx.editor().into_iter();
            let program =
                words.next().ok_or_else(|| Error::usage("no editor is known").with_hint("set VISUAL or EDITOR"))?;
            let note = VaultPath::new(&path).map(|path| cx.absolute(&vault.file(&path)));
            let args = words.chain(note.map(|note| note.to_string_lossy().into_owned())).collect();
            let launch = Launch { program: program.into(), args, cwd: cx.env.cwd().to_owned(), vars: Vec::new() };
            return Ok(Box::new(super::output::Opened { launch, path, line: 1 }));
        }
    };
    super::Cli::read(&["cru", word, "--", &path].map(Into::into))
        .map_err(|error| Error::usage(error.to_string()))?
        .command
        .run(cx)
}
