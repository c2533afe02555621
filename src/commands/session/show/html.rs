//! A session as one self-contained page: no script, no font, nothing fetched.
//!
//! The layout is that of `templates/html/`; this file prepares the values. What stands inside of another part (the items of
//! a phase, the body of a callout) is filled in first and handed on as markup.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::ShownSession;
use super::kind::{CalloutLook, colours};
use crate::action::Verdict;
use crate::base::Result;
use crate::base::text::{one_line, percent_decoded, plural, sanitise};
use crate::commands::output::{PageFrame, Templates, clock, duration, escape, minute, zoned_minute};
use crate::session::{Callout, Item, Link, Phase, Session, Step, Subagent, SubagentMode, task_line};
use crate::workflow::FileDiff;

/// The rules of the pages of sessions.
pub(in crate::commands) fn style() -> String {
    format!("{}{}", include_str!("page.css"), colours())
}

/// Items of a page among others that are shown at once, and of each part of a longer one: what a browser lays out in a moment.
const PART: usize = 200;
const TEMPLATES: &[(&str, &str)] = &[
    ("session.html", include_str!("../../../../templates/html/session.html")),
    ("phase.html", include_str!("../../../../templates/html/phase.html")),
    ("items.html", include_str!("../../../../templates/html/items.html")),
    ("part.html", include_str!("../../../../templates/html/part.html")),
];

/// The page. Error: a built-in template cannot be used.
pub(super) fn render(shown: &ShownSession, frame: Option<&PageFrame<'_>>) -> Result<String> {
    let session = &shown.session;
    let is_shown = |index: usize| shown.only.as_ref().is_none_or(|only| only.contains(&index));
    let phases = || session.phases.iter().enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, phase)| phase);
    let items = || phases().flat_map(|phase| &phase.items);
    let above = session.preface.iter().filter(|_| shown.only.is_none());
    let requests = above.chain(items()).filter(|item| is_request(item)).count();
    let is_long = frame.is_some() && items().count() > PART;
    let folded =
        phases().filter(|_| is_long).flat_map(|phase| parts(&phase.items)).filter(|part| !is_request(&part[0]));
    let parts = folded.count();
    let frame = frame.map(|frame| PageFrame { in_parts: is_long && frame.live, ..frame.clone() });
    let frame = frame.as_ref();
    let page = HtmlPage {
        templates: Templates::new(TEMPLATES, &shown.zone)?,
        shown,
        frame,
        requests,
        at: Cell::new(0),
        parts,
        part: Cell::new(0),
        open: RefCell::default(),
    };
    page.open.borrow_mut().push(&shown.path);
    let header = match shown.only {
        None => json!({
            "path": shown.path, "rows": rows(shown), "tasks": tasks(session), "preface": page.items(&session.preface, 0)?,
            "marks": marks(session, &shown.zone, frame), "files": changed(session, frame), "step": session.steps().find_map(|(_, step)| step.id.as_deref()), "project": session.meta.project,
        }),
        Some(_) => Value::Null,
    };
    let place = |phase: &Phase| json!({ "id": phase.id, "title": phase.title, "is_sub": phase.level > 2 });
    let contents: Vec<Value> = phases().map(place).collect();
    let markup = phases().map(|phase| page.phase(phase, 0)).collect::<Result<String>>()?;
    // Head and phases are markup; what can be gone to is told where there is more than one.
    let values = json!({
        "head": page.templates.head(session.title(), &style(), "", frame)?,
        "frame": frame,
        "title": session.title(),
        "contents": if contents.len() > 1 { contents } else { Vec::new() },
        "requests": if requests > 1 { (1..=requests).collect() } else { Vec::new() },
        "header": header,
        "phases": markup,
    });
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
        ("Started", meta.started.map(|time| zoned_minute(time, &shown.zone))),
        ("Active, by the note", figures.active()),
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

fn tasks(session: &Session) -> Vec<Value> {
    let mark = |status: &str| match status {
        "completed" => "☑",
        "in_progress" => "◪",
        _ => "☐",
    };
    let tasks = session.tasks().into_iter();
    let is_open = |status: &str| matches!(status, "pending" | "in_progress");
    tasks
        .map(|task| {
            let status = task.status.as_str();
            let block = task_line::lossy(task).id;
            json!({ "mark": mark(status), "content": task.content, "id": task.id, "block": block, "is_open": is_open(status) })
        })
        .collect()
}

/// The files that a session wrote, each once with its page, in the order of the first time.
fn changed(session: &Session, frame: Option<&PageFrame<'_>>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let written = session.steps().flat_map(|(_, step)| &step.writes).map(|file| file.path.as_str());
    let page = |path| json!({ "path": path, "page": frame.and_then(|frame| (frame.file)(path)) });
    written.filter(|path| seen.insert(*path)).map(page).collect()
}

/// What stands on the line of time: requests, checks, commits and failed steps. Empty where no time went by.
fn marks(session: &Session, zone: &TimeZone, frame: Option<&PageFrame<'_>>) -> Vec<Value> {
    let mut at: Option<Timestamp> = session.meta.started;
    let mut found = Vec::new();
    for (_, item) in session.items() {
        let (time, kinds, id, words) = match item {
            Item::Step(step) => {
                let kind = match step.check {
                    Some(verdict) => verdict.as_str(),
                    None if step.status.name() == "failed" => "failed",
                    None => "",
                };
                let commit = step.commits().next().map_or("", |_| "commit");
                (step.time, [kind, commit], &step.id, format!("{} {}", step.tool, step.args))
            }
            Item::User(user) => (None, ["request", ""], &user.callout.id, user.words.clone()),
            _ => continue,
        };
        at = time.or(at);
        if let Some(at) = at {
            let kinds = kinds.into_iter().filter(|kind| !kind.is_empty());
            found.extend(kinds.map(|kind| (at, kind, id, words.clone())));
        }
    }
    let first = session.meta.started.or(found.first().map(|it| it.0));
    let last = at.into_iter().chain(found.iter().map(|it| it.0)).max();
    let Some((first, span)) = first.zip(last).map(|(first, last)| (first, last.duration_since(first).as_secs_f64()))
    else {
        return Vec::new();
    };
    if span <= 0.0 {
        return Vec::new();
    }
    // What would stand on another mark of its kind is not drawn again.
    let mut drawn = BTreeSet::new();
    let mark = |(at, kind, id, words): (Timestamp, &'static str, &Option<String>, String)| {
        let share = at.duration_since(first).as_secs_f64() / span;
        let x = format!("{:.0}", 8.0 + share.clamp(0.0, 1.0) * 984.0);
        let words = one_line(&words).chars().take(120).collect::<String>();
        let page = id.as_deref().zip(frame).map(|(id, frame)| frame.to_part(id)).unwrap_or_default();
        drawn.insert((x.clone(), kind)).then(|| {
            json!({ "x": x, "kind": kind, "id": id, "page": page, "words": format!("{} {kind}: {words}", clock(at, zone)) })
        })
    };
    found.into_iter().filter_map(mark).collect()
}

fn is_request(item: &Item) -> bool {
    matches!(item, Item::User(_))
}

/// The items of a phase as a long page has them: each request by itself, and what follows it.
fn parts(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    items.chunk_by(|a, b| !is_request(a) && !is_request(b)).flat_map(|run| run.chunks(PART))
}

struct HtmlPage<'a> {
    templates: Templates,
    shown: &'a ShownSession,
    frame: Option<&'a PageFrame<'a>>,
    /// Requests of the page.
    requests: usize,
    /// Those that were rendered.
    at: Cell<usize>,
    /// Parts that stand folded, where the page is a long one among others, and those that were rendered.
    parts: usize,
    part: Cell<usize>,
    /// Paths of the notes around the place that is rendered.
    open: RefCell<Vec<&'a str>>,
}

impl HtmlPage<'_> {
    fn markdown(&self, text: &str) -> String {
        markdown(text, self.frame)
    }

    /// A callout with its text.
    fn told(&self, it: &Callout, depth: usize) -> Value {
        let mut block = callout(it, depth);
        block["body"] = self.markdown(&it.body).into();
        block
    }

    /// A link with the place that it leads to.
    fn wikilink(&self, link: &Link) -> Value {
        let own = link
            .block
            .as_deref()
            .filter(|_| link.target.is_empty())
            .map(|id| format!("{}#{id}", self.frame.map(|frame| frame.to_part(id)).unwrap_or_default()));
        let block = link.block.as_deref().map(|id| format!("#^{id}")).unwrap_or_default();
        let page = || (self.frame?.page)(&format!("{}{block}", link.target));
        let text = link.alias.as_deref().or(link.block.as_deref().filter(|_| own.is_some())).unwrap_or(&link.target);
        json!({ "page": own.clone().or_else(page), "text": text })
    }

    /// `depth`: how many callouts of sub-agents it stands in. Ids of embedded sessions would repeat those of the page.
    fn phase(&self, phase: &Phase, depth: usize) -> Result<String> {
        let values = json!({
            "level": if phase.level > 2 { 3 } else { 2 },
            "id": (depth == 0).then_some(&phase.id),
            "title": phase.title,
            "agent": phase.agent.as_ref().map(ToString::to_string),
            "channel": phase.channel,
            "started": phase.started.map(|time| minute(time, &self.shown.zone)),
            "items": match depth {
                0 if self.parts > 0 => parts(&phase.items).map(|part| self.part(part)).collect::<Result<String>>()?,
                _ => self.items(&phase.items, depth)?,
            },
        });
        self.templates.render("phase.html", values)
    }

    /// A part of a long page, folded: a server is asked for what is in it when it is opened, but for the last part and the one that
    /// is asked for by its name or by something in it.
    fn part(&self, items: &[Item]) -> Result<String> {
        let Some(frame) = self.frame.filter(|_| !is_request(&items[0])) else { return self.items(items, 0) };
        let number = self.part.get() + 1;
        self.part.set(number);
        let name = format!("part-{number}");
        let is_asked = frame.at == name || items.iter().any(|item| item.id() == Some(&*frame.at));
        let is_open = is_asked || number == self.parts;
        let steps = || items.iter().filter_map(|item| if let Item::Step(step) = item { Some(step) } else { None });
        let told = |kind: &str| items.iter().filter_map(Item::callout).filter(|callout| callout.kind == kind).count();
        let counts = ["decision", "error", "subagent"].map(|kind| (told(kind), kind));
        let counts = [(steps().count(), "step")].into_iter().chain(counts).filter(|(count, _)| *count > 0);
        let said =
            items.iter().find_map(|item| if let Item::Prose(it) = item { Some(one_line(&it.text)) } else { None });
        let values = json!({
            "name": name,
            "is_open": is_open,
            "begins": steps().find_map(|step| step.time).map(|time| clock(time, &self.shown.zone)),
            "counts": counts.map(|(count, word)| plural(count as u64, word)).collect::<Vec<_>>(),
            "failed": steps().filter(|step| class(step) == "failed").count(),
            "said": said.map(|said| said.chars().take(120).collect::<String>()),
            "items": if is_open || !frame.live { Some(self.items(items, 0)?) } else { None },
        });
        self.templates.render("part.html", values)
    }

    fn step(&self, step: &Step, depth: usize) -> Value {
        let mut facts: Vec<String> = step.time.map(|time| clock(time, &self.shown.zone)).into_iter().collect();
        facts.extend(step.check.map(|verdict| format!("check {}", verdict.as_str())));
        facts.extend(step.exit.filter(|exit| *exit != 0).map(|exit| format!("exit {exit}")));
        facts.extend(step.duration_ms.filter(|ms| *ms >= 1_000).map(|ms| duration(ms / 1_000)));
        facts.extend(self.shown.recovery(step).filter(|_| depth == 0));
        // What the line of the step names already says nothing more here.
        let untold = |path: &&str| !step.args.contains(path);
        let files = [("reads", &step.reads), ("writes", &step.writes)].into_iter().filter_map(|(name, files)| {
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).filter(untold).collect();
            (!paths.is_empty()).then(|| json!({ "name": name, "paths": paths }))
        });
        let diffs = step.id.as_ref().filter(|_| depth == 0).and_then(|id| self.shown.diffs.get(id));
        json!({
            "diffs": diffs.into_iter().flatten().map(diff).collect::<Vec<_>>(),
            "class": class(step),
            "id": step.id.as_deref().filter(|_| depth == 0),
            "tool": step.tool,
            "args": step.args,
            "result": step.result,
            "facts": facts,
            "command": step.command,
            "files": files.collect::<Vec<_>>(),
        })
    }

    fn items(&self, items: &[Item], depth: usize) -> Result<String> {
        let mut blocks: Vec<Value> = Vec::new();
        let mut after_step = false;
        for item in items {
            match item {
                Item::Step(it) => {
                    if !after_step {
                        blocks.push(json!({ "type": "steps", "steps": [] }));
                    }
                    let steps = blocks.last_mut().and_then(|block| block["steps"].as_array_mut());
                    if let Some(steps) = steps {
                        steps.push(self.step(it, depth));
                    }
                }
                Item::Prose(prose) => {
                    let id = prose.id.as_deref().filter(|_| depth == 0);
                    blocks.push(json!({ "type": "prose", "id": id, "html": self.markdown(&prose.text) }));
                }
                Item::Tasks(_) => {}
                Item::Subagent(it) => blocks.push(self.subagent(it, depth)?),
                Item::User(user) => {
                    let mut block = callout(&user.callout, depth);
                    block["body"] =
                        user.interpretation.as_deref().map(|it| self.markdown(it)).unwrap_or_default().into();
                    block["words"] = user.words.as_str().into();
                    if depth == 0 && self.requests > 1 {
                        block["request"] = self.request();
                    }
                    blocks.push(block);
                }
                Item::Decision(it) => blocks.push(self.told(&it.callout, depth)),
                Item::Error(it) => blocks.push(self.told(&it.callout, depth)),
                Item::Callout(it) => blocks.push(self.told(it, depth)),
            }
            after_step = matches!(item, Item::Step(_));
        }
        // What a step said is asked of a server by the note and the step.
        let served = self.frame.filter(|frame| frame.live && depth == 0);
        let values = json!({
            "blocks": blocks,
            "note": served.map(|_| &self.shown.path),
            "root": served.map_or("", |frame| &frame.root),
        });
        self.templates.render("items.html", values)
    }

    /// Where the next request stands among all requests of the page, counted from 1.
    fn request(&self) -> Value {
        let number = self.at.get() + 1;
        self.at.set(number);
        json!({
            "number": number,
            "previous": (number > 1).then_some(number - 1),
            "next": (number < self.requests).then_some(number + 1),
        })
    }

    fn subagent(&self, subagent: &Subagent, depth: usize) -> Result<Value> {
        let mut block = callout(&subagent.callout, depth);
        let agent = subagent.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default();
        let model = subagent.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        if !(agent.is_empty() && model.is_empty()) {
            block["title"] = format!("{agent}{model}").into();
        }
        block["link"] = subagent.link.as_ref().map_or(Value::Null, |link| self.wikilink(link));
        let rest = Some(&subagent.text).filter(|text| !text.is_empty());
        let parts = [("Task", subagent.task.as_ref()), ("Summary", subagent.summary.as_ref()), ("", rest)];
        let parts =
            parts.into_iter().filter_map(|(name, text)| Some(json!({ "name": name, "html": self.markdown(text?) })));
        block["parts"] = parts.collect();
        block["body"] = self.items(&subagent.items, depth + 1)?.into();
        if let (SubagentMode::Embed, Some(link)) = (subagent.mode, &subagent.link) {
            block["embed"] = self.embed(link, depth + 1)?;
        }
        Ok(block)
    }

    /// The session of a sub-agent in the place where it was called: its phases as markup, or why they are not shown.
    fn embed(&self, link: &Link, depth: usize) -> Result<Value> {
        Ok(match self.shown.embeds.get(&link.target) {
            Some(note) if self.open.borrow().contains(&note.path.as_str()) => json!({ "type": "cycle" }),
            Some(note) if depth <= super::DEEPEST_EMBED => {
                self.open.borrow_mut().push(&note.path);
                let phases: Result<String> = note.session.phases.iter().map(|it| self.phase(it, depth)).collect();
                self.open.borrow_mut().pop();
                json!({ "type": "shown", "phases": phases? })
            }
            Some(_) => json!({ "type": "too_deep" }),
            None => json!({ "type": "missing", "target": link.target }),
        })
    }
}

/// How a step ended. What was called may have ended well and have found that something fails.
fn class(step: &Step) -> &'static str {
    if step.check == Some(Verdict::Failed) { "failed" } else { step.status.name() }
}

fn diff(it: &FileDiff) -> Value {
    let count = |mark: char| it.lines.iter().filter(|(own, _)| *own == mark).count();
    let class = |mark: char| match mark {
        '+' => "added",
        '-' => "removed",
        _ => "kept",
    };
    let line = |(mark, text): &(char, String)| json!({ "class": class(*mark), "mark": mark, "text": text });
    json!({
        "path": it.path,
        "added": count('+'),
        "removed": count('-'),
        // It stands open.
        "is_short": it.lines.len() <= 12,
        "lines": it.lines.iter().map(line).collect::<Vec<_>>(),
        "more": (it.more > 0).then(|| format!("{} not shown", plural(it.more as u64, "line"))),
    })
}

/// A callout without what is in it.
fn callout(callout: &Callout, depth: usize) -> Value {
    let look = CalloutLook::of(&callout.kind);
    json!({
        "type": "callout",
        "kind": callout.kind,
        "icon": look.icon,
        "id": callout.id.as_deref().filter(|_| depth == 0),
        // `null`: it cannot be folded.
        "folded": callout.folded,
        "title": callout.title,
        "words": null,
        "request": null,
        "link": null,
        "parts": [],
        "body": "",
        "embed": null,
    })
}

/// Markdown of a note as HTML. Raw HTML in it is shown as text, dangerous link targets are dropped.
/// Links of a page among others lead to the pages of notes.
pub(in crate::commands) fn markdown(text: &str, frame: Option<&PageFrame<'_>>) -> String {
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
    // What may be wider than the page is scrolled by keys as well.
    let html = html.replace("<pre>", "<pre tabindex=\"0\">").replace("<table>", "<table tabindex=\"0\">");
    let html =
        html.replace("<a href=\"#%5E", "<a href=\"#").replace("data-wikilink=\"true\">#^", "data-wikilink=\"true\">");
    with_known_links(&html, frame)
}

/// A page in which links lead to pages of the web, to files and to places of the page alone; among other pages, to those in the
/// place of files.
fn with_known_links(html: &str, frame: Option<&PageFrame<'_>>) -> String {
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
        match frame.filter(|_| !head.contains(':')) {
            None if is_known => out.push_str(&format!("{LINK}{part}")),
            None => out.push_str(&format!("{LINK}{}", &part[target.len()..])),
            Some(frame) => {
                let meant = percent_decoded(&unescaped(target)).and_then(|target| (frame.page)(&target));
                match meant {
                    None if target.starts_with('#') => {
                        out.push_str(&format!("{LINK}{}{part}", frame.to_part(&target[1..])));
                    }
                    Some(page) => out.push_str(&format!("{LINK}{}{}", escape(&page), &part[target.len()..])),
                    None => out.push_str(&format!("<a data-missing=\"{}", &part[target.len()..])),
                }
            }
        }
    }
    out
}

/// An attribute of a page that the reader of markdown made, as the text that it stands for.
fn unescaped(attribute: &str) -> String {
    attribute
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#x27;", "'")
        .replace("&amp;", "&")
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
            zone: TimeZone::UTC,
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
        let page = render(&shown, None).unwrap();
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
