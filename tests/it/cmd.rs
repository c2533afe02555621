//! Console transcripts: the program is run and must say what the documents say it says.
//!
//! `TRYCMD=overwrite cargo test` writes what it says now; read that before committing it.

#[test]
fn transcripts() {
    // Journals and operation logs of the vaults that are copied for a case.
    let (state, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Made beforehand, so that no transcript depends on which of them asks first.
    let vault = concat!(env!("CARGO_MANIFEST_DIR"), "/vault-example");
    let mut index = std::process::Command::new(env!("CARGO_BIN_EXE_cru"));
    index.args(["--vault", vault, "index"]).env("XDG_CACHE_HOME", cache.path()).env("XDG_CONFIG_HOME", "/nonexistent");
    assert!(index.output().unwrap().status.success());
    let cases = trycmd::TestCases::new();
    // Where a transcript has a person edit a note, the edited one is put there.
    #[cfg(unix)]
    cases.register_bin("cp", std::path::Path::new("/bin/cp"));
    #[cfg(not(unix))]
    cases.skip("tests/cmd/undo.md").skip("tests/cmd/resume-live.md");
    cases
        .env("NO_COLOR", "1")
        .env("CRU_NOW", "2026-11-21T12:00:00Z")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_STATE_HOME", state.path().to_str().unwrap())
        .env("XDG_CACHE_HOME", cache.path().to_str().unwrap())
        .env("HOME", "/home/mara")
        .case("tests/cmd/*.md")
        .case("README.md")
        .case("docs/guide.md")
        .run();
}
