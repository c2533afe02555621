//! The same trials for each row of the table.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::table::Row;
use super::world::{Ran, Tree, World};
use crate::running::writing::told;

/// Points of each kind that are tried by default.
const KILLS: u64 = 2;
const OTHERS: u64 = 1;

/// How many worlds there are at once.
const LANES: usize = 4;

/// What was tried of one row.
#[derive(Debug, Default)]
struct Tried {
    points: u64,
    windows: u64,
    runs: u64,
    saves: u64,
}

pub(super) fn run(rows: &'static [Row]) {
    let only = told("CRU_WRITER");
    let rows: Vec<&Row> =
        rows.iter().filter(|row| only.as_ref().is_none_or(|only| row.name.contains(only.as_str()))).collect();
    let (next, faults, lines) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..LANES.min(rows.len()) {
            scope.spawn(|| {
                let lane = tempfile::tempdir().unwrap();
                let world = World::new(lane.path());
                world.keep_as(&lane.path().join("first"));
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
                    world.go_back_to(&lane.path().join("first"));
                    let mut found = Vec::new();
                    let tried =
                        Trial { world: &world, row, args: Vec::new(), kept: &lane.path().join("row") }.all(&mut found);
                    lines.lock().unwrap().push(format!("{}: {tried:?}, {} faults", row.name, found.len()));
                    faults.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    println!("{}", lines.join("\n"));
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

struct Trial<'a> {
    world: &'a World,
    row: &'a Row,
    args: Vec<String>,
    kept: &'a Path,
}

impl Trial<'_> {
    fn all(mut self, faults: &mut Vec<String>) -> Tried {
        for &args in self.row.before {
            self.world.must(args, "");
        }
        let planted = self.world.plant();
        let input = (self.row.prepare)(self.world);
        // What is known only then.
        let known = |arg: &&str| if *arg == "ID" { self.world.read("id") } else { (*arg).to_owned() };
        self.args = self.row.args.iter().map(known).collect();
        self.world.keep_as(self.kept);
        let mut tried = Tried::default();
        let end = match self.undisturbed(&input, &mut tried) {
            Ok(end) => end,
            Err(fault) => {
                faults.push(fault);
                return tried;
            }
        };
        let most = told("CRU_KILLS").and_then(|kills| kills.parse().ok());
        for kind in ["kill", "torn", "full", "denied"] {
            let many = most.unwrap_or(if kind == "kill" { KILLS } else { OTHERS });
            for at in spread(tried.points, many, self.row.name, kind) {
                self.disturbed(&format!("{kind}:{at}"), &input, &planted, Some(&end), &mut tried, faults);
            }
        }
        for (number, window) in spread(tried.windows, most.unwrap_or(2), self.row.name, "save").into_iter().enumerate()
        {
            let how = if number % 2 == 0 { "save" } else { "append" };
            self.disturbed(&format!("{how}:{window}"), &input, &planted, None, &mut tried, faults);
        }
        for window in spread(tried.windows, most.unwrap_or(1), self.row.name, "both") {
            for at in spread(tried.points, most.unwrap_or(2), self.row.name, "saved and killed") {
                self.disturbed(&format!("save:{window},kill:{at}"), &input, &planted, None, &mut tried, faults);
            }
        }
        tried
    }

    fn run(&self, input: &str, vars: &[(&str, &str)]) -> Ran {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        self.world.cru(&args, input, vars)
    }

    /// What the files are after a run that nothing disturbs, and after what follows.
    fn undisturbed(&self, input: &str, tried: &mut Tried) -> Result<Tree, String> {
        let report = self.kept.with_file_name("report");
        let _ = cru::base::files::remove(&report);
        let fault = format!("kill:{}@{}", u64::MAX, std::process::id());
        let vars = [("CRU_FAULT", fault.as_str()), ("CRU_FAULT_REPORT", report.to_str().unwrap())];
        let before = self.world.tree();
        let ran = self.run(input, &vars);
        if !matches!(ran.code, Some(0 | 1)) {
            return Err(format!("{}: it does not run: {:?} {}", self.row.name, ran.code, ran.err));
        }
        let said = std::fs::read_to_string(&report).unwrap_or_default();
        let numbers: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[points, windows, ..] = numbers.as_slice() else {
            return Err(format!("{}: it reports nothing: {said:?}", self.row.name));
        };
        (tried.points, tried.windows) = (points, windows);
        if points == 0 || (self.row.changes && self.world.tree() == before) {
            return Err(format!("{}: it writes nothing: {}", self.row.name, ran.err));
        }
        self.follow(input).map(|()| self.world.tree())
    }

    /// The command once more, and what a person may run next.
    fn follow(&self, input: &str) -> Result<(), String> {
        let again = if self.row.again { Some(("again", self.run(input, &[]))) } else { None };
        let others = ["flush --all", "check"].map(|args| {
            let words: Vec<&str> = args.split(' ').collect();
            (args, self.world.cru(&words, "", &[]))
        });
        for (args, ran) in again.into_iter().chain(others) {
            if !matches!(ran.code, Some(0..=3)) || ran.err.contains("panicked") {
                return Err(format!("{}: afterwards {args} ends with {:?}: {}", self.row.name, ran.code, ran.err));
            }
        }
        Ok(())
    }

    fn disturbed(
        &self,
        fault: &str,
        input: &str,
        planted: &BTreeSet<String>,
        end: Option<&Tree>,
        tried: &mut Tried,
        faults: &mut Vec<String>,
    ) {
        let name = format!("{}, {fault}", self.row.name);
        self.world.go_back_to(self.kept);
        tried.runs += 1;
        let armed = format!("{fault}@{}", std::process::id());
        let ran = self.run(input, &[("CRU_FAULT", &armed)]);
        if ran.err.contains("panicked") || !matches!(ran.code, None | Some(0..=3)) {
            faults.push(format!("{name}: it ends with {:?}: {}", ran.code, ran.err));
        }
        // A restore says of each file what became of it, on its stdout.
        let says_itself = self.row.name.starts_with("checkpoint restore");
        if matches!(ran.code, Some(2 | 3)) && !ran.err.contains("error:") && !says_itself {
            faults.push(format!("{name}: it fails without a word: {}", ran.err));
        }
        let saved = self.world.saved();
        tried.saves += saved.len() as u64;
        self.world.age();
        if let Err(fault) = self.follow(input) {
            faults.push(format!("{name}: {fault}"));
        }
        let tree = self.world.tree();
        let has = |word: &String| tree.values().any(|text| text.contains(word.as_str()));
        let lost: Vec<&String> = planted.iter().chain(&saved).filter(|word| !has(word)).collect();
        if !lost.is_empty() {
            faults.push(format!("{name}: lost {lost:?}; temporary: {:?}", self.world.temporary()));
        }
        let left = self.world.temporary();
        if !left.is_empty() {
            faults.push(format!("{name}: left {left:?}"));
        }
        if let Some(end) = end.filter(|_| self.row.same) {
            let other: Vec<String> = differences(end, &tree);
            if !other.is_empty() {
                faults.push(format!("{name}: another end: {other:?}"));
            }
        }
    }
}

/// Files that are not the same at two ends. How often a note was written is no part of what it says.
fn differences(one: &Tree, other: &Tree) -> Vec<String> {
    let plain = |text: &String| {
        text.lines().filter(|line| !line.starts_with("cru_cursor:")).map(str::to_owned).collect::<Vec<String>>()
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differs = |name: &&&String| one.get(**name).map(plain) != other.get(**name).map(plain);
    let first = |name: &String| {
        let (one, other) = (one.get(name).map(plain), other.get(name).map(plain));
        let (Some(one), Some(other)) = (&one, &other) else {
            return format!("{name}: {} there", if one.is_some() { "not" } else { "it is" });
        };
        let at = one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()));
        format!("{name}: {:?} is {:?}", one.get(at), other.get(at))
    };
    names.iter().filter(differs).map(|name| first(name)).collect()
}

/// At most `many` of the points from 1 on, evenly spread; which of them depends on what is tried.
fn spread(points: u64, many: u64, row: &str, kind: &str) -> Vec<u64> {
    if many >= points {
        return (1..=points).collect();
    }
    let seed = blake3::hash(format!("{row} {kind}").as_bytes());
    let seed = u64::from_le_bytes(seed.as_bytes()[..8].try_into().unwrap());
    (0..many).map(|number| 1 + (points * number / many + seed % (points / many).max(1)) % points).collect()
}
