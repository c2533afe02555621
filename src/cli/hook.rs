//! `cru hook`, which an agent waits for: it says nothing and exits with 0, whatever happens.
//!
//! Another exit code than 0 shows the person a notice, and 2 stops the agent. So also a command line that is wrong and
//! a defect of this program end here, as a line in the log of trouble.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::Parser as _;

use super::terminal::Terminal;
use crate::base::text::sanitise;
use crate::base::{Env, files};
use crate::commands::{Context, Global, View, hook};

/// The command line of this verb alone: to describe all the others would take longer than the work.
#[derive(clap::Parser)]
#[command(name = "cru", disable_help_subcommand = true, max_term_width = 100)]
struct HookCli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Hook(hook::Args),
}

/// Whether the command line's verb is `hook`, also where the rest of it is wrong.
pub(super) fn is_asked(args: &[OsString]) -> bool {
    let mut args = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        match arg {
            "--vault" | "--format" | "--color" | "-f" => drop(args.next()),
            _ if arg.starts_with('-') => {}
            _ => return arg == "hook",
        }
    }
    false
}

pub(super) fn main(args: &[OsString]) -> ExitCode {
    // The message of a panic is not for the host.
    panic::set_hook(Box::new(|_| {}));
    let env = Env::real();
    super::start_files(&env);
    let event = args.iter().skip_while(|arg| *arg != OsStr::new("hook")).nth(1).and_then(|arg| arg.to_str());
    let trouble = |message: &str| hook::trouble(&env, event.unwrap_or("?"), message);
    let finished = guarded(|| {
        let finished = files::finish();
        for it in &finished {
            trouble(&super::told(it));
        }
        work(args, &env)
    });
    if let Err(message) = finished {
        trouble(&message);
    }
    for finished in files::untold() {
        trouble(&super::told(&finished));
    }
    #[cfg(debug_assertions)]
    super::report_faults(&env);
    ExitCode::SUCCESS
}

/// Does `work`; a panic is an error like another.
fn guarded(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("a defect of cru: {words}"))
    })
}

fn work(args: &[OsString], env: &Env) -> Result<(), String> {
    let cli = match HookCli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return Err(error.render().to_string()),
        Err(help) => return help.print().map_err(|error| error.to_string()),
    };
    let Verb::Hook(arguments) = cli.verb;
    let global = Global { quiet: true, ..cli.global };
    let ui = Terminal::new(ColorChoice::Never, &global);
    let output = hook::run(&arguments, &Context { env, global: &global, ui: &ui });
    let text = sanitise(&output.text(&View::plain())).into_owned();
    if !text.is_empty() {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_line_of_trouble() {
        assert_eq!(guarded(|| Ok(())), Ok(()));
        assert_eq!(guarded(|| panic!("odd {}", 1)), Err("a defect of cru: odd 1".to_owned()));
        assert_eq!(guarded(|| panic!("plain")), Err("a defect of cru: plain".to_owned()));
    }

    #[test]
    fn the_verb_is_found_behind_options() {
        let asked = |line: &str| is_asked(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in
            ["cru hook", "cru hook stop", "cru --vault /v hook x --bad", "cru --vault=/v -q hook", "cru --odd hook"]
        {
            assert!(asked(line), "{line}");
        }
        for line in ["cru", "cru hooks install", "cru session list hook", "cru -f hook", "cru --vault hook check"] {
            assert!(!asked(line), "{line}");
        }
    }
}
