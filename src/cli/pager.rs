//! Shows long text through the user's pager.

use std::io::Write as _;
use std::process::Stdio;

use anstream::ColorChoice;

use crate::base::Env;

/// Pages `text` when it is longer than the screen; `false` when it was not shown.
///
/// `CRU_PAGER`, then `PAGER`, then `less`; set to `cat` or nothing for none. `less` gets `FRX` unless `LESS` is set.
pub(super) fn page(text: &str, choice: ColorChoice, env: &Env) -> bool {
    let height = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
    if text.lines().take(height).count() < height {
        return false;
    }
    let pager = env.var("CRU_PAGER").or_else(|| env.var("PAGER")).unwrap_or("less");
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let Ok(mut command) = super::spawn::named(program.as_ref()) else { return false };
    command.args(words).stdin(Stdio::piped());
    if env.var("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        let styled = if env.var("NO_COLOR").is_some() || choice == ColorChoice::Never {
            anstream::adapter::strip_str(text).to_string()
        } else {
            text.to_owned()
        };
        // A reader who quits early closes the pipe; that is no error.
        let _ = stdin.write_all(styled.as_bytes());
    }
    child.wait().is_ok()
}
