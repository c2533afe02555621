//! A session for a terminal: header, phases, steps with their marks, callouts in colour.

use std::fmt::Write as _;

use anstyle::Style;
use jiff::Timestamp;

use super::ShownSession;
use super::kind::CalloutLook;
use crate::base::text::sanitise;
use crate::commands::View;
use crate::commands::output::style::{self, checked, paint};
use crate::commands::output::{amount, duration, minute, zoned_minute};
use crate::session::{
    Callout, FileRef, Item, Link, Meta, Phase, Session, Status, Step, StepStatus, Subagent, SubagentMode,
};

/// The whole session, or the phases that were asked for.
pub(super) fn render(shown: &ShownSession, view: &View) -> String {
    let mut page = TextPage {
        out: String::new(),
        // The widest a line of prose gets: longer ones are hard to read.
        width: view.width.min(110),
        prefix: Vec::new(),
        open: vec![shown.path.as_str()],
        shown,
    };
    if shown.only.is_none() {
        page.header(&shown.session, &shown.path);
        page.tasks();
        page.items(&shown.session.preface, None);
    }
    for (index, phase) in shown.session.phases.iter().enumerate() {
        if shown.only.as_ref().is_none_or(|only| only.contains(&index)) {
            page.phase(phase);
        }
    }
    page.out
}

struct TextPage<'a> {
    out: String,
    width: usize,
    /// Painted bars of the callouts around the current line.
    prefix: Vec<String>,
    /// Paths of the notes around the current line.
    open: Vec<&'a str>,
    shown: &'a ShownSession,
}

impl TextPage<'_> {
    fn line(&mut self, line: &str) {
        for bar in &self.prefix {
            self.out.push_str(bar);
        }
        self.out.push_str(line);
        self.out.truncate(self.out.trim_end_matches([' ', '\t']).len());
        self.out.push('\n');
    }

    /// A blank line, unless one stands there already.
    fn blank(&mut self) {
        let last = self.out.strip_suffix('\n').map(|out| &out[out.rfind('\n').map_or(0, |at| at + 1)..]);
        let is_blank =
            |line: &str| anstream::adapter::strip_str(line).to_string().chars().all(|c| c == ' ' || c == '│');
        if last.is_some_and(|line| !is_blank(line)) {
            self.line("");
        }
    }

    /// Columns that are left beside the bars.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.prefix.len() * 2).max(24)
    }

    /// Text in lines of the page's width; lines of fences and tables are left whole.
    fn text(&mut self, text: &str, indent: &str, style: Style) {
        let clean = sanitise(text);
        let mut fence = None;
        for line in clean.lines() {
            let marker = line.trim_start();
            let run = marker.chars().take_while(|c| *c == '`' || *c == '~').count();
            match fence {
                None if run >= 3 => fence = Some(run),
                Some(open) if run >= open && marker.chars().all(|c| c == '`' || c == '~') => fence = None,
                _ => {}
            }
            if line.is_empty() {
                self.line("");
                continue;
            }
            if fence.is_some() || run >= 3 || marker.starts_with('|') {
                self.line(&format!("{indent}{}", paint(style::DIM, line)));
                continue;
            }
            let hang = " ".repeat(hanging(line));
            let options = textwrap::Options::new(self.room())
                .initial_indent(indent)
                .subsequent_indent(indent)
                .break_words(false)
                .word_separator(textwrap::WordSeparator::AsciiSpace);
            let subsequent = format!("{indent}{hang}");
            for part in textwrap::wrap(line, options.subsequent_indent(&subsequent)) {
                if style.is_plain() { self.line(&part) } else { self.line(&paint(style, part)) }
            }
        }
    }

    fn header(&mut self, session: &Session, path: &str) {
        let meta = &session.meta;
        self.line(&paint(style::TITLE, sanitise(session.title())));
        self.line(&paint(style::DIM, path));
        self.blank();
        let own = meta.extra.iter().map(|(key, value)| (sanitise(key), sanitise(value).into_owned()));
        let rows = rows(meta, session, self.shown).into_iter().map(|(name, value)| (name.into(), value));
        for (name, value) in rows.chain(own) {
            self.line(&format!("  {} {value}", paint(style::DIM, format_args!("{name:<10}"))));
        }
    }

    fn tasks(&mut self) {
        let session = &self.shown.session;
        let tasks: Vec<_> = session.tasks().into_iter().cloned().collect();
        if tasks.is_empty() {
            return;
        }
        let done = tasks.iter().filter(|task| task.status == "completed").count();
        self.blank();
        self.line(&format!(
            "{} {}",
            paint(style::TITLE, "Tasks"),
            paint(style::DIM, format_args!("{done} of {} done", tasks.len()))
        ));
        for task in &tasks {
            let mark = match task.status.as_str() {
                "completed" => paint(style::GOOD, "✓"),
                "in_progress" => paint(style::WARN, "▶"),
                _ => paint(style::DIM, "○"),
            };
            let id =
                if task.id.is_empty() { String::new() } else { format!("{} ", paint(style::ID, sanitise(&task.id))) };
            self.line(&format!("  {mark} {id}{}", sanitise(&task.content)));
        }
    }

    fn phase(&mut self, phase: &Phase) {
        self.blank();
        let mut head = paint(style::TITLE, sanitise(&phase.title));
        if let Some(agent) = &phase.agent {
            let _ = write!(head, "  {}", paint(style::AGENT, format_args!("@{agent}")));
        }
        if let Some(channel) = &phase.channel {
            let _ = write!(head, " {}", paint(style::CHANNEL, format_args!("#{channel}")));
        }
        if let Some(started) = phase.started {
            let _ = write!(head, "  {}", paint(style::DIM, minute(started, &self.shown.zone)));
        }
        let _ = write!(head, "  {}", paint(style::DIM, &phase.id));
        self.line(&format!("{} {head}", if phase.level > 2 { "  ▸" } else { "##" }));
        if let Some(from) = &phase.from {
            self.line(&paint(style::DIM, format_args!("   continues {}", place(from))));
        }
        self.items(&phase.items, phase.started);
    }

    fn items(&mut self, items: &[Item], day: Option<Timestamp>) {
        let mut before_step = false;
        for item in items {
            let is_step = matches!(item, Item::Step(_));
            let joins = is_step && before_step;
            if !joins && !matches!(item, Item::Tasks(_)) {
                self.blank();
            }
            before_step = is_step;
            match item {
                Item::Step(step) => self.step(step, day),
                Item::Prose(prose) => self.text(&prose.text, "  ", Style::new()),
                Item::Tasks(_) => {}
                Item::Subagent(subagent) => self.subagent(subagent),
                Item::User(user) => {
                    self.callout(&user.callout, |page| {
                        page.text(&user.words, "", Style::new());
                        if let Some(interpretation) = &user.interpretation {
                            page.text(&format!("→ {interpretation}"), "", style::DIM);
                        }
                    });
                }
                Item::Decision(it) => self.plain_callout(&it.callout),
                Item::Error(it) => self.plain_callout(&it.callout),
                Item::Callout(callout) => self.plain_callout(callout),
            }
        }
    }

    fn plain_callout(&mut self, callout: &Callout) {
        self.callout(callout, |page| page.text(&callout.body, "", Style::new()));
    }

    fn callout(&mut self, callout: &Callout, body: impl FnOnce(&mut Self)) {
        let look = CalloutLook::of(&callout.kind);
        let mut head = format!("{} {}", look.icon, callout.kind);
        if !callout.title.is_empty() {
            let _ = write!(head, ": {}", sanitise(&callout.title));
        }
        let id = callout.id.as_ref().map(|id| format!("  {}", paint(style::DIM, id))).unwrap_or_default();
        self.line(&format!("  {}{id}", paint(look.style(), head)));
        self.prefix.push(format!("  {} ", paint(look.bar(), "│")));
        body(self);
        self.prefix.pop();
    }

    fn subagent(&mut self, subagent: &Subagent) {
        let look = CalloutLook::of("subagent");
        let agent = subagent.agent.as_ref().map_or_else(|| "agent".to_owned(), |agent| format!("@{agent}"));
        let model = subagent.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        self.line(&format!(
            "  {}",
            paint(look.style(), format_args!("{} {}{}", look.icon, sanitise(&agent), sanitise(&model)))
        ));
        self.prefix.push(format!("  {} ", paint(look.bar(), "│")));
        if let Some(link) = &subagent.link {
            self.line(&paint(style::ID, place(link)));
        }
        if let Some(task) = &subagent.task {
            self.text(&format!("asked: {task}"), "", style::DIM);
        }
        if let Some(summary) = &subagent.summary {
            self.text(summary, "", Style::new());
        }
        if !subagent.text.is_empty() {
            self.text(&subagent.text, "", Style::new());
        }
        if !subagent.items.is_empty() {
            self.items(&subagent.items, None);
        }
        if let (SubagentMode::Embed, Some(link)) = (subagent.mode, &subagent.link) {
            self.embed(link);
        }
        self.prefix.pop();
    }

    /// The session behind `![[…]]`, unless it is missing or already open around this place.
    fn embed(&mut self, link: &Link) {
        let depth = self.prefix.len();
        let shown = self.shown;
        match shown.embeds.get(&link.target) {
            Some(note) if self.open.contains(&note.path.as_str()) => {
                self.line(&paint(style::WARN, "(not shown: it embeds itself)"));
            }
            Some(note) if depth <= super::DEEPEST_EMBED => {
                self.open.push(&note.path);
                for phase in &note.session.phases {
                    self.phase(phase);
                }
                self.open.pop();
            }
            Some(_) => self.line(&paint(style::WARN, "(not shown: embedded too deep)")),
            None => self.line(&paint(style::WARN, format_args!("(missing: no note {})", sanitise(&link.target)))),
        }
    }

    fn step(&mut self, step: &Step, day: Option<Timestamp>) {
        let mark = paint(style::of_step(step.status), step.status.mark());
        let mut line = format!("  {mark} {} {}", paint(style::TITLE, sanitise(&step.tool)), sanitise(&step.args));
        if let Some(result) = &step.result {
            let result = sanitise(result);
            let result =
                if step.status == StepStatus::Failed { paint(style::BAD, result) } else { result.into_owned() };
            let _ = write!(line, " {} {result}", paint(style::DIM, "→"));
        }
        let mut facts = Vec::new();
        if let Some(time) = step.time {
            let zoned = |time: Timestamp| time.to_zoned(self.shown.zone.clone());
            let same_day = day.is_none_or(|day| zoned(day).date() == zoned(time).date());
            facts.push(zoned(time).strftime(if same_day { "%T" } else { "%F %T" }).to_string());
        }
        facts.extend(step.exit.filter(|exit| *exit != 0).map(|exit| format!("exit {exit}")));
        facts.extend(step.duration_ms.filter(|ms| *ms >= 1_000).map(|ms| duration(ms / 1_000)));
        facts.extend(self.shown.recovery(step).filter(|_| self.prefix.is_empty()));
        facts.extend(step.id.clone());
        if let Some(verdict) = step.check {
            let _ = write!(line, "  {}", checked(verdict));
        }
        let _ = write!(line, "  {}", paint(style::DIM, facts.join(" · ")));
        self.line(&line);
        if let Some(command) = &step.command {
            for line in sanitise(command).lines() {
                self.line(&format!("      {}", paint(style::DIM, line)));
            }
        }
        for (name, files) in [("reads", &step.reads), ("writes", &step.writes)] {
            if !files.is_empty() {
                let files: Vec<_> = files.iter().map(file).collect();
                self.line(&paint(style::DIM, format_args!("      {name} {}", files.join(", "))));
            }
        }
        let links: Vec<_> = step.after.iter().map(place).collect();
        if !links.is_empty() {
            self.line(&paint(style::DIM, format_args!("      after {}", links.join(", "))));
        }
        if let Some(replays) = &step.replays {
            self.line(&paint(style::DIM, format_args!("      replays {}", place(replays))));
        }
    }
}

/// Columns that the second line of a list item moves in.
fn hanging(line: &str) -> usize {
    let inner = line.trim_start();
    let indent = line.len() - inner.len();
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match inner.as_bytes().get(digits..digits + 2) {
        Some([b'-' | b'*' | b'+', b' ']) if digits == 0 => 2,
        Some([b'.' | b')', b' ']) if digits > 0 => digits + 2,
        _ => 0,
    };
    (indent + marker).min(12)
}

fn file(file: &FileRef) -> String {
    let hash = file.hash.as_ref().map(|hash| format!("@{}", &hash[..hash.len().min(8)])).unwrap_or_default();
    format!("{}{hash}{}", sanitise(&file.path), file.mark())
}

fn place(link: &Link) -> String {
    let block = link.block.as_ref().or(link.heading.as_ref());
    let text = match (link.target.as_str(), block) {
        ("", Some(block)) => block.clone(),
        (target, Some(block)) => format!("{target} {block}"),
        (target, None) => target.to_owned(),
    };
    sanitise(&text).into_owned()
}

fn rows(meta: &Meta, session: &Session, shown: &ShownSession) -> Vec<(&'static str, String)> {
    let figures = &shown.figures;
    let clean = |text: &str| sanitise(text).into_owned();
    let join = |parts: Vec<Option<String>>| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("  "))
    };
    let status = meta.status.as_ref().map(|status| {
        let style = match status {
            Status::Active | Status::Paused => style::WARN,
            Status::Completed => style::GOOD,
            Status::Failed | Status::Abandoned => style::BAD,
            Status::Other(_) => Style::new(),
        };
        paint(style, clean(status.as_str()))
    });
    let idle = shown.idle_since.map(|since| {
        format!("(nothing since {}: the next flush pauses or closes it)", zoned_minute(since, &shown.zone))
    });
    let resume = meta.resume_point.as_ref().map(|id| format!("resume at {}", clean(id)));
    let started = meta.started.map(|time| zoned_minute(time, &shown.zone));
    let ended = meta.ended.map(|time| format!("to {}", minute(time, &shown.zone)));
    let agents: Vec<String> = meta.participants.iter().map(|agent| clean(&agent.to_string())).collect();
    let steps = session.steps().count() as u64;
    let failed = session.steps().filter(|(_, step)| step.status == StepStatus::Failed).count() as u64;
    let subagents: Vec<String> = meta
        .subagents
        .iter()
        .map(|row| {
            let tokens = row.tokens.map(|tokens| format!(" ({} tokens)", amount(tokens))).unwrap_or_default();
            format!("{}{tokens}", paint(style::ID, clean(&row.session)))
        })
        .collect();
    let rows = [
        ("status", join(vec![status, idle, figures.proof().map(|proof| format!("({proof})")), resume])),
        ("channel", meta.channel.as_ref().map(|channel| paint(style::CHANNEL, format_args!("#{}", clean(channel))))),
        ("time", join(vec![started, ended, times(figures.wall_clock(), figures.active())])),
        ("agents", (!agents.is_empty()).then(|| paint(style::AGENT, agents.join(", ")))),
        ("model", meta.model.as_deref().map(clean)),
        ("tokens", figures.tokens()),
        ("cost", figures.cost()),
        (
            "steps",
            (steps > 0).then(|| if failed > 0 { format!("{steps}, {failed} failed") } else { steps.to_string() }),
        ),
        (
            "project",
            join(vec![
                meta.project.as_deref().map(clean),
                meta.branch.as_deref().map(clean),
                meta.commit.as_deref().map(clean),
            ]),
        ),
        ("host", join(vec![meta.host.as_deref().map(clean), meta.host_session.as_deref().map(clean)])),
        ("parent", meta.parent.as_ref().map(|link| paint(style::ID, place(link)))),
        ("sub-agents", (!subagents.is_empty()).then(|| subagents.join(", "))),
        ("tags", (!meta.tags.is_empty()).then(|| clean(&meta.tags.join(", ")))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// `(38 min active, 2 h by the wall clock)`.
fn times(wall: Option<String>, active: Option<String>) -> Option<String> {
    let active = active.map(|active| format!("{active} active"));
    let parts: Vec<String> = active.into_iter().chain(wall.map(|wall| format!("{wall} by the wall clock"))).collect();
    (!parts.is_empty()).then(|| format!("({})", parts.join(", ")))
}
