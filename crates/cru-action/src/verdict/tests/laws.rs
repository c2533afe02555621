//! What holds for every output.

use proptest::prelude::*;

use crate::verdict::{CheckRun, Shown, Verdict, decision, host_error, verdict};

const COMMANDS: &[&[&str]] = &[
    &["cargo", "test"],
    &["pytest"],
    &["npx", "jest"],
    &["go", "test", "./..."],
    &["npm", "test"],
    &["tsc", "--noEmit"],
    &["./check.sh"],
    &["bun", "test"],
    &["gofmt", "-l", "."],
    &["eslint", "."],
    &["make"],
];

const LINES: &[&str] = &[
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "test result: ok. 0 passed; 0 failed",
    "==== 4 passed in 0.10s ====",
    "Test Suites: 1 passed, 1 total",
    "Tests:       5 passed, 5 total",
    "ok  \ta/b\t0.1s",
    "?   \ta/c\t[no test files]",
    " 5 pass",
    " 0 fail",
    "error: cannot find x",
    "a.ts(1,2): error TS2304: x",
    "✖ 2 problems (0 errors, 2 warnings)",
    "hello",
    "",
    "bash: jest: command not found",
    "no tests ran in 0.01s",
    "[12 lines truncated]",
    "Command timed out after 2m",
    "> app@1.0.0 test",
    "  Tests  3 passed (3)",
    "make: Nothing to be done for 'all'.",
    "   Compiling a v0.1.0",
    "0 issues.",
];

/// A summary of a failure for each of `COMMANDS`.
const FAILURES: &[&str] = &[
    "test result: FAILED. 1 passed; 1 failed; 0 ignored",
    "==== 1 failed, 4 passed in 0.10s ====",
    "Tests:       1 failed, 5 total",
    "FAIL\ta/b\t0.1s",
    "npm error code ELIFECYCLE",
    "a.ts(1,2): error TS2304: x",
    "npm error code 1",
    " 1 fail",
    "a.go:1:2: expected",
    "✖ 2 problems (1 error, 1 warning)",
    "make: *** [all] Error 2",
];

fn output() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![4 => prop::sample::select(LINES).prop_map(str::to_owned), 1 => "\\PC{0,40}"],
        0..12,
    )
    .prop_map(|lines| lines.join("\n"))
}

fn shown() -> impl Strategy<Value = Shown<'static>> {
    prop::sample::select(vec![Shown::Whole, Shown::Start, Shown::End, Shown::Filtered("FAIL|ok"), Shown::Filtered("")])
}

fn run<'a>(commands: &'a [&'a [&'a str]], output: &'a str, own: bool, shown: Shown<'a>) -> CheckRun<'a> {
    CheckRun { commands, output, exit: Some(0), failed: false, status_is_own: own, shown, ..CheckRun::default() }
}

proptest! {
    #[test]
    fn any_text_has_a_verdict(text in "(?s).{0,400}", exit in prop::option::of(any::<i32>()), own: bool, failed: bool, shown in shown(), at in 0..COMMANDS.len()) {
        let commands = [COMMANDS[at]];
        let found = decision(&CheckRun { exit, failed, ..run(&commands, &text, own, shown) });
        if let Some(range) = found.evidence {
            prop_assert!(text.get(range).is_some());
        }
        let _ = host_error(&text);
        if own && (failed || exit.is_some_and(|code| code != 0)) {
            prop_assert_ne!(found.verdict, Verdict::Passed);
        }
    }

    #[test]
    fn colours_change_nothing(output in output(), own: bool, shown in shown(), at in 0..COMMANDS.len(), every in 1_usize..7) {
        let coloured: Vec<String> = output.lines().map(|line| {
            let mut text = String::from("\u{1b}[1;32m");
            for (index, character) in line.chars().enumerate() {
                if index % every == 0 {
                    text.push_str("\u{1b}[0m\u{1b}[38;5;9m");
                }
                text.push(character);
            }
            text + "\u{1b}[0m"
        }).collect();
        let commands = [COMMANDS[at]];
        // A carriage return within the text would end a line of its own, with or without colour.
        let plain = output.lines().collect::<Vec<_>>().join("\n");
        prop_assert_eq!(verdict(&run(&commands, &plain, own, shown)), verdict(&run(&commands, &coloured.join("\n"), own, shown)));
    }

    #[test]
    fn a_mark_of_the_host_never_makes_it_pass(output in output(), own: bool, shown in shown(), at in 0..COMMANDS.len(), marks in prop::sample::select(vec![
        "... [40 lines truncated] ...", "…120 tokens truncated…", "Output too large (1.2MB). Full output saved to: /x",
    ])) {
        let commands = [COMMANDS[at]];
        let before = verdict(&run(&commands, &output, own, shown));
        let cut = format!("{output}\n{marks}\n");
        let after = verdict(&run(&commands, &cut, own, shown));
        prop_assert!(after != Verdict::Passed || before == Verdict::Passed);
    }

    #[test]
    fn a_failure_at_the_end_never_leaves_it_passed(output in output(), own: bool, shown in shown(), at in 0..COMMANDS.len()) {
        let commands = [COMMANDS[at]];
        let failing = format!("{output}\n{}\n", FAILURES[at]);
        prop_assert_ne!(verdict(&run(&commands, &failing, own, shown)), Verdict::Passed);
    }
}

#[test]
fn a_large_output_is_read_in_linear_time() {
    let mut text = "test a::b ... ok 0 passed 0 failed passed in error: FAILED\n".repeat(200_000);
    text.push_str(&"x".repeat(1_000_000));
    text.push_str("\ntest result: ok. 5 passed; 0 failed\n");
    let commands: [&[&str]; 1] = [&["cargo", "test"]];
    let started = std::time::Instant::now();
    assert_eq!(verdict(&run(&commands, &text, true, Shown::Whole)), Verdict::Passed);
    println!("{} bytes in {:?}", text.len(), started.elapsed());
}

#[test]
fn a_failure_in_the_middle_of_a_large_output_is_seen() {
    let filler = "line of log\n".repeat(50_000);
    let text = format!(
        "{filler}\u{1b}[31mtest result: FAILED\u{1b}[0m. 1 passed; 1 failed\n{filler}test result: ok. 5 passed; 0 failed\n"
    );
    let commands: [&[&str]; 1] = [&["cargo", "test"]];
    assert_eq!(verdict(&run(&commands, &text, false, Shown::Whole)), Verdict::Failed);
}
