//! The outermost layer: arguments, terminal, colours, pager, progress, exit codes.
//!
//! Nothing else writes to stdout or stderr. stdout is data, stderr is talk.

mod child;
mod hook;
mod launch;
mod pager;
mod pick;
mod spawn;
mod terminal;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use jiff::tz::TimeZone;

use crate::base::text::{printable, printable_json, sanitise};
use crate::base::{Env, Error, files};
use crate::commands::output::style::{self, paint};
use crate::commands::{Cli, Command, Context, Format, View};
use crate::vault::Vault;
use terminal::Terminal;

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if hook::is_asked(&args) {
        return hook::main(&args);
    }
    let cli = match Cli::read(&args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data on stdout; a usage error is talk on stderr. clap knows which.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let env = Env::real();
    start_files(&env);
    crate::base::threads::start(&env);
    let choice = match cli.global.color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    };
    let ui = Terminal::new(choice, &cli.global);
    if let Some((before, now)) = cli.renamed.as_ref().filter(|_| io::stderr().is_terminal()) {
        ui.line(&format!("{} `cru {before}` is `cru {now}` now", paint(style::WARN, "note:")));
    }
    for finished in files::finish() {
        ui.line(&format!("{} {}", paint(style::WARN, "note:"), told(&finished)));
    }
    let context = Context { env: &env, global: &cli.global, ui: &ui };
    let code = run(cli.command, &context, &ui, choice);
    for finished in files::untold() {
        ui.line(&format!("{} {}", paint(style::WARN, "note:"), told(&finished)));
    }
    #[cfg(debug_assertions)]
    report_faults(&env);
    code
}

fn run(command: Command, context: &Context<'_>, ui: &Terminal, choice: ColorChoice) -> ExitCode {
    match command.run(context) {
        Ok(output) => {
            if let Some(pipe) = output.pipe() {
                return copy(&pipe, ui);
            }
            let code = output.exit_code();
            match print(output.as_ref(), context, choice) {
                Ok(()) => match output.handover() {
                    Some(program) => launch::run(&program).unwrap_or_else(|error| fail(ui, &error)),
                    None => ExitCode::from(code),
                },
                // The reader has gone (`cru … | head`): that is its right.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(code),
                Err(error) => fail(ui, &Error::io("write", "the output", error)),
            }
        }
        Err(error) => fail(ui, &error),
    }
}

/// Writers of this process note their intentions in the machine's folder, where the next command finds them.
fn start_files(env: &Env) {
    if let Some(dir) = env.state_dir() {
        files::keep_intentions_in(dir.join("intentions"));
    }
    #[cfg(debug_assertions)]
    if let Some(asked) = env.var("CRU_FAULT") {
        files::fault::arm_asked(asked);
    }
}

/// How many points and moments for a save were passed, for a test that arms each in turn.
#[cfg(debug_assertions)]
fn report_faults(env: &Env) {
    let is_asked = env.var("CRU_FAULT").is_some_and(files::fault::is_asked);
    if let Some(path) = env.var("CRU_FAULT_REPORT").filter(|_| is_asked) {
        let text = format!("{} {}\n", files::fault::passed(), files::fault::windows());
        let _ = files::append(std::path::Path::new(path), text.as_bytes());
    }
}

/// What became of a save that a killed command had displaced.
fn told(finished: &files::Finished) -> String {
    let shown = |path: &std::path::Path| crate::base::text::one_line(&path.to_string_lossy());
    let path = shown(&finished.path);
    match &finished.fate {
        files::Fate::Kept(kept) => {
            format!("{path}: a cru command was killed while you saved it; your save is in {}", shown(kept))
        }
        _ => format!("{path}: a cru command was killed while you saved it; your save was restored"),
    }
}

/// Copies bytes from stdin to stdout.
fn copy(pipe: &crate::commands::output::Pipe<'_>, ui: &Terminal) -> ExitCode {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return fail(ui, &Error::usage("the stream is binary, and stdout is a terminal"));
    }
    let mut output = io::BufWriter::with_capacity(1 << 20, stdout.lock());
    let copied = pipe(&mut io::stdin().lock(), &mut output);
    let written = |error| Error::io("write", "the stream", error);
    match copied.and_then(|()| output.flush().map_err(written)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(ui, &error),
    }
}

fn fail(ui: &Terminal, error: &Error) -> ExitCode {
    let message = error.with_causes();
    if !message.is_empty() {
        ui.line(&format!("{} {message}", paint(style::BAD, "error:")));
    }
    if let Some(hint) = error.hint() {
        ui.line(&format!("{} {hint}", paint(style::ID, "hint:")));
    }
    ExitCode::from(error.exit_code())
}

fn print(output: &dyn crate::commands::Output, context: &Context<'_>, choice: ColorChoice) -> io::Result<()> {
    let (format, env) = (context.global.format, context.env);
    let stdout = io::stdout();
    let terminal = stdout.is_terminal();
    if format == Format::Text {
        let mut stream = AutoStream::new(stdout.lock(), choice);
        if let Some(written) = output.stream(&mut stream) {
            return written.and_then(|()| stream.flush());
        }
    }
    let text: Cow<'_, str> = match format {
        Format::Json => {
            let mut json = serde_json::to_string_pretty(&output.json()?)?;
            json.push('\n');
            printable_json(&json).into_owned().into()
        }
        Format::Toon => sanitise(&crate::commands::output::toon(output)?).into_owned().into(),
        Format::Text => match output.ready() {
            // Bytes as they are, but for a person who looks at them.
            Some(text) if terminal => sanitise(text),
            Some(text) => text.into(),
            None => printable(&output.text(&view(terminal, context))).into_owned().into(),
        },
        // `Command::run` refuses these formats where there is nothing to export.
        Format::Jsonl | Format::Csv | Format::Markdown | Format::Mermaid | Format::Dot | Format::Canvas => {
            let text = output.export(format).unwrap_or_default();
            let is_json = matches!(format, Format::Jsonl | Format::Canvas);
            if is_json { printable_json(&text).into_owned() } else { sanitise(&text).into_owned() }.into()
        }
    };
    if terminal && format == Format::Text && output.handover().is_none() && pager::page(&text, choice, env) {
        return Ok(());
    }
    let mut stdout = stdout.lock();
    if is_plain(&text) {
        stdout.write_all(text.as_bytes())?;
        return stdout.flush();
    }
    let mut stream = AutoStream::new(stdout, choice);
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Whether all of it is text and no part of an escape sequence: then there is nothing to strip.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| !byte.is_ascii_control() || matches!(byte, b'\n' | b'\t');
    // Many at once, without asking after each.
    text.as_bytes().chunks(4096).all(|chunk| chunk.iter().fold(true, |all, byte| all & plain(*byte)))
}

fn view(terminal: bool, context: &Context<'_>) -> View {
    let columns = context.env.var("COLUMNS").and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = columns.or_else(|| terminal.then(measured).flatten()).unwrap_or(View::plain().width);
    // As the dates in the names of notes: those of the vault.
    let vault = Vault::find_to_read(context.vault_arg(), context.env);
    let zone = vault.map_or(TimeZone::UTC, |vault| vault.config().zone.clone());
    View { width: width.clamp(20, 1000), terminal, zone }
}
