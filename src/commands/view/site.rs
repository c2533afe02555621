//! The pages of the view: which there are, what each asks the commands of this program, and the template that lays it out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::inbox;
use super::vault::{ViewedVault, prune};
use crate::base::{Env, Result};
use crate::commands::ask::Caller;
use crate::commands::output::{BASE, PageFrame, Templates, named_page, note_page, obsidian_link};
use crate::commands::session::show::SessionReader;
use crate::commands::session::show::html::{markdown, style};
use crate::commands::{Context, Format, Reach, reading, stats};
use crate::note::Note;
use crate::vault::{Head, VaultPath};

/// A page that asks commands and lays their values out by the template of its name.
#[derive(Debug)]
pub(super) struct PageKind {
    /// Its file, without `.html`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Values by name, each with the command line that gives it. A word with `{field}` has what the request says of it: where that
    /// is nothing, an option is left out, and a command whose argument it is, is not asked.
    asks: &'static [(&'static str, &'static [&'static str])],
}

/// The pages of the navigation, the first page first.
pub(super) const PAGES: &[PageKind] = &[
    PageKind {
        name: "index",
        title: "Sessions",
        asks: &[
            ("running", &["list", "--status=active"]),
            ("sessions", &["list", "--limit={limit}", "--where={where}"]),
        ],
    },
    PageKind {
        name: "projects",
        title: "Projects",
        asks: &[
            ("projects", &["list", "sessions", "--where=subagent=false", "--by=project", PROJECT_SUMS]),
            ("costs", &["stats", "--cost", "--by=project", "--limit=0"]),
        ],
    },
    PageKind { name: "files", title: "Files", asks: &[("files", &["files", "--limit=300"])] },
    PageKind { name: "lessons", title: "Lessons", asks: &[("lessons", &["list", "lessons"])] },
    PageKind { name: "workflows", title: "Workflows", asks: &[("workflows", &["list", "workflows"])] },
    PageKind { name: "cases", title: "Cases", asks: &[("cases", &["list", "cases"])] },
    PageKind { name: "stats", title: "Cost and time", asks: &[] },
    PageKind { name: "inbox", title: "Inbox", asks: &[] },
    PageKind { name: "search", title: "Search", asks: &[("found", &["search", "--limit=40", "--", "{q}"])] },
];

const PROJECT_SUMS: &str = "--sum=count,sum:open_tasks,sum:active_ms,sum:tokens,sum:cost_usd,max:started";

/// A project: the field `project` is its path, `where` the test for it.
const PROJECT: PageKind = PageKind {
    name: "project",
    title: "",
    asks: &[
        ("sessions", &["list", "--limit=200", "--where={where}"]),
        ("days", &["list", "sessions", "--where={where}", "--where=subagent=false", "--by=day", PROJECT_SUMS]),
        (
            "open",
            &["list", "sessions", "--where={where}", "--where=open!=\"\"", "--columns=title,open,path", "--limit=30"],
        ),
        ("decisions", &["list", "decisions", "--where={where}", "--limit=50"]),
        ("lessons", &["list", "lessons", "--where={where}", "--limit=50"]),
    ],
};

/// A file: the field `file` is its path as notes have it, `place` its path on this machine with the lines that are asked about.
const FILE: PageKind = PageKind {
    name: "file",
    title: "",
    asks: &[("accesses", &["files", "--", "{file}"]), ("why", &["why", "--", "{place}"])],
};

/// The folders of pages of which each shows one of many: the command that lists them, its rows, and their name.
pub(super) const NAMED: [(&str, &[&str], &str, &str); 2] = [
    ("project", &["list", "sessions", "--by=project"], "rows", "project"),
    ("file", &["files", "--limit=300"], "files", "path"),
];

const TEMPLATES: &[(&str, &str)] = &[
    ("index.html", include_str!("../../../templates/view/index.html")),
    ("projects.html", include_str!("../../../templates/view/projects.html")),
    ("project.html", include_str!("../../../templates/view/project.html")),
    ("files.html", include_str!("../../../templates/view/files.html")),
    ("file.html", include_str!("../../../templates/view/file.html")),
    ("lessons.html", include_str!("../../../templates/view/lessons.html")),
    ("workflows.html", include_str!("../../../templates/view/workflows.html")),
    ("cases.html", include_str!("../../../templates/view/cases.html")),
    ("inbox.html", include_str!("../../../templates/view/inbox.html")),
    ("search.html", include_str!("../../../templates/view/search.html")),
    ("note.html", include_str!("../../../templates/view/note.html")),
    ("message.html", include_str!("../../../templates/view/message.html")),
    ("sessions.html", include_str!("../../../templates/view/sessions.html")),
    ("bars.html", include_str!("../../../templates/view/bars.html")),
];

/// The picture of all pages.
pub(super) const ICON: &str = include_str!("../../../templates/view/icon.svg");
/// The script of all pages.
pub(super) const SCRIPT: &str = include_str!("../../../templates/view/view.js");

/// The stylesheet of all pages.
pub(super) fn stylesheet() -> String {
    // Rules of one kind of page do not reach the others.
    let stats = stats::page::STYLE;
    format!("{BASE}{}main.stats {{\n{stats}}}\n{}", style(), include_str!("../../../templates/view/view.css"))
}

/// All pages, served or written.
pub(super) struct Site<'a> {
    pub(super) caller: Caller<'a>,
    templates: Templates,
    vault: String,
    live: bool,
}

impl<'a> Site<'a> {
    /// `live`: a server answers. Error: there is no vault.
    pub(super) fn of(cx: &Context<'a>, live: bool) -> Result<Self> {
        let vault = reading::vault(cx)?;
        let name = vault.root().canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let folder = cx.vault_arg().map(|path| cx.absolute(path));
        let caller = Caller::new(cx.env, folder).with_git(cx.ui);
        Ok(Self { caller, templates: Templates::new(TEMPLATES, &vault.config().zone)?, vault: name, live })
    }

    /// Where a page stands; `address` from the first page.
    pub(super) fn frame(&self, address: &str, here: &str) -> PageFrame<'static> {
        let root = "../".repeat(address.matches('/').count());
        PageFrame {
            root,
            here: here.to_owned(),
            vault: self.vault.clone(),
            open: String::new(),
            live: self.live,
            page: &|_| None,
        }
    }

    /// The page at an address, from the first page: `note/sessions/a.html`. `None` where there is none.
    pub(super) fn page(&self, address: &str, asked: &BTreeMap<String, String>) -> Result<Option<String>> {
        self.caller.with(Reach::Shared, Format::Json, |cx| {
            let Some(name) = address.strip_suffix(".html") else { return Ok(None) };
            if let Some(kind) = PAGES.iter().find(|kind| kind.name == name) {
                return self.listed(kind, asked, cx).map(Some);
            }
            let Some((folder, name)) = name.split_once('/') else { return Ok(None) };
            match folder {
                "note" => {
                    let world = ViewedVault::read(cx)?;
                    let path = VaultPath::new(format!("{name}.md"));
                    // Only what the walk of the vault found is read, by the path that it gave.
                    let head = path.and_then(|path| world.catalog.at(&path));
                    head.map(|head| self.note(head, &world, None, cx)).transpose()
                }
                folder => {
                    let names = self.names(folder)?;
                    let name = names.into_iter().find(|name| named_page(folder, name) == address);
                    name.map(|name| self.named(folder, &name, asked)).transpose()
                }
            }
        })
    }

    /// The page of a project or a file, by its name as the list has it.
    pub(super) fn named(&self, folder: &str, name: &str, asked: &BTreeMap<String, String>) -> Result<String> {
        let page =
            |cx: &Context<'_>| if folder == "file" { self.file(name, asked, cx) } else { self.project(name, cx) };
        self.caller.with(Reach::Shared, Format::Json, page)
    }

    /// What a folder has pages of, by name.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>> {
        let Some((_, words, rows, column)) = NAMED.iter().find(|list| list.0 == folder) else { return Ok(Vec::new()) };
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let (value, _) = self.caller.page_value(&words)?;
        let names = value[*rows].as_array().into_iter().flatten().filter_map(|row| row[*column].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    fn listed(&self, kind: &PageKind, asked: &BTreeMap<String, String>, cx: &Context<'_>) -> Result<String> {
        let frame = self.frame(kind.name, kind.name);
        match kind.name {
            "stats" => return Ok(stats::framed(&frame, cx)?.ready().unwrap_or_default().to_owned()),
            "inbox" => return self.inbox("", cx),
            _ => {}
        }
        let mut asked = asked.clone();
        asked.entry("limit".to_owned()).or_insert_with(|| if self.live { "100" } else { "0" }.to_owned());
        // Words alone are those of a title.
        if let Some(test) =
            asked.get_mut("where").filter(|it| !it.trim().is_empty() && !it.contains(['=', '~', '<', '>', ':']))
        {
            *test = format!("title~{}", quoted(test.trim()));
        }
        // Who is still typing means a word that goes on.
        let is_typed = asked.contains_key("typed");
        if let Some(query) = asked.get_mut("q").filter(|query| is_typed && query.ends_with(char::is_alphanumeric)) {
            query.push('*');
        }
        let values = self.asked(kind, &asked, cx)?;
        self.render(kind.name, kind.title, &frame, values)
    }

    fn project(&self, name: &str, cx: &Context<'_>) -> Result<String> {
        let frame = self.frame(&named_page("project", name), "projects");
        let test = format!("project={}", quoted(name));
        let asked = BTreeMap::from([("project".into(), name.into()), ("where".into(), test)]);
        self.render(PROJECT.name, name, &frame, self.asked(&PROJECT, &asked, cx)?)
    }

    fn file(&self, name: &str, asked: &BTreeMap<String, String>, cx: &Context<'_>) -> Result<String> {
        let frame = self.frame(&named_page("file", name), "files");
        let whole = absolute(name, cx.env);
        let lines = asked.get("lines").filter(|lines| lines.chars().all(|c| c.is_ascii_digit() || c == '-'));
        let lines = lines.filter(|lines| !lines.is_empty()).map(|lines| format!(":{lines}")).unwrap_or_default();
        let mut asked = asked.clone();
        let place = format!("{whole}{lines}");
        asked.extend([("file".into(), name.into()), ("place".into(), place), ("whole".into(), whole)]);
        let mut values = self.asked(&FILE, &asked, cx)?;
        // Of the file on the disk only those lines are shown that a session of the vault wrote: a note may name any file.
        for range in values["why"]["ranges"].as_array_mut().into_iter().flatten().filter(|it| it["origin"].is_null()) {
            range["text"] = Value::Null;
        }
        values["file"] = name.into();
        self.render(FILE.name, name, &frame, values)
    }

    /// The values of a page, by their names; `error` says why one of them is not there.
    fn asked(&self, kind: &PageKind, asked: &BTreeMap<String, String>, cx: &Context<'_>) -> Result<Value> {
        let mut values = json!({ "asked": { "q": "", "where": "", "lines": "" }, "error": null });
        for (name, value) in asked {
            values["asked"][name] = value.as_str().into();
        }
        let mut world = None;
        for (name, words) in kind.asks {
            let mut line = Vec::new();
            for word in *words {
                let Some((before, field)) = word.trim_end_matches('}').split_once('{') else {
                    line.push((*word).to_owned());
                    continue;
                };
                match asked.get(field).map(|value| value.trim()).filter(|value| !value.is_empty()) {
                    Some(value) => line.push(format!("{before}{value}")),
                    None if before.is_empty() => line.clear(),
                    None => {}
                }
            }
            values[*name] = Value::Null;
            if line.is_empty() {
                continue;
            }
            match self.caller.page_value(&line) {
                Ok((value, true)) => values[*name] = value,
                Ok((mut value, false)) => {
                    if world.is_none() {
                        world = Some(ViewedVault::read(cx)?);
                    }
                    if let Some(world) = &world {
                        prune(&mut value, &world.withheld);
                    }
                    values[*name] = value;
                }
                // Where a file lies on this machine is not said on a page.
                Err(error) => {
                    let said = error.with_causes();
                    values["error"] = match asked.get("whole") {
                        Some(place) => said.replace(place.as_str(), "of this name here"),
                        None => said,
                    }
                    .into();
                }
            }
        }
        Ok(values)
    }

    /// The page of a note. `reader`: what pages of sessions are made by, where many are made.
    pub(super) fn note(
        &self,
        head: &Head,
        world: &ViewedVault,
        reader: Option<&SessionReader<'_>>,
        cx: &Context<'_>,
    ) -> Result<String> {
        let address = note_page(&head.path.text());
        let here = match head.meta.kind.as_deref() {
            Some("lesson") => "lessons",
            Some("workflow" | "recipe") => "workflows",
            Some("case") => "cases",
            Some("project") => "projects",
            _ => "index",
        };
        let mut frame = self.frame(&address, here);
        if self.live {
            frame.open = obsidian_link(&cx.absolute(&world.vault.file(&head.path)));
        }
        let root = frame.root.clone();
        let page = |target: &str| Some(format!("{root}{}", world.page_of(target, &head.path)?));
        let frame = PageFrame { page: &page, ..frame };
        if head.is_session() {
            return match reader {
                Some(reader) => reader.page(head, &frame),
                None => SessionReader::of(&world.vault, &world.catalog, cx)?.page(head, &frame),
            };
        }
        let note = Note::parse(world.text(&head.path)?);
        let body: String = note.blocks().iter().map(|block| block.span.of(note.text())).collect();
        let values = json!({
            "path": head.path.text(),
            "kind": head.meta.kind,
            "tags": head.meta.tags,
            "body": markdown(&body, Some(&frame)),
        });
        self.render("note", &head.title(), &frame, values)
    }

    /// All that a step was given and said, of the evidence; else what its note has. `None` where there is no such step.
    pub(super) fn output(&self, asked: &BTreeMap<String, String>) -> Result<Option<String>> {
        let (Some(note), Some(step)) = (asked.get("note"), asked.get("step")) else { return Ok(None) };
        let named = |full: bool| {
            let mut words = vec!["step".to_owned(), "show".to_owned()];
            words.extend(full.then(|| "--full".to_owned()));
            words.extend(["--".to_owned(), step.clone(), note.clone()]);
            self.caller.text(&words, Reach::Shared)
        };
        named(true).or_else(|_| named(false)).map(Some)
    }

    /// What waits, each with what it rests on. `notice`: what became of what was decided.
    pub(super) fn inbox(&self, notice: &str, cx: &Context<'_>) -> Result<String> {
        let frame = self.frame("inbox", "inbox");
        let items = inbox::items(&self.caller, &ViewedVault::read(cx)?, &frame)?;
        self.render("inbox", "Inbox", &frame, json!({ "items": items, "notice": notice }))
    }

    /// A page of one sentence.
    pub(super) fn message(&self, title: &str, text: &str) -> Result<String> {
        self.render("message", title, &self.frame("", ""), json!({ "text": text }))
    }

    /// A template filled in, with the frame around it.
    pub(super) fn render(&self, name: &str, title: &str, frame: &PageFrame<'_>, mut values: Value) -> Result<String> {
        values["head"] = self.templates.head(title, "", "", Some(frame))?.into();
        values["title"] = title.into();
        values["frame"] = serde_json::to_value(frame).unwrap_or_default();
        self.templates.render(&format!("{name}.html"), values)
    }
}

/// A value of a query.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A path as notes have it, as this machine has it.
fn absolute(path: &str, env: &Env) -> String {
    match (path.strip_prefix("~/"), env.home()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => path.to_owned(),
    }
}
