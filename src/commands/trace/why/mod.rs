//! `cru why`: which step wrote a line, what was asked then, and whether it was checked.

mod answer;
mod find;

use std::path::Path;

use answer::WhyReport;
use find::Origins;

use super::TraceWorld;
use crate::base::path::without_dots;
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::{Context, Output};

/// Show which step wrote a line
///
/// Names the commit, the step with its session, what was asked, corrected and decided then, and the check that followed.
/// It is known by the commit that the step made and by the text that it wrote; without git by the text alone. Without
/// LINE: all of the file, in ranges.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file, with a line or a range of lines: `src/a.rs:12`, `src/a.rs:12-20`
    #[arg(value_name = "FILE[:LINE[-LINE]]")]
    place: String,
    /// The file as it is in this commit
    #[arg(long, value_name = "REV")]
    at: Option<String>,
}

/// A file and lines of it, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedLines {
    path: String,
    range: Option<(u64, u64)>,
}

impl WantedLines {
    /// Reads `path`, `path:12`, `path:12-20`.
    fn read(text: &str) -> Result<Self> {
        let whole = || Self { path: text.to_owned(), range: None };
        let Some((path, lines)) = text.rsplit_once(':').filter(|(path, _)| !path.is_empty()) else {
            return Ok(whole());
        };
        let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (from, to) = match lines.split_once('-') {
            Some((from, to)) => (number(from), number(to)),
            None => (number(lines), number(lines)),
        };
        let (Some(from), Some(to)) = (from, to) else { return Ok(whole()) };
        if from == 0 {
            return Err(Error::usage("lines count from 1"));
        }
        if to < from {
            return Err(Error::usage(format!("{from}-{to} ends before it begins"))
                .with_hint(format!("write {}:{to}-{from}", sanitise(path))));
        }
        Ok(Self { path: path.to_owned(), range: Some((from, to)) })
    }
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    // A file whose own name ends like a line goes before the line.
    let is_file = |path: &str| cx.absolute(Path::new(path)).is_file();
    let mut wanted = WantedLines::read(&args.place);
    if is_file(&args.place) {
        wanted = Ok(WantedLines { path: args.place.clone(), range: None });
    }
    let wanted = wanted?;
    let path = without_dots(&cx.absolute(Path::new(wanted.path.trim_start_matches('@'))));
    let world = TraceWorld::read(cx)?;
    let origins = Origins::find(&path, &wanted, args.at.as_deref(), &world, cx)?;
    Ok(Box::new(WhyReport::of(&origins, &wanted, &world)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let read = |text: &str| WantedLines::read(text).map(|it| (it.path, it.range)).map_err(|it| it.to_string());
        assert_eq!(read("src/a.rs"), Ok(("src/a.rs".into(), None)));
        assert_eq!(read("src/a.rs:12"), Ok(("src/a.rs".into(), Some((12, 12)))));
        assert_eq!(read("src/a.rs:12-20"), Ok(("src/a.rs".into(), Some((12, 20)))));
        assert_eq!(read("C:x"), Ok(("C:x".into(), None)));
        assert_eq!(read("a:20-12"), Err("20-12 ends before it begins".into()));
        assert_eq!(read("a:0"), Err("lines count from 1".into()));
        assert_eq!(read("a:99999999999999999999"), Ok(("a:99999999999999999999".into(), None)));
    }
}
