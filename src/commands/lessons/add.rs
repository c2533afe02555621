//! `cru lessons add`: a lesson that a person writes down, with what it rests on.

use std::path::Path;

use serde::Serialize;

use crate::base::text::{fold_whitespace, sanitise, slug};
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::read::Shelf;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::refs::NamedBlock;
use crate::commands::{Context, Output, PlainOutput, View};
use crate::note::LineEnd;
use crate::readings::answer::{Confidence, LessonLevel};
use crate::readings::lesson::{FOLDER, Lesson, LessonNote, Likeness, ToldLesson, likeness};
use crate::readings::note::{ReviewStatus, code};
use crate::session::escape::inline;
use crate::session::{FileRef, Item, Link, file_ref};
use crate::vault::VaultPath;

/// Anchors of a lesson at most.
const ANCHORS: usize = 3;

/// Write a lesson down
///
/// The note `lessons/NAME.md` holds the claim, what it rests on, and lines of files that show whether it still holds: those that the
/// named steps read and wrote, three at most. Where a lesson says the same already, the evidence is added to it. Without TEXT the words
/// of what it rests on are the claim: of a person, a decision, an error, a step or any callout; on a terminal the note is opened in
/// `$VISUAL` or `$EDITOR`.
#[derive(Debug, clap::Args)]
pub struct AddArgs {
    /// The claim
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// What it rests on: a step, a decision, words of a person, `SESSION#n-014`, `^`
    #[arg(long, value_name = "REF", required = true)]
    from: Vec<String>,
    #[command(flatten)]
    about: About,
}

/// What else is said of a lesson.
#[derive(Debug, Default, clap::Args)]
struct About {
    /// What it is about; else what the session says, else project
    #[arg(long, value_parser = ["project", "task", "user", "model", "tool", "skill", "subagent"], value_name = "LEVEL")]
    level: Option<String>,
    /// How sure it is; else what the session says, else high
    #[arg(long, value_parser = ["high", "medium", "low"], value_name = "LEVEL")]
    confidence: Option<String>,
    /// What to do
    #[arg(long = "do", value_name = "TEXT")]
    advice: Option<String>,
    /// A command that shows whether it holds
    #[arg(long, value_name = "COMMAND")]
    check: Option<String>,
}

pub(super) fn add(args: &AddArgs, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    world.vault.writable()?;
    let references = world.references(None, cx);
    let blocks: Vec<NamedBlock> = args.from.iter().map(|text| references.block(text)).collect::<Result<_>>()?;
    if !args.text.is_empty() {
        return Ok(Box::new(write(&claim(&args.text.join(" "))?, &blocks, &args.about, &world)?));
    }
    let said = blocks.first().and_then(|block| block.place.item_in(&block.session)).map(words_of);
    let made = write(&claim(&said.unwrap_or_default())?, &blocks, &args.about, &world)?;
    open(&world.vault.root().join(&made.path), cx)?;
    Ok(Box::new(made))
}

/// Makes a lesson of what was said in sessions, in these words or in those of the first.
pub(in crate::commands) fn accept(words: Option<&str>, references: &[&str], cx: &Context<'_>) -> Result<()> {
    let world = TraceWorld::read(cx)?;
    world.vault.writable()?;
    let known = world.references(None, cx);
    let blocks: Vec<NamedBlock> = references.iter().map(|text| known.block(text)).collect::<Result<_>>()?;
    let said = blocks.first().and_then(|block| block.place.item_in(&block.session)).map(words_of);
    let text = words.map(str::to_owned).or(said).unwrap_or_default();
    write(&claim(&text)?, &blocks, &About::default(), &world).map(drop)
}

/// Opens the note where a person can edit it.
fn open(file: &Path, cx: &Context<'_>) -> Result<()> {
    let editor = cx.editor();
    if editor.is_empty() {
        return Ok(());
    }
    match cx.ui.edit(&editor, file) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(()),
        Err(error) => {
            Err(Error::usage(format!("{}: {error}", editor.join(" ")))
                .with_hint(format!("the note is {}", file.display())))
        }
    }
}

/// The claim on one line; it must have a word.
fn claim(text: &str) -> Result<String> {
    let text = fold_whitespace(&sanitise(text));
    if text.chars().any(char::is_alphanumeric) { Ok(text) } else { Err(Error::usage("a lesson needs a word")) }
}

/// What an item says in its own words.
pub(in crate::commands) fn words_of(item: &Item) -> String {
    match item {
        Item::User(it) => it.words.clone(),
        Item::Step(it) => format!("{} {}", it.tool, it.args),
        Item::Prose(it) => it.text.lines().next().unwrap_or_default().to_owned(),
        other => other.callout().map_or_else(String::new, |it| match ToldLesson::of(it, "", "") {
            Some(told) => told.lesson.text,
            None if it.title.trim().is_empty() => {
                it.body.lines().find(|line| !line.trim().is_empty()).unwrap_or(&it.title).to_owned()
            }
            None => it.title.clone(),
        }),
    }
}

/// Writes the note, or adds the evidence to the one that says the same.
fn write(text: &str, blocks: &[NamedBlock], about: &About, world: &TraceWorld) -> Result<MadeLesson> {
    let mut evidence = Vec::new();
    let mut anchors: Vec<String> = Vec::new();
    for block in blocks {
        evidence.push(format!("Evidence: [[{}]]", link_to(block)?));
        for anchor in files_of(block).iter().flat_map(file_ref::spans) {
            if anchors.len() < ANCHORS && !anchors.contains(&anchor) {
                anchors.push(anchor);
            }
        }
    }
    let first = blocks.first().ok_or_else(|| Error::usage("a lesson needs evidence"))?;
    let shelf = Shelf::read(&world.catalog, &world.vault);
    // What the session says of a lesson stays said.
    let callout = first.place.item_in(&first.session).and_then(Item::callout);
    let told = callout.and_then(|it| ToldLesson::of(it, "", &first.path.stem()));
    let of_told = told.as_ref().map_or(LessonLevel::Project, |it| it.lesson.level);
    let level = about.level.as_deref().and_then(LessonLevel::parse).unwrap_or(of_told);
    let sure = about.confidence.as_deref().and_then(Confidence::parse);
    let sure = sure.or(told.as_ref().and_then(|it| it.confidence)).unwrap_or(Confidence::High);
    let advice = about.advice.clone().or_else(|| told.as_ref()?.lesson.advice.clone());
    let same = |it: &&LessonNote| {
        it.lesson.ended.is_none() && it.lesson.level == level && likeness(&it.lesson.text, text) == Likeness::Same
    };
    if let Some(known) = shelf.lessons.iter().find(same) {
        let mut given = evidence.clone();
        // Words that the note does not have as they were given.
        let words = |text: &str| -> Vec<String> { text.split_whitespace().map(letters).collect() };
        if words(&known.lesson.text) != words(text)
            && let Some(first) = given.first_mut()
        {
            *first = format!("{first} “{}”", inline(text));
        }
        given.extend(advice.as_deref().map(|advice| format!("Do: {}", inline(&fold_whitespace(&sanitise(advice))))));
        given
            .extend(about.check.as_deref().map(|check| format!("Check: {}", code(&fold_whitespace(&sanitise(check))))));
        let added = with_evidence(&known.text, &given);
        if added != known.text {
            let file = world.vault.root().join(&known.path);
            files::replace_within(world.vault.root(), &file, known.text.as_bytes(), added.as_bytes())?;
        }
        let (id, path) = (known.lesson.id.clone(), known.path.clone());
        return Ok(MadeLesson { schema: 1, id, path, created: false, evidence: evidence.len(), anchors: 0 });
    }
    let meta = &first.session.meta;
    let name = Some(slug(&crate::session::public::text(text), 7))
        .filter(|slug| !slug.is_empty())
        .unwrap_or_else(|| "lesson".to_owned());
    let lesson = Lesson {
        id: name.clone(),
        text: text.to_owned(),
        level,
        place: told.and_then(|it| it.lesson.place),
        confidence: sure,
        status: ReviewStatus::Accepted,
        project: meta.project.clone(),
        learned: meta.started.map(|at| at.to_string()),
        evidence,
        commit: meta.commit.clone(),
        advice: advice.as_deref().map(|text| fold_whitespace(&sanitise(text))),
        anchors,
        check: about.check.as_deref().map(|text| fold_whitespace(&sanitise(text))),
        ..Lesson::default()
    };
    for number in 1..10_000 {
        let id = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let path = format!("{FOLDER}/{id}.md");
        let Some(place) = VaultPath::new(&path) else { break };
        files::create_dir(&world.vault.root().join(FOLDER))?;
        if files::create(&world.vault.file(&place), lesson.render_own().as_bytes())? {
            let (evidence, anchors) = (lesson.evidence.len(), lesson.anchors.len());
            return Ok(MadeLesson { schema: 1, id, path, created: true, evidence, anchors });
        }
    }
    Err(Error::usage("no name for the lesson is free"))
}

/// A word without the punctuation of its sentence.
fn letters(word: &str) -> String {
    word.trim_matches(['.', ',', ';', ':', '!', '?', '"', '(', ')']).to_owned()
}

/// Where a block stands, as a link says it. A lesson without an id stands in its note.
fn link_to(block: &NamedBlock) -> Result<String> {
    let item = block.place.item_in(&block.session);
    let own = item.map_or_else(|| Some(block.id()), Item::id);
    let told = || ToldLesson::of(item.and_then(Item::callout)?, "", "");
    match own {
        Some(id) => Ok(format!("{}#^{id}", block.path.stem())),
        None if told().is_some() => Ok(block.path.stem().into_owned()),
        None => Err(Error::usage("it has no id, so nothing can point at it")
            .with_hint(format!("`cru check --fix {}` gives ids", block.path))),
    }
}

/// The files with a hash that a step read and wrote, or the steps that a decision or an error rests on.
fn files_of(block: &NamedBlock) -> Vec<FileRef> {
    let rests: Vec<&Link> = match block.place.item_in(&block.session) {
        Some(Item::Decision(it)) => it.rests_on.iter().collect(),
        Some(Item::Error(it)) => it.steps.iter().chain(&it.resolved_by).collect(),
        _ => Vec::new(),
    };
    let ids: Vec<&str> = rests.iter().filter_map(|link| link.block.as_deref()).collect();
    let own = block.step().into_iter();
    let of = block.session.steps().map(|(_, step)| step);
    let steps = own.chain(of.filter(|step| step.id.as_deref().is_some_and(|id| ids.contains(&id))));
    let files = steps.flat_map(|step| {
        // What a step wrote is no longer what it read.
        let is_kept = |read: &&FileRef| step.writes.iter().all(|written| written.path != read.path);
        step.reads.iter().filter(is_kept).chain(&step.writes)
    });
    files.filter(|file| file.hash.is_some() || !file.lines.is_empty()).cloned().collect()
}

/// A note with further lines of evidence behind the last one.
fn with_evidence(text: &str, evidence: &[String]) -> String {
    let fresh: Vec<String> =
        evidence.iter().map(|line| format!("- {line}")).filter(|line| !text.contains(line)).collect();
    if fresh.is_empty() {
        return text.to_owned();
    }
    let eol = LineEnd::of(text).as_str();
    let last = text.match_indices("\n- Evidence:").last().map(|(at, _)| at + 1);
    let at = last.map_or(text.len(), |at| text[at..].find('\n').map_or(text.len(), |end| at + end + 1));
    // A last line without a line end stays one.
    let (gap, end) = if text[..at].ends_with('\n') { ("", eol) } else { (eol, "") };
    format!("{}{gap}{}{end}{}", &text[..at], fresh.join(eol), &text[at..])
}

#[derive(Debug, Serialize)]
struct MadeLesson {
    schema: u32,
    id: String,
    path: String,
    /// Whether the note is new; else the evidence was added to it.
    created: bool,
    evidence: usize,
    anchors: usize,
}

impl PlainOutput for MadeLesson {
    fn shown(&self, _: &View) -> String {
        let what = if self.created { "" } else { "  the evidence was added" };
        format!("{}{what}\n", paint(style::ID, sanitise(&self.path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_stands_behind_evidence() {
        let text = "# T\n\n- Do: x\n- Evidence: [[a#^n-001]]\n- Anchor: `b`\n\nmine\n";
        let with = with_evidence(text, &["Evidence: [[c#^u-01]]".to_owned(), "Evidence: [[a#^n-001]]".to_owned()]);
        assert_eq!(with, "# T\n\n- Do: x\n- Evidence: [[a#^n-001]]\n- Evidence: [[c#^u-01]]\n- Anchor: `b`\n\nmine\n");
        assert_eq!(with_evidence("# T", &["Evidence: [[c]]".to_owned()]), "# T\n- Evidence: [[c]]");
        let crlf = with_evidence("# T\r\n\r\n- Evidence: [[a]]\r\n\r\nx", &["Evidence: [[c]]".to_owned()]);
        assert_eq!(crlf, "# T\r\n\r\n- Evidence: [[a]]\r\n- Evidence: [[c]]\r\n\r\nx");
    }
}
