//! A note read as workflow markup, both dialects as one superset. Total: anything gives a model, and what is odd becomes a diagnostic.
//!
//! Only blocks at top level count; headings and gates inside fences or quotes are content. Lines with an arrow are read
//! by [`super::flow`], headings by [`super::heading`], records by [`super::record`].

use std::collections::HashSet;

use super::dialect;
use super::flow::{self, Arrow};
use super::heading::Heading;
use super::model::{
    Check, Command, Dialect, Flow, Gate, Goal, Part, Prose, RecipeStatus, Remark, RemarkKind, Script, Step, Workflow,
};
use super::record;
use super::text::{Piece, leading_code, pieces, unescape};
use cru_base::{Diagnostic, Span};
use cru_note::{Block, BlockKind, Note, frontmatter};
use cru_session::Link;
use cru_session::escape::uncode_text;

/// Info strings of fences that hold commands.
const SHELLS: [&str; 5] = ["sh", "bash", "shell", "zsh", "console"];

/// Reads a note.
pub fn parse(note: &Note) -> (Workflow, Vec<Diagnostic>) {
    let mut reader = Reader {
        note,
        titles: titles(note),
        workflow: Workflow { dialect: dialect::detect(note), ..Workflow::default() },
        place: Place::Preface,
        above: Vec::new(),
        open: None,
        diagnostics: note.diagnostics().to_vec(),
    };
    reader.properties();
    for block in note.blocks() {
        reader.block(block);
    }
    reader.settle();
    (reader.workflow, reader.diagnostics)
}

/// Titles of all headings, in lower case: a right side that equals one leads to that step.
fn titles(note: &Note) -> HashSet<String> {
    let title = |block: &Block| match block.kind {
        BlockKind::Heading { text, .. } => Some(Heading::parse(text.of(note.text())).title.to_lowercase()),
        _ => None,
    };
    note.blocks().iter().filter_map(title).filter(|title| !title.is_empty()).collect()
}

/// Where blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Preface,
    Goals,
    Checks,
    Step(usize),
}

struct Reader<'a> {
    note: &'a Note,
    titles: HashSet<String>,
    workflow: Workflow,
    place: Place,
    /// Level and step of the headings above, outermost first.
    above: Vec<(u8, Option<usize>)>,
    /// A flow whose results are to follow as bullets, with its line.
    open: Option<(Flow, String)>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn text(&self, span: Span) -> &str {
        span.of(self.note.text())
    }

    fn properties(&mut self) {
        let Some(bounds) = self.note.frontmatter() else { return };
        let (values, odd) = frontmatter::read(self.note.text(), &bounds);
        self.diagnostics.extend(odd);
        self.workflow.title = values.string("title").map(str::to_owned).unwrap_or_default();
        self.workflow.description = values.string("description").map(str::to_owned);
        // Any other word decides nothing.
        let status = |word: &str| RecipeStatus::parse(word.trim()).unwrap_or_default();
        self.workflow.recipe = values.string("recipe").map(status);
        self.workflow.sources = values.strings("source").into_iter().map(source).collect();
    }

    fn block(&mut self, block: &Block) {
        if let BlockKind::List { ordered: false } = block.kind
            && let Some((mut flow, _)) = self.open.take()
        {
            let results = block.children.iter().filter_map(|item| match item.kind {
                BlockKind::ListItem { text, .. } => flow::operand(text.of(self.note.text()), text.start),
                _ => None,
            });
            // One edge for each bullet is what one stage with all of them says.
            flow.stages.push(results.collect());
            if flow.stages.last().is_some_and(|stage| !stage.is_empty()) {
                self.push(Part::Flow(flow));
                return;
            }
        }
        if !matches!(block.kind, BlockKind::Blank) {
            self.settle();
        }
        let raw = block.content;
        match &block.kind {
            BlockKind::Heading { level, text } => self.heading(block, *level, *text),
            BlockKind::Paragraph => self.paragraph(raw),
            BlockKind::List { ordered: false } => self.list(block),
            BlockKind::Callout { kind, title, .. } if self.text(*kind).eq_ignore_ascii_case("gate") => {
                let body = self.note.unquoted(block).into_string().replace("\r\n", "\n");
                let gate = Gate { title: unescape(self.text(*title)), body, span: raw };
                self.push(Part::Gate(gate));
            }
            BlockKind::Fence { info, body, .. } => self.fence(raw, *info, *body),
            BlockKind::Rule | BlockKind::Blank | BlockKind::Comment { .. } => {}
            _ => self.prose(raw),
        }
    }

    /// An open flow that no list follows is prose.
    fn settle(&mut self) {
        if let Some((flow, line)) = self.open.take() {
            let message = "no list of results follows this line";
            self.diagnostics.push(Diagnostic::warning("flow-open", flow.span, message));
            self.push(Part::Prose(Prose { markdown: line, span: flow.span }));
        }
    }

    fn push(&mut self, part: Part) {
        match self.place {
            Place::Preface => self.workflow.preface.push(part),
            Place::Step(index) => {
                if let Some(step) = self.workflow.steps.get_mut(index) {
                    step.parts.push(part);
                }
            }
            // A gate below the goals stands before the first step, one below the checks behind the last.
            Place::Goals if matches!(part, Part::Gate(_)) => self.workflow.preface.push(part),
            Place::Checks if matches!(part, Part::Gate(_)) => match self.workflow.steps.last_mut() {
                Some(last) => last.parts.push(part),
                None => self.workflow.preface.push(part),
            },
            // Items of these two are read by `list`; other text there has no meaning.
            Place::Goals | Place::Checks => {
                let message = "only list items count here";
                self.diagnostics.push(Diagnostic::info("no-item", part.span(), message));
            }
        }
    }

    fn prose(&mut self, span: Span) {
        let markdown = self.text(span).replace("\r\n", "\n");
        if !markdown.is_empty() {
            self.push(Part::Prose(Prose { markdown, span }));
        }
    }

    fn heading(&mut self, block: &Block, level: u8, text: Span) {
        let heading = Heading::parse(self.text(text));
        if level == 1 && self.workflow.dialect == Dialect::A {
            if self.place == Place::Preface && self.above.is_empty() {
                self.workflow.title = unescape(self.text(text).trim());
                self.above.push((1, None));
            } else {
                let message = "a workflow has one level-1 heading; this one is read as prose";
                self.diagnostics.push(Diagnostic::warning("second-title", block.content, message));
                self.prose(block.content);
            }
            return;
        }
        let bare = heading.is_bare();
        let special = match heading.title.as_str() {
            "Goals" if level == 2 && bare => Some(Place::Goals),
            "Validation" if level == 2 && bare => Some(Place::Checks),
            _ => None,
        };
        self.above.retain(|(above, _)| *above < level);
        if let Some(place) = special {
            let again = match place {
                Place::Goals => !std::mem::take(&mut self.workflow.goals).is_empty(),
                _ => !std::mem::take(&mut self.workflow.checks).is_empty(),
            };
            if again {
                let message = format!("'{}' stands twice; the last one counts", heading.title);
                self.diagnostics.push(Diagnostic::warning("duplicate-section", block.content, message));
            }
            self.place = place;
            self.above.push((level, None));
            return;
        }
        if heading.title.is_empty() {
            let message = "the step has no title";
            self.diagnostics.push(Diagnostic::warning("no-title", block.content, message));
        }
        let index = self.workflow.steps.len();
        self.workflow.steps.push(Step {
            level,
            parent: self.above.iter().rev().find_map(|(_, step)| *step),
            title: heading.title,
            agent: heading.agent,
            channel: heading.channel,
            need: heading.need,
            binds: heading.binds,
            parallel: heading.parallel,
            fork: heading.fork,
            pairs: heading.pairs,
            span: block.span,
            heading_span: block.content,
            ..Step::default()
        });
        self.above.push((level, Some(index)));
        self.place = Place::Step(index);
    }

    fn paragraph(&mut self, span: Span) {
        if let Place::Step(index) = self.place
            && let Some(links) = origin(self.text(span))
            && let Some(step) = self.workflow.steps.get_mut(index)
        {
            step.origin.extend(links);
            return;
        }
        let mut prose: Option<Span> = None;
        let mut parts = Vec::new();
        let mut at = span.start;
        for line in self.text(span).split_inclusive('\n') {
            let start = at;
            at += line.len();
            let line_span = Span::new(start, start + line.trim_end().len());
            let is_title = |text: &str| self.titles.contains(&unescape(text).to_lowercase());
            let Some(arrow) = flow::parse(line, start, &is_title) else {
                prose = Some(prose.map_or(line_span, |before| Span::new(before.start, line_span.end)));
                continue;
            };
            parts.extend(prose.take().map(|span| (span, None)));
            parts.push((line_span, Some(arrow)));
        }
        parts.extend(prose.map(|span| (span, None)));
        for (span, arrow) in parts {
            self.settle();
            match arrow {
                None => self.prose(span),
                Some(Arrow::Flow(flow)) => self.push(Part::Flow(flow)),
                Some(Arrow::Branch(branch)) => self.push(Part::Branch(branch)),
                Some(Arrow::Open(flow)) => self.open = Some((flow, self.text(span).to_owned())),
            }
        }
    }

    fn list(&mut self, block: &Block) {
        for item in &block.children {
            let BlockKind::ListItem { text, task } = item.kind else { continue };
            let span = item.content;
            let words = self.text(text).trim().to_owned();
            match self.place {
                Place::Goals => {
                    let done = task.is_some_and(|mark| mark != ' ');
                    let (text, id) = goal_id(&words);
                    self.workflow.goals.push(Goal { text: unescape(text), done, plain: task.is_none(), id, span });
                }
                Place::Checks => {
                    let id = self.note.id(item).map(str::to_owned);
                    self.workflow.checks.push(Check { id, ..check(&words, span) });
                }
                _ if task.is_some() || item.children.len() > 1 || self.text(span).contains('\n') => self.prose(span),
                _ => self.push(bullet(&words, text, span)),
            }
        }
    }

    fn fence(&mut self, raw: Span, info: Span, body: Span) {
        let word = self.text(info).split_whitespace().next().unwrap_or("");
        if word == record::FENCE {
            let text = &*uncode_text(body.of(self.note.text()));
            match record::decode(text, body.start, &mut self.diagnostics) {
                Some(record) => self.push(Part::Record(super::model::Record { span: raw, ..record })),
                None => self.prose(raw),
            }
        } else if SHELLS.contains(&word) {
            let text = self.text(body);
            let text = uncode_text(text.strip_suffix('\n').unwrap_or(text)).replace("\r\n", "\n");
            self.push(Part::Script(Script { text, span: raw }));
        } else {
            self.prose(raw);
        }
    }
}

/// A bullet of one line.
fn bullet(words: &str, text: Span, span: Span) -> Part {
    if let Some((command, rest)) = leading_code(words) {
        let note = match rest.trim_start().strip_prefix('—') {
            Some(note) => Some(Some(unescape(note.trim()))),
            None => rest.trim().is_empty().then_some(None),
        };
        if let Some(note) = note {
            return Part::Command(Command { command: uncode_text(command).into_owned(), note, span });
        }
    }
    let condition =
        words.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("if")) || words.starts_with("Otherwise");
    if condition && let Some(Arrow::Branch(branch)) = flow::parse(words, text.start, &|_| false) {
        return Part::Branch(branch);
    }
    for kind in RemarkKind::ALL.into_iter().filter(|kind| *kind != RemarkKind::Plain) {
        if let Some(rest) = words.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix(": ")) {
            return Part::Remark(Remark { kind, text: unescape(rest.trim_start()), span });
        }
    }
    Part::Remark(Remark { kind: RemarkKind::Plain, text: unescape(words), span })
}

/// The words of a goal, and its `[id:: g1]`.
fn goal_id(words: &str) -> (&str, Option<String>) {
    let pair = words.strip_suffix(']').and_then(|rest| rest.rsplit_once("[id::"));
    match pair.map(|(before, id)| (before, id.trim())) {
        Some((before, id)) if !id.is_empty() && !before.ends_with('\\') && !id.contains(['[', ']']) => {
            (before.trim_end(), Some(id.to_owned()))
        }
        _ => (words, None),
    }
}

/// An item of `## Validation`: one code span with text is a command, anything else a check by hand.
fn check(words: &str, span: Span) -> Check {
    let code = |piece| if let Piece::Code(code) = piece { Some(code) } else { None };
    let codes: Vec<&str> = pieces(words, true).into_iter().filter_map(code).collect();
    let by_hand = || Check { text: unescape(words), span, ..Check::default() };
    let [code] = codes.as_slice() else { return by_hand() };
    let Some((command, _)) = leading_code(code) else { return by_hand() };
    let (before, after) = words.split_once(code).unwrap_or((words, ""));
    let after = after.trim().trim_start_matches(['—', '–', ':']).trim_start();
    let text = unescape(format!("{} {after}", before.trim_end()).trim());
    if text.is_empty() {
        by_hand()
    } else {
        Check { command: Some(uncode_text(command).into_owned()), text, span, ..Check::default() }
    }
}

/// The links of a paragraph that is nothing but `From [[…]], [[…]].`
fn origin(text: &str) -> Option<Vec<Link>> {
    let mut rest = text.trim().strip_prefix("From ")?.trim_end_matches('.');
    let mut links = Vec::new();
    loop {
        let (inner, after) = rest.trim_start().strip_prefix("[[")?.split_once("]]")?;
        links.push(Link::parse(inner));
        match after.trim_start().strip_prefix(',') {
            Some(after) => rest = after,
            None => return after.trim().is_empty().then_some(links),
        }
    }
}

/// A source of the frontmatter: `[[note]]`, or a bare name.
fn source(text: &str) -> Link {
    let inner = text.trim().strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
    inner.map_or_else(|| Link::to_note(text.trim()), Link::parse)
}
