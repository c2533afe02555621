//! The `cru` program.

use std::process::ExitCode;

/// Lists, searches and imports make millions of small strings on all threads; the system's allocator took a fifth of
/// their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cru::cli::main()
}
