//! A session as one self-contained page: no script, no font, nothing fetched.

use std::fmt::{Display, Write as _};

use jiff::Timestamp;

use super::Shown;
use super::kind::Look;
use crate::base::text::{sanitise, thousands};
use crate::commands::output::{duration, escape, minute};
use crate::session::{Callout, Item, Link, Phase, Session, Step, Subagent, SubagentMode};

const STYLE: &str = include_str!("page.css");

/// The page.
pub(super) fn render(shown: &Shown) -> String {
    let mut page = Page { out: String::new(), shown, depth: 0 };
    let title = escape(shown.session.title());
    let _ = write!(
        page.out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    if shown.only.is_none() {
        page.header(&shown.session);
        page.items(&shown.session.preface);
    }
    for (index, phase) in shown.session.phases.iter().enumerate() {
        if shown.only.as_ref().is_none_or(|only| only.contains(&index)) {
            page.phase(phase);
        }
    }
    page.out.push_str("</body>\n</html>\n");
    page.out
}

struct Page<'a> {
    out: String,
    shown: &'a Shown,
    depth: usize,
}

impl Page<'_> {
    fn put(&mut self, html: impl Display) {
        let _ = write!(self.out, "{html}");
    }

    fn header(&mut self, session: &Session) {
        let meta = &session.meta;
        self.put(format_args!(
            "<h1>{}</h1>\n<div class=\"soft\">{}</div>\n<dl class=\"meta\">\n",
            escape(session.title()),
            escape(&self.shown.path)
        ));
        let agents: Vec<_> = meta.participants.iter().map(ToString::to_string).collect();
        let took =
            meta.started.zip(meta.ended).and_then(|(from, to)| u64::try_from(to.as_second() - from.as_second()).ok());
        let place =
            [&meta.project, &meta.branch, &meta.commit].into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
        let rows = [
            ("Status", meta.status.as_ref().map(|status| status.as_str().to_owned())),
            ("Channel", meta.channel.as_ref().map(|channel| format!("#{channel}"))),
            ("Started", meta.started.map(|time| format!("{} UTC", minute(time)))),
            ("Took", took.map(duration)),
            ("Agents", (!agents.is_empty()).then(|| agents.join(", "))),
            ("Model", meta.model.clone()),
            ("Tokens", meta.tokens_used.map(thousands)),
            ("Cost", meta.cost_usd.map(|cost| format!("US$ {cost:.2}"))),
            ("Project", (!place.is_empty()).then(|| place.join(" · "))),
            ("Parent", meta.parent.as_ref().map(|link| link.target.clone())),
            ("Tags", (!meta.tags.is_empty()).then(|| meta.tags.join(", "))),
        ];
        for (name, value) in rows {
            if let Some(value) = value {
                self.put(format_args!("<dt>{name}</dt><dd>{}</dd>\n", escape(&value)));
            }
        }
        self.put("</dl>\n");
        let tasks: Vec<_> = session.tasks().into_iter().cloned().collect();
        if !tasks.is_empty() {
            self.put("<ul class=\"tasks\">\n");
            for task in tasks {
                let mark = match task.status.as_str() {
                    "completed" => "☑",
                    "in_progress" => "◪",
                    _ => "☐",
                };
                self.put(format_args!(
                    "<li>{mark} {} <span class=\"soft\">{}</span></li>\n",
                    escape(&task.content),
                    escape(&task.id)
                ));
            }
            self.put("</ul>\n");
        }
    }

    fn phase(&mut self, phase: &Phase) {
        let level = if phase.level > 2 { 3 } else { 2 };
        // Ids of embedded sessions would repeat those of the page.
        let id = if self.depth == 0 { format!(" id=\"{}\"", escape(&phase.id)) } else { String::new() };
        self.put(format_args!("<h{level}{id}>{}</h{level}>\n<div>", escape(&phase.title)));
        if let Some(agent) = &phase.agent {
            self.put(format_args!("<span class=\"agent\">@{}</span> ", escape(&agent.to_string())));
        }
        if let Some(channel) = &phase.channel {
            self.put(format_args!("<span class=\"channel\">#{}</span> ", escape(channel)));
        }
        if let Some(started) = phase.started {
            self.put(format_args!("<span class=\"soft\">{}</span>", minute(started)));
        }
        self.put("</div>\n");
        self.items(&phase.items);
    }

    fn items(&mut self, items: &[Item]) {
        let mut open = false;
        for item in items {
            let is_step = matches!(item, Item::Step(_));
            if is_step != open {
                self.put(if is_step { "<ul class=\"steps\">\n" } else { "</ul>\n" });
                open = is_step;
            }
            match item {
                Item::Step(step) => self.step(step),
                Item::Prose(prose) => self.put(markdown(&prose.text)),
                Item::Tasks(_) => {}
                Item::Subagent(subagent) => self.subagent(subagent),
                Item::User(user) => {
                    let after = user.interpretation.as_deref().map(markdown).unwrap_or_default();
                    let body = format!("<div class=\"words\">{}</div>{after}", escape(&user.words));
                    self.callout(&user.callout, "", &body);
                }
                Item::Decision(it) => self.callout(&it.callout, "", &markdown(&it.callout.body)),
                Item::Error(it) => self.callout(&it.callout, "", &markdown(&it.callout.body)),
                Item::Callout(it) => self.callout(it, "", &markdown(&it.body)),
            }
        }
        if open {
            self.put("</ul>\n");
        }
    }

    fn callout(&mut self, callout: &Callout, title: &str, body: &str) {
        let look = Look::of(&callout.kind);
        let title = if title.is_empty() { &callout.title } else { title };
        let id = match &callout.id {
            Some(id) if self.depth == 0 => format!(" id=\"{}\"", escape(id)),
            _ => String::new(),
        };
        let head = format!(
            "{} {}{}{}",
            look.icon,
            escape(&callout.kind),
            if title.is_empty() { "" } else { ": " },
            escape(title)
        );
        let shell =
            format!("class=\"callout\" data-callout=\"{}\" style=\"--kind: {}\"{id}", escape(&callout.kind), look.css);
        match callout.folded {
            Some(closed) => {
                let state = if closed { "" } else { " open" };
                self.put(format_args!("<details {shell}{state}><summary>{head}</summary>\n{body}</details>\n"));
            }
            None => self.put(format_args!("<div {shell}><div class=\"callout-title\">{head}</div>\n{body}</div>\n")),
        }
    }

    fn subagent(&mut self, subagent: &Subagent) {
        let agent = subagent.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default();
        let model = subagent.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        let outer = std::mem::take(&mut self.out);
        if let Some(link) = &subagent.link {
            self.put(format_args!("<p>{}</p>\n", wikilink(link)));
        }
        for (name, text) in [("Task", &subagent.task), ("Summary", &subagent.summary)] {
            if let Some(text) = text {
                self.put(format_args!("<p><span class=\"soft\">{name}:</span></p>{}", markdown(text)));
            }
        }
        self.depth += 1;
        self.items(&subagent.items);
        if let (SubagentMode::Embed, Some(link)) = (subagent.mode, &subagent.link) {
            self.embed(link);
        }
        self.depth -= 1;
        let body = std::mem::replace(&mut self.out, outer);
        self.callout(&subagent.callout, &format!("{agent}{model}"), &body);
    }

    fn embed(&mut self, link: &Link) {
        match self.shown.embeds.get(&link.target) {
            Some(session) if self.depth <= super::DEEPEST_EMBED => {
                self.put("<div class=\"embed\">\n");
                for phase in &session.phases {
                    self.phase(phase);
                }
                self.put("</div>\n");
            }
            Some(_) => self.put("<p class=\"soft\">(not shown: embedded too deep, or in itself)</p>\n"),
            None => self.put(format_args!("<p class=\"soft\">(missing: no note {})</p>\n", escape(&link.target))),
        }
    }

    fn step(&mut self, step: &Step) {
        let class = step.status.name();
        let id = match &step.id {
            Some(id) if self.depth == 0 => format!(" id=\"{}\"", escape(id)),
            _ => String::new(),
        };
        self.put(format_args!("<li class=\"{class}\"{id}><code>{} {}</code>", escape(&step.tool), escape(&step.args)));
        if let Some(result) = &step.result {
            self.put(format_args!(" → <span class=\"result\">{}</span>", escape(result)));
        }
        let mut facts: Vec<String> = step.time.map(clock).into_iter().collect();
        facts.extend(step.exit.filter(|exit| *exit != 0).map(|exit| format!("exit {exit}")));
        facts.extend(step.duration_ms.filter(|ms| *ms >= 1_000).map(|ms| duration(ms / 1_000)));
        if !facts.is_empty() {
            self.put(format_args!(" <span class=\"facts\">{}</span>", facts.join(" · ")));
        }
        if let Some(command) = &step.command {
            self.put(format_args!("<pre><code>{}</code></pre>", escape(command)));
        }
        for (name, files) in [("reads", &step.reads), ("writes", &step.writes)] {
            if !files.is_empty() {
                let files: Vec<_> = files.iter().map(|file| escape(&file.path)).collect();
                self.put(format_args!("<span class=\"files\">{name} {}</span>", files.join(", ")));
            }
        }
        self.put("</li>\n");
    }
}

fn clock(time: Timestamp) -> String {
    time.strftime("%T").to_string()
}

fn wikilink(link: &Link) -> String {
    let shown = link.alias.as_deref().unwrap_or(&link.target);
    match (&link.block, link.target.is_empty()) {
        (Some(block), true) => format!("<a href=\"#{}\">{}</a>", escape(block), escape(block)),
        _ => format!("<span class=\"channel\">{}</span>", escape(shown)),
    }
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
    html.replace("<a href=\"#%5E", "<a href=\"#").replace("data-wikilink=\"true\">#^", "data-wikilink=\"true\">")
}
