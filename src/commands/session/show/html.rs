//! A session as one self-contained page: no script, no font, nothing fetched.
//!
//! The layout is that of `templates/html/`; this file prepares the values. What stands inside of another part (the items of
//! a phase, the body of a callout) is filled in first and handed on as markup.

use std::cell::{Cell, RefCell};

use jiff::Timestamp;
use serde::Serialize;

use super::ShownSession;
use super::diff::FileDiff;
use super::kind::CalloutLook;
use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::commands::output::{Templates, duration, minute};
use crate::session::{Callout, Item, Link, Phase, Session, Step, Subagent, SubagentMode};

const STYLE: &str = include_str!("page.css");
/// Lines of a diff that stands open.
const SHORT_DIFF: usize = 12;
const TEMPLATES: &[(&str, &str)] = &[
    ("session.html", include_str!("../../../../templates/html/session.html")),
    ("phase.html", include_str!("../../../../templates/html/phase.html")),
    ("items.html", include_str!("../../../../templates/html/items.html")),
];

#[derive(Serialize)]
struct SessionValues<'a> {
    /// Markup.
    head: String,
    title: &'a str,
    /// The phases that can be gone to, where there are several.
    contents: Vec<ContentsValues<'a>>,
    /// Numbers of the requests, where there are several.
    requests: Vec<usize>,
    /// What stands above the phases; not there where only some phases are shown.
    header: Option<HeaderValues<'a>>,
    /// Markup.
    phases: String,
}

#[derive(Serialize)]
struct HeaderValues<'a> {
    path: &'a str,
    rows: Vec<(&'static str, String)>,
    tasks: Vec<TaskValues<'a>>,
    /// Markup.
    preface: String,
}

#[derive(Serialize)]
struct ContentsValues<'a> {
    id: &'a str,
    title: &'a str,
    is_sub: bool,
}

#[derive(Serialize)]
struct TaskValues<'a> {
    mark: &'static str,
    content: &'a str,
    id: &'a str,
}

#[derive(Serialize)]
struct PhaseValues<'a> {
    level: u8,
    id: Option<&'a str>,
    title: &'a str,
    agent: Option<String>,
    channel: Option<&'a str>,
    started: Option<String>,
    /// Markup.
    items: String,
}

#[derive(Serialize)]
struct ItemsValues<'a> {
    blocks: Vec<Block<'a>>,
}

/// What stands in a phase or a callout.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    /// Steps with nothing between them.
    Steps {
        steps: Vec<StepValues<'a>>,
    },
    /// Markup.
    Prose {
        html: String,
    },
    Callout(Box<CalloutValues<'a>>),
}

#[derive(Serialize)]
struct StepValues<'a> {
    class: &'static str,
    id: Option<&'a str>,
    tool: &'a str,
    args: &'a str,
    result: Option<&'a str>,
    facts: Vec<String>,
    command: Option<&'a str>,
    files: Vec<FilesValues<'a>>,
    diffs: Vec<DiffValues<'a>>,
}

#[derive(Serialize)]
struct DiffValues<'a> {
    path: &'a str,
    added: usize,
    removed: usize,
    /// Whether it is short enough to stand open.
    is_short: bool,
    lines: Vec<DiffLineValues<'a>>,
    more: Option<String>,
}

#[derive(Serialize)]
struct DiffLineValues<'a> {
    class: &'static str,
    mark: char,
    text: &'a str,
}

#[derive(Serialize)]
struct FilesValues<'a> {
    name: &'static str,
    paths: Vec<&'a str>,
}

/// A callout; what is in it stands in the order of the fields.
#[derive(Default, Serialize)]
struct CalloutValues<'a> {
    kind: &'a str,
    icon: &'static str,
    colour: &'static str,
    id: Option<&'a str>,
    /// Whether it is closed; `None`: it cannot be folded.
    folded: Option<bool>,
    title: String,
    words: Option<&'a str>,
    request: Option<RequestValues>,
    link: Option<LinkValues<'a>>,
    parts: Vec<PartValues>,
    /// Markup.
    body: String,
    embed: Option<EmbedValues<'a>>,
}

/// Where a request stands among all requests of the page, counted from 1.
#[derive(Clone, Copy, Serialize)]
struct RequestValues {
    number: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

#[derive(Serialize)]
struct LinkValues<'a> {
    /// The block of the page that it leads to.
    anchor: Option<&'a str>,
    text: &'a str,
}

#[derive(Serialize)]
struct PartValues {
    name: &'static str,
    html: String,
}

/// The session of a sub-agent in the place where it was called.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EmbedValues<'a> {
    /// Its phases as markup.
    Shown {
        phases: String,
    },
    /// It stands in itself.
    Cycle,
    TooDeep,
    Missing {
        target: &'a str,
    },
}

/// The page. Error: a built-in template cannot be used.
pub(super) fn render(shown: &ShownSession) -> Result<String> {
    let session = &shown.session;
    let is_shown = |index: usize| shown.only.as_ref().is_none_or(|only| only.contains(&index));
    let is_request = |item: &&Item| matches!(item, Item::User(_));
    let above = if shown.only.is_none() { session.preface.iter().filter(is_request).count() } else { 0 };
    let phases = || session.phases.iter().enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, phase)| phase);
    let requests = above + phases().flat_map(|phase| &phase.items).filter(is_request).count();
    let page =
        HtmlPage { templates: Templates::new(TEMPLATES)?, shown, requests, at: Cell::new(0), open: RefCell::default() };
    page.open.borrow_mut().push(&shown.path);
    let header = match shown.only {
        None => Some(HeaderValues {
            path: &shown.path,
            rows: rows(shown),
            tasks: tasks(session),
            preface: page.items(&session.preface, 0)?,
        }),
        Some(_) => None,
    };
    let contents: Vec<_> =
        phases().map(|phase| ContentsValues { id: &phase.id, title: &phase.title, is_sub: phase.level > 2 }).collect();
    let markup = phases().map(|phase| page.phase(phase, 0)).collect::<Result<String>>()?;
    let values = SessionValues {
        head: page.templates.head(session.title(), STYLE, "")?,
        title: session.title(),
        contents: if contents.len() > 1 { contents } else { Vec::new() },
        requests: if requests > 1 { (1..=requests).collect() } else { Vec::new() },
        header,
        phases: markup,
    };
    page.templates.render("session.html", values)
}

fn rows(shown: &ShownSession) -> Vec<(&'static str, String)> {
    let (session, figures) = (&shown.session, &shown.figures);
    let meta = &session.meta;
    let agents: Vec<_> = meta.participants.iter().map(ToString::to_string).collect();
    let place =
        [&meta.project, &meta.branch, &meta.commit].into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
    let rows = [
        ("Status", meta.status.as_ref().map(|status| status.as_str().to_owned())),
        ("Proof", figures.proof()),
        ("Channel", meta.channel.as_ref().map(|channel| format!("#{channel}"))),
        ("Started", meta.started.map(|time| format!("{} UTC", minute(time)))),
        ("Active", figures.active()),
        ("Wall clock", figures.wall_clock()),
        ("Agents", (!agents.is_empty()).then(|| agents.join(", "))),
        ("Model", meta.model.clone()),
        ("Tokens", figures.tokens()),
        ("Cost", figures.cost()),
        ("Project", (!place.is_empty()).then(|| place.join(" · "))),
        ("Parent", meta.parent.as_ref().map(|link| link.target.clone())),
        ("Tags", (!meta.tags.is_empty()).then(|| meta.tags.join(", "))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn tasks(session: &Session) -> Vec<TaskValues<'_>> {
    let values = session.tasks().into_iter().map(|task| TaskValues {
        mark: match task.status.as_str() {
            "completed" => "☑",
            "in_progress" => "◪",
            _ => "☐",
        },
        content: &task.content,
        id: &task.id,
    });
    values.collect()
}

struct HtmlPage<'a> {
    templates: Templates,
    shown: &'a ShownSession,
    /// Requests of the page.
    requests: usize,
    /// Those that were rendered.
    at: Cell<usize>,
    /// Paths of the notes around the place that is rendered.
    open: RefCell<Vec<&'a str>>,
}

impl<'a> HtmlPage<'a> {
    /// `depth`: how many callouts of sub-agents it stands in. Ids of embedded sessions would repeat those of the page.
    fn phase(&self, phase: &Phase, depth: usize) -> Result<String> {
        let values = PhaseValues {
            level: if phase.level > 2 { 3 } else { 2 },
            id: (depth == 0).then_some(&phase.id),
            title: &phase.title,
            agent: phase.agent.as_ref().map(ToString::to_string),
            channel: phase.channel.as_deref(),
            started: phase.started.map(minute),
            items: self.items(&phase.items, depth)?,
        };
        self.templates.render("phase.html", values)
    }

    fn step<'s>(&self, step: &'s Step, depth: usize) -> StepValues<'s>
    where
        'a: 's,
    {
        let mut facts: Vec<String> = step.time.map(clock).into_iter().collect();
        facts.extend(step.check.map(|verdict| format!("check {}", verdict.as_str())));
        facts.extend(step.exit.filter(|exit| *exit != 0).map(|exit| format!("exit {exit}")));
        facts.extend(step.duration_ms.filter(|ms| *ms >= 1_000).map(|ms| duration(ms / 1_000)));
        facts.extend(self.shown.recovery(step).filter(|_| depth == 0));
        let files = [("reads", &step.reads), ("writes", &step.writes)].map(|(name, files)| FilesValues {
            name,
            // What the line of the step names already says nothing more here.
            paths: files.iter().map(|file| file.path.as_str()).filter(|path| !step.args.contains(path)).collect(),
        });
        let diffs = step.id.as_ref().filter(|_| depth == 0).and_then(|id| self.shown.diffs.get(id));
        StepValues {
            diffs: diffs.map(|diffs| diffs.iter().map(diff).collect()).unwrap_or_default(),
            class: step.status.name(),
            id: step.id.as_deref().filter(|_| depth == 0),
            tool: &step.tool,
            args: &step.args,
            result: step.result.as_deref(),
            facts,
            command: step.command.as_deref(),
            files: files.into_iter().filter(|list| !list.paths.is_empty()).collect(),
        }
    }

    fn items(&self, items: &[Item], depth: usize) -> Result<String> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut after_step = false;
        for item in items {
            match item {
                Item::Step(it) => match blocks.last_mut() {
                    Some(Block::Steps { steps }) if after_step => steps.push(self.step(it, depth)),
                    _ => blocks.push(Block::Steps { steps: vec![self.step(it, depth)] }),
                },
                Item::Prose(prose) => blocks.push(Block::Prose { html: markdown(&prose.text) }),
                Item::Tasks(_) => {}
                Item::Subagent(it) => blocks.push(self.subagent(it, depth)?),
                Item::User(user) => {
                    let body = user.interpretation.as_deref().map(markdown).unwrap_or_default();
                    let request = (depth == 0 && self.requests > 1).then(|| self.request());
                    let base = callout(&user.callout, depth);
                    blocks.push(boxed(CalloutValues { words: Some(&user.words), body, request, ..base }));
                }
                Item::Decision(it) => blocks.push(told(&it.callout, depth)),
                Item::Error(it) => blocks.push(told(&it.callout, depth)),
                Item::Callout(it) => blocks.push(told(it, depth)),
            }
            after_step = matches!(item, Item::Step(_));
        }
        self.templates.render("items.html", ItemsValues { blocks })
    }

    /// The next request.
    fn request(&self) -> RequestValues {
        let number = self.at.get() + 1;
        self.at.set(number);
        RequestValues {
            number,
            previous: (number > 1).then_some(number - 1),
            next: (number < self.requests).then_some(number + 1),
        }
    }

    fn subagent<'i>(&self, subagent: &'i Subagent, depth: usize) -> Result<Block<'i>> {
        let mut values = callout(&subagent.callout, depth);
        let agent = subagent.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default();
        let model = subagent.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        if !(agent.is_empty() && model.is_empty()) {
            values.title = format!("{agent}{model}");
        }
        values.link = subagent.link.as_ref().map(wikilink);
        let parts = [("Task", &subagent.task), ("Summary", &subagent.summary)];
        let parts = parts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        values.parts = parts.map(|(name, text)| PartValues { name, html: markdown(text) }).collect();
        if !subagent.text.is_empty() {
            values.parts.push(PartValues { name: "", html: markdown(&subagent.text) });
        }
        values.body = self.items(&subagent.items, depth + 1)?;
        if let (SubagentMode::Embed, Some(link)) = (subagent.mode, &subagent.link) {
            values.embed = Some(self.embed(link, depth + 1)?);
        }
        Ok(boxed(values))
    }

    fn embed<'i>(&self, link: &'i Link, depth: usize) -> Result<EmbedValues<'i>> {
        Ok(match self.shown.embeds.get(&link.target) {
            Some(note) if self.open.borrow().contains(&note.path.as_str()) => EmbedValues::Cycle,
            Some(note) if depth <= super::DEEPEST_EMBED => {
                self.open.borrow_mut().push(&note.path);
                let phases: Result<String> = note.session.phases.iter().map(|it| self.phase(it, depth)).collect();
                self.open.borrow_mut().pop();
                EmbedValues::Shown { phases: phases? }
            }
            Some(_) => EmbedValues::TooDeep,
            None => EmbedValues::Missing { target: &link.target },
        })
    }
}

fn diff(it: &FileDiff) -> DiffValues<'_> {
    let count = |mark: char| it.lines.iter().filter(|(own, _)| *own == mark).count();
    DiffValues {
        path: &it.path,
        added: count('+'),
        removed: count('-'),
        is_short: it.lines.len() <= SHORT_DIFF,
        lines: it
            .lines
            .iter()
            .map(|(mark, text)| DiffLineValues {
                class: match mark {
                    '+' => "added",
                    '-' => "removed",
                    _ => "kept",
                },
                mark: *mark,
                text,
            })
            .collect(),
        more: (it.more > 0).then(|| format!("{} not shown", plural(it.more as u64, "line"))),
    }
}

/// A callout without what is in it.
fn callout(callout: &Callout, depth: usize) -> CalloutValues<'_> {
    let look = CalloutLook::of(&callout.kind);
    CalloutValues {
        kind: &callout.kind,
        icon: look.icon,
        colour: look.css,
        id: callout.id.as_deref().filter(|_| depth == 0),
        folded: callout.folded,
        title: callout.title.clone(),
        ..CalloutValues::default()
    }
}

/// A callout with its text.
fn told(it: &Callout, depth: usize) -> Block<'_> {
    boxed(CalloutValues { body: markdown(&it.body), ..callout(it, depth) })
}

fn boxed(values: CalloutValues<'_>) -> Block<'_> {
    Block::Callout(Box::new(values))
}

fn wikilink(link: &Link) -> LinkValues<'_> {
    LinkValues {
        anchor: link.block.as_deref().filter(|_| link.target.is_empty()),
        text: link.alias.as_deref().unwrap_or(&link.target),
    }
}

fn clock(time: Timestamp) -> String {
    time.strftime("%T").to_string()
}

/// Markdown of a note as HTML. Raw HTML in it is shown as text, dangerous link targets are dropped.
fn markdown(text: &str) -> String {
    let mut options = comrak::Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.ofm_callouts = true;
    options.extension.ofm_comments = true;
    options.extension.wikilinks_title_after_pipe = true;
    options.render.escape = true;
    // Obsidian shows a line end as one.
    options.render.hardbreaks = true;
    let html = comrak::markdown_to_html(&sanitise(text), &options);
    // Marks of HTML in the text are escaped, so these are pictures of markdown: shown by their text, never loaded.
    let html = html.replace("<img src=", "<img data-address=");
    let html =
        html.replace("<a href=\"#%5E", "<a href=\"#").replace("data-wikilink=\"true\">#^", "data-wikilink=\"true\">");
    with_known_links(&html)
}

/// A page in which links lead to pages of the web, to files and to places of the page alone.
fn with_known_links(html: &str) -> String {
    const LINK: &str = "<a href=\"";
    let mut parts = html.split(LINK);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.split('"').next().unwrap_or_default();
        let head = target.split(['/', '?', '#']).next().unwrap_or_default();
        // An entity in a scheme is none that is known.
        let is_known = match head.split_once([':', '&']) {
            Some((scheme, _)) => ["http", "https", "mailto"].iter().any(|known| known.eq_ignore_ascii_case(scheme)),
            None => true,
        };
        out.push_str(LINK);
        out.push_str(if is_known { part } else { &part[target.len()..] });
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::super::EmbeddedNote;
    use super::super::figures::SessionFigures;
    use super::*;
    use crate::note::Note;
    use crate::session::read;

    const NOTE: &str = r#"---
type: session
session_id: s-1
title: "Rate <b>limit</b>"
status: active
tags: [api, "a&b"]
---
# Rate <b>limit</b>

## Build @coder@2.0 #dev

*2026-11-20T09:00:00Z* ^p-01

```tasks
[
  {"id":"T1","content":"count & limit","status":"completed"},
  {"id":"T2","content":"write docs","status":"pending"}
]
```

> [!user]
> "limit the </script> logins" - per *address*

**Tool calls:**
- `Read a.rs` → 12 lines (09:00:01) ^n-001
    - reads: `a.rs`, `b<i>.rs`
- `Bash make "x" && y` → ✗ exit 2 (09:00:09) ^n-002

> [!error]+ Flaky "clock"
> Seen in [[#^n-002]], **twice** <img src=x>.

^e-001

> [!subagent]- @reviewer (small-1)
> mode: embed
> ![[other-session]]
> Task: look at [the diff](javascript:alert)
> Summary: fine

^sa-01

> [!subagent]- @reviewer
> mode: embed
> ![[no-session]]

^sa-02
"#;

    fn session(text: &str) -> Session {
        read::session(&Note::parse(text)).0
    }

    fn page(only: Option<Vec<usize>>) -> String {
        let embedded = "# Other\n\n## Check @reviewer\n\n*2026-11-20T09:01:00Z* ^p-01\n\n- `Read a.rs` → ok ^n-001\n";
        let embeds = BTreeMap::from([(
            "other-session".to_owned(),
            EmbeddedNote { path: "sessions/other-session.md".into(), session: session(embedded) },
        )]);
        let path = "sessions/s-1.md".to_owned();
        let change = |mark: char, text: &str| (mark, text.to_owned());
        let lines = vec![change(' ', "fn a() {"), change('-', "old <b>"), change('+', "new")];
        let diff = FileDiff { path: "a.rs".into(), lines, more: 3 };
        let shown = ShownSession {
            idle_since: None,
            path,
            session: session(NOTE),
            diagnostics: Vec::new(),
            only,
            embeds,
            recovered: BTreeMap::new(),
            figures: SessionFigures::default(),
            diffs: HashMap::from([("n-001".to_owned(), vec![diff])]),
        };
        let page = render(&shown).unwrap();
        page.split_once("</style>\n").unwrap().1.to_owned()
    }

    #[test]
    fn shows_every_part() {
        insta::assert_snapshot!(page(None));
    }

    #[test]
    fn a_phase_alone_has_no_header() {
        assert!(page(Some(vec![0])).starts_with("</head>\n<body>\n<h2 id=\"p-01\">Build</h2>\n"));
        assert_eq!(page(Some(Vec::new())), "</head>\n<body>\n</body>\n</html>\n");
    }
}
