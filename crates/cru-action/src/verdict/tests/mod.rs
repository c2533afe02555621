//! Verdicts of whole runs.

mod laws;
mod table;

use super::{CheckRun, Shown, Verdict, silences_check, switches_check_off, verdict};

/// What the status of a call tells.
#[derive(Clone, Copy)]
enum Status {
    /// Hidden behind something.
    Hidden(Shown<'static>),
    /// That of the check.
    Own(i32),
}

fn judged(checks: &[&str], output: &str, status: Status) -> Verdict {
    let words: Vec<Vec<&str>> = checks.iter().map(|check| check.split(' ').collect()).collect();
    let commands: Vec<&[&str]> = words.iter().map(Vec::as_slice).collect();
    let (exit, shown) = match status {
        Status::Hidden(shown) => (Some(0), shown),
        Status::Own(code) => (Some(code), Shown::Whole),
    };
    let own = matches!(status, Status::Own(_));
    let failed = own && exit != Some(0);
    verdict(&CheckRun { commands: &commands, output, exit, failed, status_is_own: own, shown, ..CheckRun::default() })
}

const WHOLE: Status = Status::Hidden(Shown::Whole);
const END: Status = Status::Hidden(Shown::End);
const START: Status = Status::Hidden(Shown::Start);

#[test]
fn what_switches_a_check_off() {
    let off =
        ["git commit --no-verify -m x", "  xit('pumps', () => {", "describe.skip('pump')", "@pytest.mark.skip(reason)"];
    for line in off {
        assert!(switches_check_off(line), "{line}");
    }
    let on = ["process.exit(1)", "sys.exit(2)", "await.skip(3)", "commit('x')", "# noqa"];
    for line in on {
        assert!(!switches_check_off(line), "{line}");
    }
    assert!(
        silences_check("x = 1  # noqa")
            && silences_check("//nolint:errcheck")
            && !silences_check("x = 1  # no quality")
    );
}
