//! Lists what is not known in a file of calls: one JSON object a line, `{"tool": "Bash", "command": "…"}`.
//!
//! `cargo run --release -p cru-action --example survey -- calls.jsonl [random N SEED]`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool for people who extend the tables"
)]

use std::collections::BTreeMap;
use std::time::Instant;

use cru_action::{Action, Class};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("the path of a file of calls");
    let text = std::fs::read_to_string(path).unwrap();
    let calls: Vec<(String, String)> = text.lines().filter_map(call).collect();
    let started = Instant::now();
    std::hint::black_box(Action::of("Bash", "ls"));
    let first = started.elapsed();
    let started = Instant::now();
    let actions: Vec<Action<'_>> = calls.iter().map(|(tool, args)| Action::of(tool, args)).collect();
    let cold = started.elapsed();
    let started = Instant::now();
    let actions: Vec<Action<'_>> =
        if actions.is_empty() { actions } else { calls.iter().map(|(tool, args)| Action::of(tool, args)).collect() };
    let bytes: usize = calls.iter().map(|(_, args)| args.len()).sum();
    println!("first call {first:?}; {} calls of {bytes} bytes {cold:?}, again {:?}", calls.len(), started.elapsed());
    if args.next().is_some() {
        sample(&actions, args.next(), args.next());
        return;
    }
    let (mut commands, mut known, mut whole, mut incomplete) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let mut classes: BTreeMap<Class, usize> = BTreeMap::new();
    for action in &actions {
        *classes.entry(action.class()).or_default() += 1;
        whole += usize::from(action.commands.iter().all(|command| command.class != Class::Unknown));
        incomplete += usize::from(!action.complete);
        for command in &action.commands {
            commands += 1;
            if command.class == Class::Unknown {
                let verb: String = command.words.get(1).map_or("", |word| word.as_ref()).chars().take(20).collect();
                *unknown.entry(format!("{} {verb}", command.program)).or_default() += 1;
            } else {
                known += 1;
            }
        }
    }
    println!("{known} of {commands} commands known; {whole} of {} calls whole; {incomplete} incomplete", actions.len());
    println!("{classes:?}");
    for action in actions.iter().filter(|action| !action.complete).take(40) {
        let text: String = action.args.chars().take(200).collect();
        println!("incomplete: {}", text.replace('\n', "⏎"));
    }
    let mut rows: Vec<_> = unknown.into_iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (name, count) in rows.iter().take(150) {
        println!("{count:5} {name:?}");
    }
}

fn call(line: &str) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let command = match value.get("command")? {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some((value.get("tool")?.as_str()?.to_owned(), command))
}

fn sample(actions: &[Action<'_>], count: Option<String>, seed: Option<String>) {
    let count: usize = count.and_then(|it| it.parse().ok()).unwrap_or(150);
    let mut state: u64 = seed.and_then(|it| it.parse().ok()).unwrap_or(1);
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(state >> 33).unwrap() % actions.len();
        let action = &actions[at];
        let text: String = action.args.chars().take(240).collect();
        println!("== {} ro={} {}", action.class().name(), action.is_read_only(), text.replace('\n', "⏎"));
        for command in action.commands.iter().take(8) {
            let hidden = command.hidden.map_or_else(String::new, |it| format!(" {it:?}"));
            let name: String = command.key().chars().take(40).collect();
            println!("     {:10} {} {:?}{hidden}", command.class.name(), name, command.check);
        }
    }
}
