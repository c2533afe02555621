//! `cru session learn`: cases to notes for review, to a folder or to a pipe.

mod folder;
mod gather;
mod list;
mod notes;
mod read_cases;
mod reviewed;
mod stats;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

pub(in crate::commands) use gather::{WantedCases, extract};
use notes::Fate;
pub(in crate::commands) use notes::Reviews;

use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::words::explained;
use crate::commands::{Context, Output, View, reading};
use crate::learn::review::document::Layout;
use crate::learn::{
    Case, ChatTemplate, Dialect, Drafter, Eval, Evidence, Export, Extraction, Format, Kind, LeftOut, Pile, Place,
    export,
};
use crate::vault::template::{self, Template};
use crate::vault::{Catalog, Vault};

/// Extract training and evaluation cases, and export them as JSON lines
///
/// A failure and what solved it is a puzzle; a person's words that set the agent right, with what it did before and
/// after, are a correction; a plan that was refused and the one that was accepted are a preference; a stretch of work
/// whose check passed is a demonstration. Every answer stands in the notes or their transcripts: a case without one is
/// listed with the reason, and left out of what needs one. Sessions with `export: false` or the tag `no-train` stay out.
///
/// Without `--export` it writes a note for each case under `cases/`, for a person to read, edit, accept or reject
/// (`cru list cases`, `cru review accept ID`). An export takes the cases that the record alone proves (work whose check passed, failures recovered in
/// their turn), those that a person accepted, as edited, and those that a reader found good; `--proposed` takes the
/// others too. A passed check does not make work right: have cases judged before you train (`cru read c:`). What is
/// judged weak or harmful stays out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cru session learn --dry-run
  cru session learn 2026-11-20-refresh-tokens
  cru session learn --export jsonl -o rows --split 0.9 --max-tokens 8192
  cru session learn --export jsonl -o rows --dialect axolotl --accepted-only
  cru session learn --export puzzle -o puzzles --eval promptfoo
  cru session learn --export trajectories -o sessions --template llama3
  cru session learn --export task -o tasks --eval harbor")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    /// Which sessions; all of them when none is named
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// All sessions
    #[arg(short, long, conflicts_with = "sessions")]
    all: bool,
    /// Only cases of this type; may be given again
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Vec<KindArg>,
    /// Export the cases instead of writing notes
    #[arg(long, value_name = "FORMAT", value_parser = explained(FORMATS))]
    export: Option<Format>,
    /// The folder to write to, made if it is missing; without it one text goes to stdout
    #[arg(short, long, value_name = "DIR", requires = "export")]
    output: Option<PathBuf>,
    /// Whose words rows are written in
    #[arg(long, value_name = "DIALECT", default_value = "hf", value_parser = explained(DIALECTS))]
    dialect: Dialect,
    /// The chat template that rows are trained with, where it drops words beside a call: they get a turn of their own
    #[arg(long, value_name = "TEMPLATE", value_parser = explained(TEMPLATES))]
    template: Option<ChatTemplate>,
    /// What puzzles and tasks are written for
    #[arg(long, value_name = "TOOL", default_value = "inspect", value_parser = explained(TOOLS))]
    eval: Eval,
    /// Only sessions in which this query finds something (as `cru search` takes it)
    #[arg(long, value_name = "QUERY")]
    filter: Option<String>,
    /// Share of session families to train on; the others validate (0.9; puzzles are split only where it is given)
    #[arg(long, value_name = "SHARE", value_parser = share)]
    split: Option<f64>,
    /// Tokens that a row may take: a context loses its middle, a case whose answer does not fit is left out (default 8192;
    /// 32768 for trajectories)
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
    /// Also export cases that nothing but a rule proposes
    #[arg(long, conflicts_with = "accepted_only")]
    proposed: bool,
    /// Only cases that a person accepted
    #[arg(long)]
    accepted_only: bool,
    /// List the cases and write nothing; with `--export` its numbers: types, answers, rows, tokens
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
}

const FORMATS: &[(Format, &str)] = &[
    (Format::Jsonl, "Rows to train on, with a dataset card"),
    (Format::Markdown, "Notes to read, by `templates/case.md`"),
    (Format::Puzzle, "Samples to evaluate with"),
    (Format::Trajectories, "Whole sessions to train on, with a mask for what failed"),
    (Format::Task, "Tasks that can be run: a commit, the words, a check that failed and passed"),
];
const TEMPLATES: &[(ChatTemplate, &str)] = &[
    (ChatTemplate::Llama3, "Llama 3.1 to 3.3"),
    (ChatTemplate::GptOss, "gpt-oss"),
    (ChatTemplate::DeepSeek, "`DeepSeek` V3"),
];
const DIALECTS: &[(Dialect, &str)] = &[
    (Dialect::Hf, "TRL, and what builds on it"),
    (Dialect::Openai, "`OpenAI`'s fine-tuning, Together, Fireworks"),
    (Dialect::Axolotl, "Axolotl and LLaMA-Factory"),
];
const TOOLS: &[(Eval, &str)] = &[
    (Eval::Inspect, "Inspect AI"),
    (Eval::Promptfoo, "promptfoo; puzzles alone"),
    (Eval::Harbor, "Harbor; tasks alone"),
];

fn share(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("a number from 0 to 1".to_owned()) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KindArg {
    /// Failures and what solved them
    Puzzle,
    /// A person's corrections
    Correction,
    /// Work that succeeded
    Demonstration,
    /// Wrong against right: corrections with an answer, and plans that were refused
    Preference,
}

impl KindArg {
    const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Puzzle => &[Kind::Puzzle],
            Self::Correction => &[Kind::Correction],
            Self::Demonstration => &[Kind::Demonstration],
            Self::Preference => &[Kind::Preference, Kind::Correction],
        }
    }
}

/// Bytes of texts that stay in memory until the export is written; what comes after waits in a file.
const MEMORY: usize = 8 * 1024 * 1024;

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let wanted: BTreeSet<Kind> = args.kind.iter().flat_map(|kind| kind.kinds()).copied().collect();
    let whole = matches!(args.export, Some(Format::Trajectories | Format::Task));
    let kinds: Vec<Kind> = if whole {
        vec![Kind::Trajectory]
    } else if wanted.is_empty() {
        Kind::IN_SESSIONS.to_vec()
    } else {
        wanted.into_iter().collect()
    };
    let what = WantedCases { sessions: &args.sessions, kinds: &kinds, filter: args.filter.as_deref() };
    // Corrections are meant as far as they make a pair.
    let pairs =
        !args.kind.is_empty() && !args.kind.contains(&KindArg::Correction) && args.kind.contains(&KindArg::Preference);
    let meant = |case: &Case| !pairs || case.kind() != Kind::Correction || case.is_pair();
    let (case, prompt) = (Template::of(&vault, template::Kind::Case)?, Template::of(&vault, template::Kind::Prompt)?);
    let layouts = export::Layouts { name: &case.name, case: &case.text, prompt: prompt.text.trim() };
    let layout = Layout::new(layouts.name, layouts.case)?;
    if args.export.is_none() && !args.dry_run {
        vault.writable()?;
    }
    let mut reviews = Reviews::read(&catalog, &vault);
    let drafts = |format: Format, place: Place| {
        let drafter = Drafter::new(format, place, options(args, layouts))?;
        let mut pile = Pile::new(MEMORY);
        let mut left_out = Vec::new();
        let draft = |mut extraction: Extraction| {
            extraction.cases.retain(meant);
            reviews.apply(&mut extraction, &layout, args.accepted_only)?;
            let drafts = extraction.cases.iter().map(|case| drafter.draft(case)).collect::<Result<Vec<_>>>()?;
            Ok((drafts, extraction.left_out))
        };
        gather::each(what, &catalog, &vault, cx, draft, |(drafts, more)| {
            left_out.extend(more);
            drafts.into_iter().try_for_each(|draft| pile.add(draft))
        })?;
        Ok((pile, drafter, left_out))
    };
    let Some(format) = args.export else {
        let mut extraction = extract(what, &catalog, &vault, cx)?;
        extraction.cases.retain(meant);
        if args.dry_run {
            reviews.apply(&mut extraction, &layout, args.accepted_only)?;
            return Ok(Box::new(list::CaseTable::of(extraction)));
        }
        let cases = extraction.cases.clone();
        reviews.apply(&mut extraction, &layout, args.accepted_only)?;
        let fates = reviews.write(&cases, &layout, &vault)?;
        return Ok(Box::new(reviewed::Reviewed::of(&extraction, fates, &reviews)));
    };
    if matches!((args.eval, format), (Eval::Harbor, Format::Puzzle) | (Eval::Promptfoo, Format::Task)) {
        return Err(Error::usage(format!("{} is not written for this tool", format.as_str()))
            .with_hint("puzzles: --eval inspect or promptfoo; tasks: --eval inspect or harbor"));
    }
    if matches!(args.eval, Eval::Harbor) && args.output.is_none() {
        return Err(Error::usage("tasks of Harbor are folders; pass -o DIR"));
    }
    let place = match &args.output {
        _ if args.dry_run => Place::Numbers,
        Some(_) => Place::Folder,
        None => Place::Pipe,
    };
    let (pile, drafter, left_out) = drafts(format, place)?;
    if args.dry_run {
        let sessions = pile.sessions();
        let mut export = pile.export(&drafter)?;
        export.left_out.extend(left_out);
        return Ok(Box::new(stats::Stats::of(sessions, export)));
    }
    if pile.is_empty() {
        return Err(
            Error::no("no cases to export").with_hint("`cru session learn --dry-run` lists what was skipped and why")
        );
    }
    let mut export = pile.export(&drafter)?;
    export.left_out.extend(left_out);
    if export.is_empty() {
        tell(&export, cx);
        return Err(Error::no("no case has what this export needs").with_hint(
            "`cru session learn --dry-run` lists the cases; `--proposed` exports those that the record does not prove",
        ));
    }
    refuse_leaks(&export)?;
    // Whole sessions are no cases that a reader judges.
    if !whole && !export.report.grades.keys().any(|grade| matches!(*grade, "accepted" | "judged")) {
        let grades: Vec<String> =
            export.report.grades.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
        cx.ui.note(&format!(
            "nobody has judged these cases ({}): a passed check does not make work right; `cru read c:` has an agent judge them, \
             `cru review accept ID` accepts one",
            grades.join(", ")
        ));
    }
    let Some(output) = &args.output else {
        tell(&export, cx);
        return Ok(Box::new(Stream { format, export }));
    };
    let dir = cx.absolute(output);
    let written = folder::write(&dir, &export, format)?;
    Ok(Box::new(folder::WrittenFolder::of(output, format, written, export)))
}

/// Writes the notes of the cases of a session's accepted reading: those that are new, and cases that the record does not
/// give.
pub(in crate::commands) fn write_read_cases(
    session: &str,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<(Vec<PathBuf>, Vec<LeftOut>)> {
    let catalog = Catalog::read(vault);
    let sessions = [session.to_owned()];
    let what = WantedCases { sessions: &sessions, kinds: &Kind::IN_SESSIONS, filter: None };
    let mut extraction = extract(what, &catalog, vault, cx)?;
    extraction.cases.retain(|case| case.evidence == Evidence::Reading);
    // Those of rules tell of other cases.
    extraction.left_out.retain(|it| it.evidence == Evidence::Reading);
    let case = Template::of(vault, template::Kind::Case)?;
    let layout = Layout::new(&case.name, &case.text)?;
    let fates = Reviews::read(&catalog, vault).write(&extraction.cases, &layout, vault)?;
    let created = fates.into_iter().filter(|(fate, _)| *fate == Fate::Created).map(|(_, path)| path);
    Ok((created.collect(), extraction.left_out))
}

fn options<'a>(args: &Args, layouts: export::Layouts<'a>) -> export::Options<'a> {
    export::Options {
        dialect: args.dialect,
        eval: args.eval,
        // Who asks for puzzles wants to evaluate with them: all of them, unless some are to be trained on.
        train: args.split.unwrap_or(if matches!(args.export, Some(Format::Puzzle)) { 0.0 } else { 0.9 }),
        max_tokens: args.max_tokens.unwrap_or(match args.export {
            Some(Format::Trajectories) => 32_768,
            _ => 8_192,
        }),
        // The puzzles of a session that is named are what it has, each with its grade.
        proposed: args.proposed
            || (matches!(args.export, Some(Format::Puzzle)) && !args.sessions.is_empty() && !args.accepted_only),
        template: args.template.unwrap_or_default(),
        ..export::Options::new(layouts)
    }
}

/// Refuses an export whose card or configuration holds a secret or personal data. What it is is never told.
fn refuse_leaks(export: &Export) -> Result<()> {
    const SHOWN: usize = 10;
    let leaks = export.leaks();
    if leaks.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> =
        leaks.iter().take(SHOWN).map(|leak| format!("  {}:{}  {}", leak.file, leak.line, leak.rule)).collect();
    let found = plural(leaks.len() as u64, "place");
    Err(Error::usage(format!(
        "the export holds what must not leave the vault, in {found}; nothing was written\n{}",
        shown.join("\n")
    ))
    .with_hint("take it out of the note, the template or the case; `cru admin secrets` finds secrets in notes"))
}

/// Says on stderr what a pipe does not show.
fn tell(export: &Export, cx: &Context<'_>) {
    for (reason, count) in LeftOut::counts(&export.left_out) {
        cx.ui.note(&format!("skipped {}: {reason}", plural(count as u64, "case")));
    }
}

/// One text on stdout.
struct Stream {
    format: Format,
    export: Export,
}

impl Output for Stream {
    fn text(&self, _: &View) -> String {
        let bytes: Vec<u8> =
            self.export.files.iter().flat_map(|file| self.export.bytes(file).unwrap_or_default()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn stream(&self, out: &mut dyn io::Write) -> Option<io::Result<()>> {
        let mut pieces = self.export.files.iter().flat_map(|file| self.export.pieces(file));
        Some(pieces.try_for_each(|piece| out.write_all(&piece.map_err(io::Error::other)?)))
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let text = self.text(&View::plain());
        let format = self.format.as_str();
        if self.format == Format::Markdown {
            return Ok(serde_json::json!({ "schema": 1, "format": format, "text": text }));
        }
        let rows: Vec<serde_json::Value> = text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?;
        Ok(serde_json::json!({
            "schema": 1,
            "format": format,
            "rows": rows,
            "report": self.export.report,
            "left_out": self.export.left_out,
        }))
    }
}
