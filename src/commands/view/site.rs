//! The pages of the view: which there are, what each asks the commands of this program, and the template that lays it out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::inbox;
use super::vault::{ViewedVault, prune};
use crate::base::{Env, Error, Result};
use crate::commands::ask::Caller;
use crate::commands::files::place::FilePlace;
use crate::commands::output::{BASE, PageFrame, Templates, link_to, named_page, note_page, obsidian_link};
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
    /// Its orders, the usual one first: the end of its file's name, what a person calls it, and the field `sort`.
    sorts: &'static [[&'static str; 3]],
}

impl PageKind {
    const fn plain(
        name: &'static str,
        title: &'static str,
        asks: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        Self { name, title, asks, sorts: &[] }
    }

    /// Its files, without `.html`, each with its order.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (String, Option<&'static [&'static str; 3]>)> {
        let name = |sort: &[&str; 3]| {
            if sort[0].is_empty() { self.name.to_owned() } else { format!("{}-{}", self.name, sort[0]) }
        };
        let alone = self.sorts.is_empty().then(|| (self.name.to_owned(), None));
        alone.into_iter().chain(self.sorts.iter().map(move |sort| (name(sort), Some(sort))))
    }

    /// The links to its orders; `to`: the address of one.
    fn sort_links(&self, sort: &str, to: impl Fn(&[&str; 3], String) -> String) -> Value {
        let link = |(name, sort_of): (String, Option<&[&str; 3]>)| {
            sort_of.map(|it| json!({ "page": to(it, name), "label": it[1], "here": it[2] == sort }))
        };
        self.addresses().filter_map(link).collect()
    }
}

const SESSION_SORTS: &[[&str; 3]] = &[
    ["", "newest", "started"],
    ["cost", "cost", "cost"],
    ["active", "active time", "active"],
    ["tokens", "tokens", "tokens"],
    ["failed", "failed steps", "failures"],
];

/// The pages of the navigation, the first page first.
pub(super) const PAGES: &[PageKind] = &[
    PageKind {
        name: "index",
        title: "Sessions",
        asks: &[
            ("running", &["list", "--status=active"]),
            ("sessions", &["list", "--limit={limit}", "--where={where}", "--sort={sort}"]),
        ],
        sorts: SESSION_SORTS,
    },
    PageKind {
        name: "projects",
        title: "Projects",
        asks: &[
            ("projects", &["list", "sessions", "--by=project", PROJECT_SUMS, "--sort={sort}", "--reverse"]),
            ("costs", &["stats", "--cost", "--by=project", "--limit=0"]),
        ],
        sorts: &[
            ["", "newest", "max:started"],
            ["sessions", "sessions", "count"],
            ["active", "active time", "sum:active_ms"],
            ["tokens", "tokens", "sum:tokens"],
        ],
    },
    PageKind::plain("decisions", "Decisions", &[("decisions", &["list", "decisions", "--limit={limit}"])]),
    PageKind::plain("files", "Files", &[("files", &["files", "--limit=300"])]),
    PageKind::plain("lessons", "Lessons", &[("lessons", &["list", "lessons"])]),
    PageKind::plain("workflows", "Workflows", &[("workflows", &["list", "workflows"])]),
    PageKind::plain("cases", "Cases", &[("cases", &["list", "cases"])]),
    PageKind::plain("stats", "Cost and time", &[]),
    PageKind::plain("inbox", "Inbox", &[]),
    PageKind::plain("search", "Search", &[("found", &["search", "--limit=40", "--", "{q}"])]),
];

const PROJECT_SUMS: &str = "--sum=count,sum:open_tasks,sum:active_ms,sum:tokens,sum:cost_usd,max:started";

/// A project: the field `where` is the test for it.
const PROJECT: PageKind = PageKind {
    name: "project",
    title: "",
    asks: &[
        ("sessions", &["list", "--limit=200", "--where={where}", "--sort={sort}"]),
        ("days", &["list", "sessions", "--where={where}", "--by=day", PROJECT_SUMS]),
        (
            "open",
            &["list", "sessions", "--where={where}", "--where=open!=\"\"", "--columns=title,open,path", "--limit=30"],
        ),
        ("decisions", &["list", "decisions", "--where={where}", "--limit=50"]),
        ("lessons", &["list", "lessons", "--where={where}", "--limit=50"]),
    ],
    sorts: SESSION_SORTS,
};

/// A file: the field `file` is its path as notes have it, `place` its path on this machine with the lines that are asked about.
const FILE: PageKind =
    PageKind::plain("file", "", &[("accesses", &["files", "--", "{file}"]), ("why", &["why", "--", "{place}"])]);

/// The folders of pages of which each shows one of many: the command that lists them, its rows, and their name.
pub(super) const NAMED: [(&str, &[&str], &str, &str); 2] = [
    ("project", &["list", "sessions", "--by=project"], "rows", "project"),
    ("file", &["files", "--limit=300"], "files", "path"),
];

const TEMPLATES: &[(&str, &str)] = &[
    ("index.html", include_str!("../../../templates/view/index.html")),
    ("projects.html", include_str!("../../../templates/view/projects.html")),
    ("project.html", include_str!("../../../templates/view/project.html")),
    ("decisions.html", include_str!("../../../templates/view/decisions.html")),
    ("decided.html", include_str!("../../../templates/view/decided.html")),
    ("sorts.html", include_str!("../../../templates/view/sorts.html")),
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
            at: String::new(),
            in_parts: false,
            page: &|_| None,
            file: &|_| None,
        }
    }

    /// The page at an address, from the first page: `note/sessions/a.html`. `None` where there is none.
    pub(super) fn page(&self, address: &str, asked: &BTreeMap<String, String>) -> Result<Option<String>> {
        self.caller.with(Reach::Shared, Format::Json, |cx| {
            let Some(name) = address.strip_suffix(".html") else { return Ok(None) };
            let kinds =
                || PAGES.iter().flat_map(|kind| kind.addresses().map(move |(address, sort)| (kind, address, sort)));
            if let Some((kind, _, sort)) = kinds().find(|(_, address, _)| address == name) {
                return self.listed(kind, sort, asked, cx).map(Some);
            }
            let Some((folder, name)) = name.split_once('/') else { return Ok(None) };
            match folder {
                "note" => {
                    let world = ViewedVault::read(cx)?;
                    let path = VaultPath::new(format!("{name}.md"));
                    // Only what the walk of the vault found is read, by the path that it gave.
                    let head = path.and_then(|path| world.catalog.at(&path));
                    let at = asked.get("at").map_or("", String::as_str);
                    head.map(|head| self.note(head, at, &world, None, cx)).transpose()
                }
                folder => {
                    let is_it = |name: &String| named_page(folder, name) == address;
                    let name = match asked.get("name").filter(|name| folder == "file" && is_it(name)) {
                        Some(name) => Some(name.clone()),
                        None => self.names(folder)?.into_iter().find(is_it),
                    };
                    name.map(|name| self.named(folder, &name, asked)).transpose()
                }
            }
        })
    }

    /// The page of a project or a file, by its name as the list has it.
    pub(super) fn named(&self, folder: &str, name: &str, asked: &BTreeMap<String, String>) -> Result<String> {
        let page = |cx: &Context<'_>| {
            if folder == "file" { self.file(name, asked, cx) } else { self.project(name, asked, cx) }
        };
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

    fn listed(
        &self,
        kind: &PageKind,
        sort: Option<&[&str; 3]>,
        asked: &BTreeMap<String, String>,
        cx: &Context<'_>,
    ) -> Result<String> {
        let frame = self.frame(kind.name, kind.name);
        match kind.name {
            "stats" => return Ok(stats::framed(&frame, cx)?.ready().unwrap_or_default().to_owned()),
            "inbox" => return self.inbox("", cx),
            _ => {}
        }
        let mut asked = asked.clone();
        let is_first = sort.is_none_or(|sort| sort[0].is_empty());
        let most = if self.live || !is_first { "100" } else { "0" };
        asked.entry("limit".to_owned()).or_insert_with(|| most.to_owned());
        asked.extend(sort.map(|sort| ("sort".to_owned(), sort[2].to_owned())));
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
        let mut values = self.asked(kind, &asked, cx)?;
        let test = asked.get("where").filter(|_| self.live).map(|test| format!("?where={}", link_to(test)));
        let to = |_: &[&str; 3], name: String| format!("{name}.html{}", test.as_deref().unwrap_or_default());
        values["sorts"] = kind.sort_links(sort.map_or("", |sort| sort[2]), to);
        self.render(kind.name, kind.title, &frame, values)
    }

    fn project(&self, name: &str, asked: &BTreeMap<String, String>, cx: &Context<'_>) -> Result<String> {
        let frame = self.frame(&named_page("project", name), "projects");
        let test = format!("project={}", quoted(name));
        let sort = asked.get("sort").map_or("started", String::as_str);
        let asked = BTreeMap::from([("where".into(), test), ("sort".into(), sort.into())]);
        let mut values = self.asked(&PROJECT, &asked, cx)?;
        values["sorts"] = PROJECT.sort_links(sort, |it, _| format!("?sort={}#sessions", it[2]));
        self.render(PROJECT.name, name, &frame, values)
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
        if values["accesses"]["files"].as_array().is_none_or(Vec::is_empty) {
            return Err(Error::no("no session that is shown names such a file"));
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

    /// The page of a note, of a long one with the part that has the block `at`. `reader`: what pages of sessions are made by, where many are made.
    pub(super) fn note(
        &self,
        head: &Head,
        at: &str,
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
        let page = |target: &str| Some(format!("{root}{}", world.page_of(target, &head.path, self.live)?));
        let project = head.meta.project.as_deref();
        let file = |path: &str| {
            let name = FilePlace::of(path, project, cx.env).text().to_owned();
            let asks = if self.live { format!("?name={}", link_to(&name)) } else { String::new() };
            let is_there = self.live || world.files.contains(&name);
            is_there.then(|| format!("{root}{}{asks}", link_to(&named_page("file", &name))))
        };
        let frame = PageFrame { at: at.to_owned(), page: &page, file: &file, ..frame };
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
