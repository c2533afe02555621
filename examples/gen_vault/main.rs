//! Makes a vault of any size: `cargo run --release --example gen_vault -- DIR [--sessions N] [--seed S]
//! [--steps-per-session M] [--from VAULT]`.
//!
//! Ten thousand sessions are about 300 MB and a million steps. With `--from`, the sessions of that vault (imported from
//! transcripts, say) are written again and again under other names and on other days.

#![expect(clippy::print_stdout, reason = "an example talks to a terminal")]

use std::error::Error;
use std::path::PathBuf;

#[allow(dead_code, reason = "shared with benches and tests, each of which uses a part")]
mod generate;

use generate::{Recipe, Sources};

const USAGE: &str = "gen_vault DIR [--sessions N] [--seed S] [--steps-per-session M] [--from VAULT]";

fn main() -> Result<(), Box<dyn Error>> {
    let (mut recipe, mut place, mut from) = (Recipe::default(), None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--sessions" => recipe.sessions = value()?.parse()?,
            "--seed" => recipe.seed = value()?.parse()?,
            "--steps-per-session" => recipe.steps = value()?.parse()?,
            "--from" => from = Some(PathBuf::from(value()?)),
            _ if arg.starts_with('-') || place.is_some() => return Err(USAGE.into()),
            _ => place = Some(PathBuf::from(arg)),
        }
    }
    let place = place.ok_or(USAGE)?;
    if recipe.steps == 0 {
        return Err("a session has at least one step on average".into());
    }
    if place.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty", place.display()).into());
    }
    let made = match from {
        None => recipe.write(&place)?,
        Some(from) => {
            let sources = Sources::read(&from)?;
            if sources.is_empty() {
                return Err(format!("{} holds no session", from.display()).into());
            }
            generate::write_again(&sources, recipe.sessions, &place)?
        }
    };
    println!("{}: {} notes, {:.1} MB", place.display(), made.notes, made.bytes as f64 / 1e6);
    let all: usize = made.kinds.iter().sum();
    if all > 0 {
        let share = |at: usize| made.kinds[at] as f64 * 100.0 / all as f64;
        println!(
            "steps {:.0} %, nested {:.0} %, prose {:.0} %, user {:.0} %, callouts {:.0} %, rest {:.0} %",
            share(0),
            share(1),
            share(2),
            share(3),
            share(4),
            share(5)
        );
    }
    Ok(())
}
