//! What a step said when it was recorded, and how that compares with what it says now.

use crate::base::files;
use crate::base::text::sanitise;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::run::record::output_path;
use crate::session::{Session, Step};
use crate::sync::evidence::Transcripts;

cru_base::words! {
    /// Where an output was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum OutputSource {
        Evidence = "from evidence/",
        Transcript = "from the transcript",
        Note = "only the note is left",
    }
}

/// What a step said, from the best that is left of it.
pub(super) fn stored_output(
    world: &TraceWorld,
    transcripts: &Transcripts,
    session_id: &str,
    session: &Session,
    step: &Step,
) -> (String, OutputSource) {
    let id = step.id.as_deref().unwrap_or_default();
    let path = output_path(&world.vault, session_id, id);
    // Bytes of a kept output that are read.
    if let Some(bytes) = files::read_regular(&path, 4 << 20).ok().flatten().filter(|_| !id.is_empty()) {
        return (sanitise(&String::from_utf8_lossy(&bytes)).into_owned(), OutputSource::Evidence);
    }
    if let Ok(Ok(whole)) = transcripts.step(session, id, false)
        && let Some(output) = whole.output
    {
        return (sanitise(&output).into_owned(), OutputSource::Transcript);
    }
    let told = step.output.clone().or_else(|| step.result.clone()).unwrap_or_default();
    (told, OutputSource::Note)
}

/// An output as it is compared: without blanks at the ends of lines, without how long things took, and with the name of
/// the scratch folder as that of the project.
pub(super) fn comparable(output: &str, scratch: &str, project: &str) -> String {
    let output = sanitise(output);
    let output = if scratch.is_empty() { output.into_owned() } else { output.replace(scratch, project) };
    output.trim_end().lines().map(|line| without_durations(line.trim_end()) + "\n").collect()
}

/// A line in which every number before a unit of time (`0.03s`, `12 ms`) is `–`.
fn without_durations(line: &str) -> String {
    const UNITS: &[&str] = &[
        "milliseconds",
        "millisecond",
        "seconds",
        "second",
        "minutes",
        "minute",
        "secs",
        "sec",
        "mins",
        "min",
        "ms",
        "µs",
        "us",
        "ns",
        "s",
        "m",
    ];
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let number: usize = rest[at..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let after = &rest[at + number..];
        let blanks = after.len() - after.trim_start_matches(' ').len();
        let unit = after.get(blanks.min(1)..).unwrap_or_default();
        let is_unit = UNITS.iter().any(|name| {
            unit.strip_prefix(name).is_some_and(|end| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        let is_number = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        out.push_str(&rest[..at]);
        if is_unit && is_number && blanks <= 1 {
            out.push('–');
        } else {
            out.push_str(&rest[at..at + number]);
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_do_not_count() {
        assert_eq!(without_durations("41 passed in 0.03s (3 ms)"), "41 passed in –s (– ms)");
        assert_eq!(without_durations("finished in 1.25 seconds"), "finished in – seconds");
        assert_eq!(without_durations("5 samples, v2s, 3 mice, n_3s"), "5 samples, v2s, 3 mice, n_3s");
        assert_eq!(comparable("a  \nb /tmp/x/y\n\n", "/tmp/x", "~/code"), "a\nb ~/code/y\n");
    }

    proptest! {
        #[test]
        fn any_line(line in "\\PC{0,30}") {
            let once = without_durations(&line);
            prop_assert_eq!(&without_durations(&once), &once);
        }
    }
}
