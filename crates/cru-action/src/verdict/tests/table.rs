//! What runners print, and what it means where the exit code is hidden.

use super::{END, START, Status, WHOLE, judged};
use crate::verdict::Verdict::{self, Failed, Passed, Unknown};
use crate::verdict::{CheckRun, Shown, decision, verdict};

/// The check, its output, the verdict with all of it shown and no exit code.
const HIDDEN: &[(&str, &str, Verdict)] = &[
    // Rust.
    (
        "cargo test",
        "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n",
        Passed,
    ),
    (
        "cargo test",
        "test a ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`",
        Failed,
    ),
    (
        "cargo test x",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
        Unknown,
    ),
    (
        "cargo test",
        "error[E0425]: cannot find value `x`\nerror: could not compile `a` (lib) due to 1 previous error",
        Failed,
    ),
    ("cargo test", "   Compiling a v0.1.0\n    Finished `test` profile [unoptimized] target(s) in 1.2s\n", Unknown),
    ("cargo test", "bash: line 1: cargo: command not found", Failed),
    ("cargo test --help", "test result: ok. 2 passed; 0 failed", Unknown),
    ("cargo nextest run", "     Summary [   0.012s] 12 tests run: 12 passed, 3 skipped", Passed),
    (
        "cargo nextest run",
        "     Summary [   0.012s] 12 tests run: 11 passed, 1 failed, 3 skipped\nerror: test run failed",
        Failed,
    ),
    ("cargo nextest run", "     Summary [   0.000s] 0 tests run: 0 passed, 9 skipped\nerror: no tests to run", Unknown),
    (
        "cargo clippy",
        "warning: unused\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 3.41s",
        Passed,
    ),
    (
        "cargo clippy",
        "error: this could be rewritten\nerror: could not compile `a` (bin \"a\") due to 2 previous errors",
        Failed,
    ),
    ("cargo build", "   Compiling a v0.1.0", Unknown),
    ("cargo fmt --check", "", Passed),
    ("cargo fmt --check", "Diff in /srv/a/src/lib.rs:3:\n-a\n+b", Failed),
    ("cargo doc", "error: could not document `a`", Failed),
    // Python.
    ("pytest", "collected 3 items\n\n===== 3 passed, 1 warning in 0.12s =====", Passed),
    ("pytest -q", "...   [100%]\n3 passed in 0.12s", Passed),
    ("pytest", "== 1 failed, 2 passed in 0.12s ==", Failed),
    ("pytest", "== 27 passed, 1 skipped in 1.82s ==", Passed),
    ("pytest", "== 2 errors in 0.30s ==", Failed),
    ("pytest", "collected 0 items\n\n== no tests ran in 0.01s ==", Unknown),
    ("pytest -k x", "== 205 deselected in 0.58s ==", Unknown),
    ("pytest -m x", "== 2 skipped in 0.58s ==", Unknown),
    ("pytest --collect-only -q", "205 tests collected in 0.40s", Unknown),
    ("python -m pytest", "/usr/bin/python: No module named pytest", Failed),
    ("pytest", "...   [100%]", Unknown),
    ("python -m unittest", "...\n-----\nRan 3 tests in 0.001s\n\nOK", Passed),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=2)", Failed),
    ("python -m unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", Unknown),
    ("python -m unittest", "OK", Unknown),
    ("ruff check", "All checks passed!", Passed),
    (
        "ruff check",
        "a.py:1:1: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.",
        Failed,
    ),
    ("ruff check --fix", "Found 3 errors (3 fixed, 0 remaining).", Passed),
    ("ruff check --fix", "Found 3 errors (2 fixed, 1 remaining).", Failed),
    ("ruff check", "warning: No Python files found under the given path(s)\nAll checks passed!", Unknown),
    ("ruff format --check", "Would reformat: a.py\n1 file would be reformatted, 2 files already formatted", Failed),
    ("ruff format --check", "3 files already formatted", Passed),
    ("black --check .", "All done! ✨ 🍰 ✨\n3 files would be left unchanged.", Passed),
    ("black --check .", "would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.", Failed),
    ("flake8", "", Passed),
    ("flake8", "./a.py:1:80: E501 line too long", Failed),
    ("pylint a", "Your code has been rated at 10.00/10 (previous run: 9.50/10, +0.50)", Passed),
    ("mypy .", "Success: no issues found in 12 source files", Passed),
    ("mypy .", "a.py:3: error: Incompatible types\nFound 1 error in 1 file (checked 3 source files)", Failed),
    ("ty check", "All checks passed!", Passed),
    ("ty check", "error[x]: bad\nFound 1 diagnostic", Failed),
    ("pyright", "0 errors, 0 warnings, 0 informations ", Passed),
    ("pyright", "2 errors, 1 warning, 0 informations ", Failed),
    ("pyright", "No source files found.\n0 errors, 0 warnings, 0 informations ", Unknown),
    ("tox", "  py312: OK (3.10 seconds)\n  congratulations :) (3.20 seconds)", Passed),
    ("tox", "  py312: FAIL code 1 (3.10 seconds)\n  evaluation failed :( (3.20 seconds)", Failed),
    // JavaScript and TypeScript.
    ("jest", "Test Suites: 2 passed, 2 total\nTests:       12 passed, 12 total\nSnapshots:   0 total", Passed),
    ("jest", "Test Suites: 1 skipped, 2 passed, 2 of 3 total\nTests:       2 skipped, 12 passed, 14 total", Passed),
    ("jest", "Test Suites: 1 failed, 2 total\nTests:       12 passed, 12 total", Failed),
    ("jest", "Tests:       1 failed, 11 passed, 12 total", Failed),
    ("jest", "Tests:       12 passed, 12 total", Unknown),
    ("jest", "No tests found, exiting with code 1", Unknown),
    (
        "jest",
        "Test Suites: 2 passed, 2 total\nTests:       12 passed, 12 total\nJest: \"global\" coverage threshold for lines (90%) not met: 80%",
        Failed,
    ),
    ("vitest run", " Test Files  3 passed (3)\n      Tests  25 passed | 1 skipped (26)\n   Start at  10:00:00", Passed),
    (
        "vitest run",
        " FAIL  src/a.test.ts > a\n Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 24 passed (25)",
        Failed,
    ),
    ("vitest run", "No test files found, exiting with code 1", Unknown),
    ("mocha", "  5 passing (12ms)", Passed),
    ("mocha", "  5 passing (12ms)\n  1 failing", Failed),
    ("mocha", "  0 passing (1ms)", Unknown),
    ("node --test", "ℹ tests 3\nℹ suites 0\nℹ pass 3\nℹ fail 0\nℹ cancelled 0", Passed),
    ("node --test", "# tests 3\n# pass 2\n# fail 1\n# cancelled 0", Failed),
    ("node --test", "# tests 0\n# suites 0\n# pass 0\n# fail 0", Unknown),
    ("bun test", " 5 pass\n 1 skip\n 0 fail\n 20 expect() calls\nRan 6 tests across 2 files. [10.00ms]", Passed),
    ("bun test", " 5 pass\n 1 fail\nRan 6 tests across 2 files. [10.00ms]", Failed),
    ("bun test", " 0 pass\n 0 fail\nRan 0 tests across 0 files.", Unknown),
    ("deno test", "ok | 3 passed | 0 failed (10ms)", Passed),
    ("deno test", "FAILED | 2 passed | 1 failed (10ms)\nerror: Test failed", Failed),
    ("tsc --noEmit", "", Passed),
    ("tsc --noEmit", "(no output)", Passed),
    ("tsc --noEmit", "src/a.ts(3,12): error TS2304: Cannot find name 'x'.", Failed),
    (
        "tsc --noEmit --pretty",
        "src/a.ts:3:12 - error TS2304: Cannot find name 'x'.\n\nFound 1 error in src/a.ts:3",
        Failed,
    ),
    ("tsc --noEmit", "This is not the tsc command you are looking for", Failed),
    ("tsc --noEmit", "something else", Unknown),
    ("vue-tsc --noEmit", "src/A.vue(3,1): error TS2345: x", Failed),
    ("eslint .", "", Passed),
    ("eslint .", "/srv/a.js\n  1:1  warning  x  no-x\n\n✖ 1 problem (0 errors, 1 warning)", Passed),
    ("eslint .", "/srv/a.js\n  1:1  error  x  no-x\n\n✖ 1 problem (1 error, 0 warnings)", Failed),
    ("eslint .", "Oops! Something went wrong! :(\n\nESLint: 9.0.0", Failed),
    ("biome check", "Checked 120 files in 20ms. No fixes applied.", Passed),
    ("biome check", "Checked 120 files in 20ms. No fixes applied.\nFound 2 errors.", Failed),
    ("biome check", "Checked 0 files in 2ms. No fixes applied.", Unknown),
    ("prettier --check .", "Checking formatting...\nAll matched files use Prettier code style!", Passed),
    (
        "prettier --check .",
        "[warn] a.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.",
        Failed,
    ),
    ("playwright test", "Running 3 tests using 1 worker\n  3 passed (10.2s)", Passed),
    ("playwright test", "  1 failed\n    [chromium] › a.spec.ts:3:1 › a\n  2 passed (10.2s)", Failed),
    ("playwright test", "Error: No tests found", Unknown),
    ("cypress run", "  ✔  All specs passed!                        00:05        3        3        -", Passed),
    ("cypress run", "  ✖  1 of 2 failed (50%)                      00:05        3        2        1", Failed),
    ("turbo run test", " Tasks:    3 successful, 3 total\nCached:    0 cached, 3 total", Passed),
    ("turbo run test", " Tasks:    2 successful, 3 total\nFailed:    web#test", Failed),
    ("nx run-many -t test", " NX   Successfully ran target test for 3 projects", Passed),
    ("nx run-many -t test", " NX   Running target test for 3 projects failed\n\nFailed tasks:\n\n- web:test", Failed),
    // Task runners.
    ("npm test", "> a@1.0.0 test\n> jest\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total", Passed),
    ("npm test", "npm error Missing script: \"test\"", Failed),
    ("npm run check", "> a@1.0.0 check\n> tsc --noEmit\n", Passed),
    ("npm run check", "> a@1.0.0 check\n> node check.js\n", Unknown),
    ("pnpm test", " ELIFECYCLE  Test failed. See above for more details.", Failed),
    ("yarn test", "error Command failed with exit code 1.", Failed),
    ("bun run lint", "error: script \"lint\" exited with code 1", Failed),
    ("mise run lint", "[lint] $ golangci-lint run ./...\n[lint] 0 issues.\nFinished in 1.2s", Passed),
    ("mise run lint", "[lint] 0 issues.\n[test] ERROR task failed", Failed),
    (
        "just test",
        "test result: ok. 3 passed; 0 failed\nerror: Recipe `test` failed on line 3 with exit code 1",
        Failed,
    ),
    ("make test", "ok  \ta/b\t0.1s\nmake: *** [Makefile:3: test] Error 2", Failed),
    ("make", "make: Nothing to be done for 'all'.", Unknown),
    (
        "pre-commit run -a",
        "trim whitespace....................Passed\nblack..............................Passed",
        Passed,
    ),
    (
        "pre-commit run -a",
        "trim whitespace....................Passed\nblack..............................Failed\n- hook id: black",
        Failed,
    ),
    ("act -j test", "[CI/test] 🏁  Job succeeded", Passed),
    ("act -j test", "[CI/test] 🏁  Job failed\nError: Job 'test' failed", Failed),
    ("./check.sh", "== 12 passed in 1.2s ==", Passed),
    ("./check.sh", "all fine", Unknown),
    // Go.
    ("go test ./...", "?   \ta/c\t[no test files]\nok  \ta/b\t0.1s\nok  \ta/d\t(cached)", Passed),
    ("go test ./...", "ok  \ta/b\t0.1s\n--- FAIL: TestX (0.00s)\nFAIL\ta/d\t0.2s\nFAIL", Failed),
    ("go test ./...", "ok  \ta/b\t0.1s [no tests to run]", Unknown),
    ("go test ./...", "?   \ta/c\t[no test files]", Unknown),
    ("go test ./...", "# a/b\n./b.go:3:2: undefined: x\nFAIL\ta/b [build failed]\nFAIL", Failed),
    ("go test ./...", "zsh: command not found: go", Failed),
    ("go vet ./...", "", Passed),
    ("go vet ./...", "# a/b\n./b.go:3:2: unreachable code", Failed),
    ("go build ./...", "go: downloading golang.org/x/a v1.0.0", Passed),
    ("gofmt -l .", "", Passed),
    ("go build ./...", "# example.org/lua\nparser.c:2:1: warning: x", Unknown),
    ("go build ./...", "# example.org/a\n./a.go:2:1: undefined: b", Failed),
    ("gofmt -l .", "a/b.go", Failed),
    ("gotestsum", "DONE 12 tests in 1.234s", Passed),
    ("gotestsum", "DONE 12 tests, 1 failure in 1.234s", Failed),
    ("golangci-lint run", "0 issues.", Passed),
    ("golangci-lint run", "a.go:3:2: bad (x)\n1 issues:\n* x: 1", Failed),
    ("staticcheck ./...", "", Passed),
    ("staticcheck ./...", "a.go:3:2: x is unused (U1000)", Failed),
    ("govulncheck ./...", "No vulnerabilities found.", Passed),
    // JVM, .NET, Swift, C.
    ("./gradlew test", "> Task :test\n\nBUILD SUCCESSFUL in 3s\n5 actionable tasks: 5 executed", Passed),
    ("./gradlew test", "> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 3s", Failed),
    ("mvn test", "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", Passed),
    ("mvn test", "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", Failed),
    ("mvn test", "[INFO] No tests to run.\n[INFO] BUILD SUCCESS", Unknown),
    (
        "dotnet test",
        "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 1 s - a.dll (net8.0)",
        Passed,
    ),
    ("dotnet test", "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12", Failed),
    ("dotnet build", "Build succeeded.\n    0 Warning(s)\n    0 Error(s)", Passed),
    ("dotnet build", "a.cs(3,4): error CS1002: ; expected\n\nBuild FAILED.", Failed),
    (
        "swift test",
        "Test Suite 'All tests' passed at 2026-01-01.\n\t Executed 5 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds",
        Passed,
    ),
    (
        "swift test",
        "Test Suite 'All tests' failed at 2026-01-01.\n\t Executed 5 tests, with 1 failure (0 unexpected) in 0.1 seconds",
        Failed,
    ),
    ("ctest", "100% tests passed, 0 tests failed out of 12", Passed),
    ("ctest", "92% tests passed, 1 tests failed out of 12\n\nThe following tests FAILED:", Failed),
    ("ctest", "No tests were found!!!", Unknown),
    (
        "bazel test //...",
        "//a:test    FAILED in 0.3s\n\nExecuted 1 out of 2 tests: 1 test passes and 1 fails locally.",
        Failed,
    ),
    // Ruby, PHP, Elixir and others.
    ("bundle exec rspec", "12 examples, 0 failures, 1 pending", Passed),
    ("rspec", "12 examples, 1 failure\n\nrspec ./spec/a_spec.rb:3 # a", Failed),
    ("rspec", "0 examples, 0 failures", Unknown),
    ("rails test", "5 runs, 9 assertions, 0 failures, 0 errors, 0 skips", Passed),
    ("rails test", "5 runs, 9 assertions, 0 failures, 1 errors, 0 skips", Failed),
    ("rubocop", "12 files inspected, no offenses detected", Passed),
    ("rubocop", "12 files inspected, 2 offenses detected, 1 offense autocorrectable", Failed),
    ("rubocop -a", "12 files inspected, 2 offenses detected, 2 offenses corrected", Unknown),
    ("phpunit", "OK (5 tests, 9 assertions)", Passed),
    ("phpunit", "FAILURES!\nTests: 5, Assertions: 9, Failures: 1.", Failed),
    ("phpunit", "No tests executed!", Unknown),
    ("pest", "  Tests:    5 passed (9 assertions)", Passed),
    ("pest", "  Tests:    1 failed, 4 passed (9 assertions)", Failed),
    ("phpstan analyse", " [OK] No errors", Passed),
    ("phpstan analyse", " [ERROR] Found 3 errors", Failed),
    ("mix test", "5 tests, 0 failures", Passed),
    ("mix test", "5 tests, 2 failures", Failed),
    ("markdownlint a.md", "", Passed),
    ("markdownlint-cli2 a.md", "Summary: 2 error(s)", Failed),
    ("./check.sh", "9 of 10 passed", Failed),
    ("./check.sh", "FAILED: the pump leaks", Failed),
    ("shellcheck a.sh", "", Passed),
    ("shellcheck a.sh", "In a.sh line 3:\necho $x\n     ^-- SC2086 (info): quote", Failed),
];

#[test]
fn outputs_without_an_exit_code() {
    let wrong: Vec<String> = HIDDEN
        .iter()
        .map(|(check, output, expected)| (check, output, expected, judged(&[check], output, WHOLE)))
        .filter(|(_, _, expected, found)| *expected != found)
        .map(|(check, output, expected, found)| format!("{check}: {output:?} is {found:?}, not {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_own_exit_code_decides_where_nothing_contradicts() {
    for (check, output, expected) in HIDDEN {
        assert_ne!(judged(&[check], output, Status::Own(1)), Passed, "{check}: {output}");
        let zero = judged(&[check], output, Status::Own(0));
        // What failed by its output never passes by an exit code, but for a diagnostic that a summary would confirm.
        if *expected == Passed {
            assert_eq!(zero, Passed, "{check}: {output}");
        }
    }
    let rows: &[(&str, &str, i32, Verdict)] = &[
        ("cargo test", "", 0, Passed),
        ("./check.sh", "all fine", 0, Passed),
        ("npm test", "done", 0, Passed),
        ("cargo test", "", 101, Failed),
        ("pytest", "no tests ran in 0.01s", 0, Unknown),
        ("pytest", "no tests ran in 0.01s", 5, Failed),
        ("pytest", "== 1 failed in 0.01s ==", 0, Failed),
        ("npm test", "npm error code 1", 0, Unknown),
        ("npm test", "== 1 failed in 0.01s ==\n == 1 passed in 1s ==", 0, Unknown),
        ("./check.sh", "./check.sh: line 3: jq: command not found", 0, Unknown),
        ("cargo test", "^C", 130, Unknown),
        ("cargo test", "", -15, Unknown),
        ("cargo test", "Command timed out after 2m 0.0s", 143, Unknown),
        ("cargo test", "test result: FAILED. 0 passed; 1 failed\nCommand timed out after 2m 0.0s", 143, Failed),
        (
            "pytest -v",
            "t/a.py::test_a[chromium] FAILED [ 60%]\nt/a.py::test_b PASSED [ 65%]\nCommand timed out after 2m 0.0s",
            143,
            Failed,
        ),
        ("pytest -v", "t/a.py::test_b PASSED [ 65%]\nCommand timed out after 2m 0.0s", 143, Unknown),
        ("pytest -v -n 2", "[gw0] [ 10%] FAILED t/a.py::test_a \nCommand timed out after 2m 0.0s", 143, Failed),
        ("npm test", "Command running in background with ID: b1. Output is being written to: /tmp/b1", 0, Unknown),
        ("npm test", "Command still running (pid 71)", 0, Unknown),
        ("./check.sh", "<command with shellId: 0 is still running after 30 seconds>", 0, Unknown),
        ("./check.sh", "0/1 passed\nFAIL", 0, Unknown),
        ("./check.sh", "3/3 passed", 0, Passed),
        ("./check.sh", "Traceback (most recent call last):\n  File \"a.py\"\nValueError: x", 0, Unknown),
        ("pytest", "Traceback (most recent call last):\nValueError: x\n== 2 passed in 0.1s ==", 0, Passed),
        ("gofmt -l .", "a.go", 0, Failed),
        ("gh run watch 7", "still going", 0, Unknown),
        ("make", "make: 'all' is up to date.", 0, Unknown),
        ("tsc --version", "Version 5.4.2", 0, Unknown),
        ("pytest --markers", "@pytest.mark.slow: x", 0, Unknown),
        ("make -n", "cc a.c", 0, Unknown),
        ("cargo test -- --list", "a: test\n\n1 test, 0 benchmarks", 0, Unknown),
        ("npm test", "[31m1 passed[0m", 0, Passed),
    ];
    for (check, output, code, expected) in rows {
        assert_eq!(judged(&[check], output, Status::Own(*code)), *expected, "{check} {code}: {output}");
    }
}

#[test]
fn what_a_pipe_shows() {
    let filtered = |pattern| Status::Hidden(Shown::Filtered(pattern));
    let rows: &[(&str, &str, Status, Verdict)] = &[
        ("cargo test", "test result: ok. 3 passed; 0 failed", END, Passed),
        ("cargo test", "test result: ok. 3 passed; 0 failed", START, Unknown),
        ("cargo test", "test result: ok. 3 passed; 0 failed", filtered("test result"), Passed),
        ("cargo test", "test result: ok. 3 passed; 0 failed", filtered("test result: ok"), Unknown),
        ("cargo test", "test result: ok. 3 passed; 0 failed", filtered("^test result|FAILED"), Passed),
        ("go test ./...", "ok  \ta/b\t0.1s", filtered("ok"), Unknown),
        ("go test ./...", "ok  \ta/b\t0.1s", filtered("ok|FAIL"), Passed),
        ("pytest", "== 3 passed in 0.1s ==", filtered("passed"), Passed),
        ("pytest", "== 3 passed in 0.1s ==", START, Passed),
        ("tsc --noEmit", "", END, Passed),
        ("tsc --noEmit", "", START, Passed),
        ("tsc --noEmit", "", filtered("src/a"), Unknown),
        ("tsc --noEmit", "a.ts(1,1): error TS1005: x", filtered("a.ts"), Failed),
        ("npm test", "== 3 passed in 0.1s ==", START, Unknown),
        ("npm test", "== 3 passed in 0.1s ==", END, Passed),
        ("npm test", "== 3 passed in 0.1s ==", filtered("passed"), Unknown),
        ("playwright test", "  3 passed (10s)", END, Unknown),
        ("mocha", "  3 passing (10ms)", filtered("passing"), Unknown),
        // A host that cut the end.
        ("go test ./...", "ok  \ta/b\t0.1s\n... [40 lines truncated] ...", WHOLE, Unknown),
        ("go test ./...", "... [40 lines truncated] ...\nok  \ta/b\t0.1s", WHOLE, Passed),
        ("tsc --noEmit", "... [40 lines truncated] ...", WHOLE, Unknown),
    ];
    for (check, output, status, expected) in rows {
        assert_eq!(judged(&[check], output, *status), *expected, "{check}: {output}");
    }
}

#[test]
fn several_checks_of_one_call() {
    let rows: &[(&[&str], &str, Verdict)] = &[
        (
            &["cargo clippy", "cargo test"],
            "    Finished `dev` profile [x] in 1s\ntest result: ok. 3 passed; 0 failed",
            Passed,
        ),
        (&["cargo clippy", "cargo test"], "test result: ok. 3 passed; 0 failed", Unknown),
        (&["cargo clippy", "cargo test"], "error: could not compile `a`\ntest result: ok. 3 passed; 0 failed", Failed),
        (&["pytest", "pytest"], "== 3 passed in 0.1s ==", Unknown),
        (&["pytest", "pytest"], "== 3 passed in 0.1s ==\n== 4 passed in 0.1s ==", Passed),
        (&["go test ./...", "node --test"], "bash: line 1: go: command not found\nℹ pass 3\nℹ fail 0", Failed),
        (&["tsc --noEmit", "pytest"], "== 3 passed in 0.1s ==", Passed),
        (&["tsc --noEmit", "pytest"], "a.ts(1,1): error TS1005: x\n== 3 passed in 0.1s ==", Failed),
    ];
    for (checks, output, expected) in rows {
        assert_eq!(judged(checks, output, WHOLE), *expected, "{checks:?}: {output}");
    }
    // A warning of one program is no file that another one lists.
    let warned = "# example.org/lua\nparser.c:2:1: warning: x";
    let own = |checks: &[&str], output: &str| judged(checks, output, Status::Own(0));
    let chain = ["gofmt -l .", "go vet ./...", "go test ./..."];
    assert_eq!(own(&chain, &format!("{warned}\nok  \ta\t1.9s")), Unknown);
    assert_eq!(own(&chain[..2], &format!("a.go\n{warned}")), Failed);
    let commands: [&[&str]; 2] = [&["cargo", "clippy"], &["cargo", "test"]];
    let run = CheckRun {
        commands: &commands,
        output: "test result: ok. 3 passed; 0 failed",
        exit: None,
        failed: false,
        status_is_own: false,
        shown: Shown::End,
        chained: true,
        ..CheckRun::default()
    };
    assert_eq!(verdict(&run), Passed);
}

#[test]
fn colours_progress_and_evidence() {
    let output = "10%\r50%\r100%\r\n\u{1b}[1m\u{1b}[32m Test Files \u{1b}[39m\u{1b}[22m 3 passed (3)\n\u{1b}[32mTests\u{1b}[0m  9 passed (9)\r\n";
    assert_eq!(judged(&["vitest"], output, WHOLE), Passed);
    let commands: [&[&str]; 1] = [&["npm", "test"]];
    let output = "a\n[web] npm error code ELIFECYCLE\nz\n";
    let run = CheckRun {
        commands: &commands,
        output,
        exit: None,
        failed: false,
        status_is_own: false,
        shown: Shown::Whole,
        ..CheckRun::default()
    };
    let found = decision(&run);
    assert_eq!(found.verdict, Failed);
    assert_eq!(&output[found.evidence.unwrap()], "[web] npm error code ELIFECYCLE");
}
