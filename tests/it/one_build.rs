//! `cargo run` finds what `cargo test` compiled, and the other way round.

use std::collections::BTreeSet;
use std::process::Command;

/// Every package that is compiled, with its features, where these kinds of dependencies are asked for.
fn packages(edges: &str) -> BTreeSet<String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["tree", "--locked", "--offline", "--workspace", "--prefix", "none", "--format", "{p} {f}", "--edges"]);
    let output = cargo.arg(edges).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What was shown before is marked.
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn tests_switch_nothing_on_that_a_run_does_not() {
    let (run, tested) = (packages("normal,build"), packages("normal,build,dev"));
    assert!(run.len() > 100, "{run:?}");
    let twice: Vec<_> = run.difference(&tested).collect();
    assert!(
        twice.is_empty(),
        "compiled twice, with other features: {twice:#?}\n`tests/testing/Cargo.toml` asks for the features of tests"
    );
}
