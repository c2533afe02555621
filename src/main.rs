//! The `cru` program.

fn main() {}
