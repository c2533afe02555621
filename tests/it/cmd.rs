//! Console transcripts: the program is run and must say what the documents say it says.
//!
//! `TRYCMD=overwrite cargo test` writes what it says now; read that before committing it.

#[test]
fn transcripts() {
    let cases = trycmd::TestCases::new();
    cases
        .env("NO_COLOR", "1")
        .env("CRU_NOW", "2026-11-21T12:00:00Z")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_STATE_HOME", "/nonexistent")
        .env("HOME", "/home/mara")
        .case("tests/cmd/*.md")
        .case("README.md");
}
