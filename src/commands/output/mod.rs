//! What a command gives: one value that can be written for people and for programs.

mod change;
mod chart;
mod escape;
mod estimate;
mod html;
mod number;
mod plain;
pub mod rows;
mod sealed;
mod table;

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use serde::Serialize;

pub use change::note_diff;
pub use chart::{bar, spark};
pub use escape::escape;
pub use estimate::{Estimate, Spent, cost_text, proof_text, proof_words, usd};
pub(super) use html::{BASE, PageFrame, Templates, VIEW, link_to, named_page, note_page, obsidian_link, place};
pub use number::{amount, byte_size, clock, duration, minute, most, percent, zoned_minute};
pub use plain::PlainOutput;
pub(super) use sealed::{is_as_written, write_sealed};
pub use table::{Align, Cell, Table, cut};

/// Output for people or for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document with a `schema` version.
    Json,
    /// The same value in TOON, which takes fewer tokens.
    Toon,
    /// A line of JSON for each row (`list` alone).
    Jsonl,
    /// Comma-separated rows under a header (`list` alone).
    Csv,
    /// A table of the rows for a note (`list`; of other commands the text).
    Markdown,
    /// A Mermaid flowchart (`graph` alone).
    Mermaid,
    /// Graphviz (`graph` alone).
    Dot,
    /// JSON Canvas (`graph` alone).
    Canvas,
}

impl Format {
    /// Whether it is for programs, as one value.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Toon)
    }

    /// Whether every command has it.
    pub const fn is_common(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Toon)
    }
}

/// The JSON value of an output as TOON.
pub fn toon(output: &dyn Output) -> serde_json::Result<String> {
    let text = crate::index::toon::to_toon(&output.json()?).map_err(serde::ser::Error::custom)?;
    Ok(text + "\n")
}

/// A program to start: no shell is asked, and the arguments are passed as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Launch {
    /// The program.
    pub program: std::path::PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it starts.
    pub cwd: std::path::PathBuf,
    /// Variables it is given beside ours.
    pub vars: Vec<(String, String)>,
}

/// What a command gives.
pub trait Output {
    /// For people: text that may hold ANSI styles; `cli` takes them out where they are not wanted.
    fn text(&self, view: &View) -> String;

    /// The same, where it stands ready whatever the view.
    fn ready(&self) -> Option<&str> {
        None
    }

    /// For programs: one JSON value.
    fn json(&self) -> serde_json::Result<serde_json::Value>;

    /// In a format that not every command has; `None` for the others.
    fn export(&self, _: Format) -> Option<String> {
        None
    }

    /// Writes what is too long to be held as one text, for people and for pipes; `None` where [`Output::text`] gives it.
    fn stream(&self, _: &mut dyn std::io::Write) -> Option<std::io::Result<()>> {
        None
    }

    /// Copies bytes that are no text from stdin to stdout; `None` where there are none.
    fn pipe(&self) -> Option<Pipe<'_>> {
        None
    }

    /// A program that takes over when the output is written; its exit code is then the command's.
    fn handover(&self) -> Option<Launch> {
        None
    }

    /// The exit code when nothing failed: 0, or 1 for the answer "no".
    fn exit_code(&self) -> u8 {
        0
    }
}

/// Reads from the one and writes to the other.
pub type Pipe<'a> = Box<dyn Fn(&mut dyn std::io::Read, &mut dyn std::io::Write) -> cru_base::Result<()> + 'a>;

/// The place the text is written to.
#[derive(Clone, Debug)]
pub struct View {
    /// Columns.
    pub width: usize,
    /// Whether it is a terminal: symbols and tables may follow the width; else lines are never cut.
    pub terminal: bool,
    /// The zone of the times.
    pub zone: TimeZone,
}

impl View {
    /// For pipes and tests.
    pub const fn plain() -> Self {
        Self { width: 100, terminal: false, zone: TimeZone::UTC }
    }
}

/// Bytes that are the same in every format: a script, a raw note, a workflow.
#[derive(Debug, Serialize)]
pub struct Raw {
    /// What it is, as the JSON key.
    pub name: &'static str,
    /// The text.
    pub text: String,
}

impl Output for Raw {
    fn text(&self, _: &View) -> String {
        self.text.clone()
    }

    fn ready(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({ "schema": 1, self.name: self.text }))
    }
}

/// A line of a note that is opened in another program.
pub struct Opened {
    /// The program.
    pub launch: Launch,
    /// The note.
    pub path: String,
    /// From 1.
    pub line: usize,
}

impl Output for Opened {
    fn text(&self, _: &View) -> String {
        String::new()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({ "schema": 1, "path": self.path, "line": self.line, "launch": self.launch }))
    }

    fn handover(&self) -> Option<Launch> {
        Some(self.launch.clone())
    }
}

/// What several pieces of work came to, one after the other.
pub struct Several {
    name: &'static str,
    outputs: Vec<Box<dyn Output>>,
}

impl Several {
    /// One output as it is; several as a list of that name.
    pub fn of(name: &'static str, mut outputs: Vec<Box<dyn Output>>) -> Box<dyn Output> {
        match outputs.pop() {
            Some(one) if outputs.is_empty() => one,
            last => {
                outputs.extend(last);
                Box::new(Self { name, outputs })
            }
        }
    }
}

impl Output for Several {
    fn text(&self, view: &View) -> String {
        self.outputs.iter().map(|output| output.text(view)).collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let values = self.outputs.iter().map(|output| output.json()).collect::<serde_json::Result<Vec<_>>>()?;
        Ok(serde_json::json!({ "schema": 1, self.name: values }))
    }

    fn exit_code(&self) -> u8 {
        self.outputs.iter().map(|output| output.exit_code()).max().unwrap_or_default()
    }
}

/// The palette: what a colour means, so that no command names one itself.
pub mod style {
    use super::{AnsiColor, Style};
    use crate::action::Verdict;
    use crate::session::StepStatus;

    /// Names and ids a person may type again.
    pub const ID: Style = AnsiColor::Cyan.on_default();
    /// Headings.
    pub const TITLE: Style = Style::new().bold();
    /// What matters less.
    pub const DIM: Style = Style::new().dimmed();
    /// Success.
    pub const GOOD: Style = AnsiColor::Green.on_default();
    /// Failure.
    pub const BAD: Style = AnsiColor::Red.on_default().bold();
    /// Attention.
    pub const WARN: Style = AnsiColor::Yellow.on_default();
    /// What was looked for.
    pub const MATCH: Style = AnsiColor::Yellow.on_default().bold();
    /// Agents.
    pub const AGENT: Style = AnsiColor::Magenta.on_default();
    /// Channels and tags.
    pub const CHANNEL: Style = AnsiColor::Blue.on_default();
    /// Bars and lines of a chart.
    pub const CHART: Style = AnsiColor::Blue.on_default();

    /// A check's verdict: `check passed`.
    pub fn checked(verdict: Verdict) -> String {
        let style = match verdict {
            Verdict::Passed => GOOD,
            Verdict::Failed => BAD,
            Verdict::Unknown => WARN,
        };
        paint(style, format_args!("check {}", verdict.as_str()))
    }

    /// The look of a step's mark.
    pub const fn of_step(status: StepStatus) -> Style {
        match status {
            StepStatus::Complete => GOOD,
            StepStatus::Failed => BAD,
            _ => WARN,
        }
    }

    /// The look of a session's status.
    pub fn of_session(status: &str) -> Style {
        match status {
            "completed" => GOOD,
            "failed" => BAD,
            "active" | "paused" | "abandoned" => WARN,
            _ => DIM,
        }
    }

    /// The lines of a unified diff without its places, each behind `indent`.
    pub fn diff(diff: &str, indent: &str) -> String {
        let lines = diff.lines().filter(|line| !line.starts_with("@@"));
        let look = |line: &str| match line.as_bytes().first() {
            Some(b'-') => BAD,
            Some(b'+') => GOOD,
            _ => DIM,
        };
        let painted = |line| format!("{indent}{}\n", paint(look(line), cru_base::text::sanitise(line)));
        lines.map(painted).collect()
    }

    /// `text` in `style`.
    pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
        format!("{style}{text}{style:#}")
    }
}
