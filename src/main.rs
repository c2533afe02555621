//! The `cru` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cru::cli::main()
}
