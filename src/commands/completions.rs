//! `cru admin completions`.

use clap::CommandFactory as _;

use super::{Cli, Output, Raw};
/// Print completions for a shell
///
/// For bash: `cru admin completions bash > ~/.local/share/bash-completion/completions/cru`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Box<dyn Output> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cru", &mut script);
    Box::new(Raw { name: "script", text: String::from_utf8_lossy(&script).into_owned() })
}
