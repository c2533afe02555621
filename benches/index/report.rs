//! Lines for people: a figure, what it is held against, and whether it is what it must be.

#![expect(clippy::print_stdout, reason = "a bench talks to a terminal")]

use std::time::Duration;

/// Prints lines, and remembers whether one of them is not as it must be.
#[derive(Debug, Default)]
pub(crate) struct Report {
    missed: Vec<String>,
}

impl Report {
    /// A time against another of the same run, of which it may be at most so many times.
    pub(crate) fn against(&mut self, what: &str, ours: Duration, floor: (&str, Duration), most: f64) {
        let ratio = ms(ours) / ms(floor.1);
        let line = format!("{:9.2} ms, {} {:.2} ms: x{ratio:.2}, at most {most}", ms(ours), floor.0, ms(floor.1));
        self.line(what, &line, ratio <= most);
    }

    /// A figure that may be so much at most.
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, unit: &str, most: f64) {
        self.line(what, &format!("{figure:9.2} {unit}, at most {most}"), figure <= most);
    }

    /// Something that cannot be measured here.
    pub(crate) fn skipped(what: &str, why: &str) {
        println!("  {what:<34}   skipped: {why}");
    }

    /// Something that is not as it must be.
    pub(crate) fn line(&mut self, what: &str, line: &str, good: bool) {
        println!("  {what:<34} {line}{}", if good { "" } else { "  MISSED" });
        if !good {
            self.missed.push(what.to_owned());
        }
    }

    /// What was not as it must be.
    pub(crate) fn missed(&self) -> &[String] {
        &self.missed
    }
}

/// In milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The one in the middle.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
