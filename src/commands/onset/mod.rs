//! `cru context`: what a session that begins should know.

mod gather;
mod told;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use self::gather::{ContextLine, Gathered};
pub(super) use self::told::{keep_for_note, waits_for_note, write_into_note};
use super::output::style::{self, paint};
use super::{Context, Global, Output, PlainOutput, Reach, View};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::live::resume::token;
use crate::session::escape;
use crate::vault::resolve::host_sessions;

/// Tokens where nobody says how many.
const BUDGET: u64 = 1_500;

/// Print what a session that begins should know
///
/// Accepted lessons that hold, those about PATH first, then those of the project, then what you like; lessons that rest on what has
/// changed since, to be checked first, and bookmarks, decisions and checks that do; what the last three sessions of the project left
/// open; the last session with its proof, last steps and last words; decisions that touch PATH; titles of memories. One line each, within a budget of tokens. Sessions and lessons that are kept from agents are left out.
///
/// With `[hooks] context = true` in `.cru/config.toml` the hook of a session's start prints it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files or folders that the work is about
    path: Vec<PathBuf>,
    /// The project's folder; else the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Tokens at most
    #[arg(long, value_name = "TOKENS", default_value_t = BUDGET)]
    budget: u64,
    /// Show the tokens of each line, and what was left out
    #[arg(long)]
    explain: bool,
    /// Print one lesson, decision or memory in full, by its id
    #[arg(long, value_name = "ID", conflicts_with_all = ["path", "project", "explain"])]
    show: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(id) = &args.show {
        let text = shared(cx, |cx| gather::whole(id, cx))?;
        let text = text.ok_or_else(|| {
            Error::no(format!("no lesson, decision or memory has the id `{}`", sanitise(id)))
                .with_hint("the ids stand in brackets behind the lines of `cru context`")
        })?;
        return Ok(Box::new(super::Raw { name: "context", text }));
    }
    let folder = match &args.project {
        Some(dir) => cx.env.at(cx.absolute(dir)).folder(),
        None => cx.env.folder(),
    };
    let paths: Vec<String> = args.path.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let own: Vec<&str> = cx.env.var("CRU_SESSION").into_iter().chain(host_sessions(cx.env)).collect();
    let gathered = shared(cx, |cx| gather::gather(&folder, &paths, &own, cx))?;
    Ok(Box::new(ContextReport::of(gathered, args.budget, args.explain)))
}

/// What the hook of the start of a session, by the host's id, tells: the text for the agent, and the same with links for the
/// note. Nothing where there is nothing to say.
pub(super) fn at_start(folder: &str, session: &str, cx: &Context<'_>) -> Option<(String, String)> {
    let gathered = shared(cx, |cx| gather::gather(folder, &[], &[session], cx)).ok()?;
    let report = ContextReport::of(gathered, BUDGET, false);
    let text = report.plain();
    (!text.is_empty()).then(|| (text, report.linked()))
}

/// Does something without what is kept from agents.
fn shared<T>(cx: &Context<'_>, work: impl FnOnce(&Context<'_>) -> T) -> T {
    let global = Global { reach: Reach::Shared, ..cx.global.clone() };
    work(&Context { global: &global, ..*cx })
}

#[derive(Debug, Serialize)]
struct ContextReport {
    schema: u32,
    project: String,
    budget: u64,
    tokens: u64,
    lines: Vec<ContextLine>,
    #[serde(skip)]
    explain: bool,
}

impl ContextReport {
    fn of(gathered: Gathered, budget: u64, explain: bool) -> Self {
        let Gathered { project, mut lines } = gathered;
        let mut left = budget;
        let mut heads: Vec<&'static str> = Vec::new();
        for line in &mut lines {
            if !line.id.is_empty() {
                let _ = write!(line.text, " [{}]", line.id);
            }
            let head = if heads.contains(&line.part) { 0 } else { token::count(line.part) + 1 };
            line.tokens = token::count(&line.text) + 2;
            line.told = line.tokens + head <= left;
            if line.told {
                left -= line.tokens + head;
                heads.push(line.part);
            }
        }
        Self { schema: 1, project, budget, tokens: budget - left, lines, explain }
    }

    /// What an agent is given.
    fn plain(&self) -> String {
        self.listed(|line| line.text.clone())
    }

    /// The same for a note.
    fn linked(&self) -> String {
        self.listed(|line| format!("{} [[{}]]", escape::inline(&line.text), line.note))
    }

    fn listed(&self, told: impl Fn(&ContextLine) -> String) -> String {
        let mut out = String::new();
        let mut head = "";
        for line in self.lines.iter().filter(|line| line.told) {
            if line.part != head {
                head = line.part;
                let _ = writeln!(out, "{head}:");
            }
            let _ = writeln!(out, "- {}", told(line));
        }
        out
    }
}

impl PlainOutput for ContextReport {
    fn shown(&self, _: &View) -> String {
        if !self.explain {
            return self.plain();
        }
        let mut out = String::new();
        let mut head = "";
        for line in &self.lines {
            if line.part != head {
                head = line.part;
                let _ = writeln!(out, "{}", paint(style::TITLE, head));
            }
            let mark = if line.told { "" } else { "  left out" };
            let _ = writeln!(out, "{:>6}  {}{}", line.tokens, line.text, paint(style::DIM, mark));
        }
        let told = self.lines.iter().filter(|line| line.told).count() as u64;
        let _ = writeln!(
            out,
            "{} of {} tokens, {} of {}",
            self.tokens,
            self.budget,
            told,
            plural(self.lines.len() as u64, "line")
        );
        out
    }
}
