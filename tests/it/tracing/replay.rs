//! `cru replay`: what was run once runs again, in order and with consent.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use super::world::TraceLab;

const DAY1: &str = "2026-11-21-samples";
const DAY2: &str = "2026-11-22-samples";

/// The commands of both days, as patterns of the user's own configuration.
const ALLOW: &[&str] = &["sort samples.csv -o *", "sh upper.sh *", "sh names.sh *", "cat *", "false", "true"];

/// A day on which samples were sorted, written in capitals, and their names cut out.
fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("samples.csv", "b,2\na,1\n");
    lab.write("upper.sh", "tr a-z A-Z < \"$1\" > \"$2\"\n");
    lab.write("names.sh", "cut -d, -f1 \"$1\" > \"$2\"\n");
    lab.commit("2026-11-19T08:00:00Z", "Samples");
    lab.begin(DAY1);
    for text in
        ["sort samples.csv -o sorted.csv", "sh upper.sh sorted.csv upper.csv", "sh names.sh upper.csv names.txt"]
    {
        let words = ["run", "--"].into_iter().chain(text.split(' ')).collect::<Vec<_>>();
        let ran = lab.cru(&words);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    lab.end(DAY1);
    lab.begin(DAY2);
    lab.allow(ALLOW);
    lab
}

#[test]
fn two_days_of_samples() {
    let lab = lab();
    assert_eq!(lab.cru(&["bookmark", "baseline", &format!("{DAY1}#n-003")]).code, 0);
    assert_eq!(lab.cru(&["stale"]).out, "");
    let first = lab.note_text(DAY1);
    lab.write("samples.csv", "b,2\na,1\nc,3\n");
    let ran = lab.cru(&["stale"]);
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{ran:?}");
    assert!(lines[0].starts_with(&format!("{DAY1}#n-001  input changed: samples.csv (")), "{ran:?}");
    assert_eq!(lines[1], format!("{DAY1}#n-002  depends on stale: n-001  (run)"));
    assert_eq!(lines[2], format!("{DAY1}#n-003  depends on stale: n-001  (bookmark baseline)"));

    let plan = lab.cru(&["replay", "--stale"]);
    assert_eq!(plan.code, 1, "{plan:?}");
    assert!(plan.out.contains("input changed: samples.csv"), "{}", plan.out);
    assert!(plan.out.contains(&format!("depends on {DAY1}#n-001")), "{}", plan.out);
    assert_eq!(lab.cru(&["refresh"]).out, plan.out);

    let ran = lab.cru(&["replay", "--stale", "--run"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.ends_with("3 steps appended\n"), "{}", ran.out);
    assert_eq!(lab.read("names.txt"), "A\nB\nC\n");
    assert_eq!(lab.note_text(DAY1), first, "what was is as it was");
    let second = lab.note_text(DAY2);
    for at in 1..=3 {
        assert!(second.contains(&format!("- replays: [[{DAY1}#^n-00{at}]]")), "{second}");
    }
    let ran = lab.cru(&["stale"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    // What was run again is what changes next.
    lab.write("samples.csv", "b,2\n");
    assert!(lab.cru(&["stale"]).out.starts_with(&format!("{DAY2}#n-001  input changed")), "{:?}", lab.cru(&["stale"]));
}

#[test]
fn equal_output_stops_the_chain() {
    let lab = lab();
    // Sorted, it is the same.
    lab.write("samples.csv", "a,1\nb,2\n");
    let ran = lab.cru(&["replay", "--stale", "--run"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(&format!("{DAY1}#n-001 → {DAY2}#n-001  equal")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{DAY1}#n-002  unchanged")), "{}", ran.out);
    assert!(ran.out.ends_with("1 step appended\n"), "{}", ran.out);
    assert_eq!(lab.cru(&["stale"]).out, "");
}

#[test]
fn a_failure_stops_its_branch_and_names_the_range() {
    let lab = lab();
    lab.write("samples.csv", "b,2\n");
    std::fs::remove_file(lab.path("home/code/sorted.csv")).unwrap();
    std::fs::create_dir(lab.path("home/code/sorted.csv")).unwrap();
    let ran = lab.cru(&["replay", "--stale", "--run"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains(&format!("{DAY1}#n-001 → {DAY2}#n-001  failed")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{DAY1}#n-002  waits  for {DAY1}#n-001")), "{}", ran.out);
    assert!(ran.out.contains(&format!("go on with: cru replay {DAY1}#n-001..n-003 --run")), "{}", ran.out);
    let ran = lab.cru(&["replay", "--stale", "--run", "--skip-failed"]);
    assert!(!ran.out.contains("waits"), "{}", ran.out);
    // A run that failed replaces nothing.
    assert!(lab.cru(&["stale"]).out.contains(&format!("{DAY1}#n-001")));
}

#[test]
fn comparing_touches_nothing() {
    let lab = lab();
    let note = lab.note_text(DAY2);
    let range = format!("{DAY1}#n-001..n-003");
    let ran = lab.cru(&["replay", &range, "--compare"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out.lines().filter(|line| line.contains("  equal  ")).count(), 3, "{}", ran.out);
    // Not committed, and all the same what runs.
    lab.write("samples.csv", "z,26\n");
    let ran = lab.cru(&["replay", &range, "--compare"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("different  names.txt ("), "{}", ran.out);
    assert_eq!((lab.read("names.txt").as_str(), lab.note_text(DAY2)), ("A\nB\n", note));
    let left = std::fs::read_dir(lab.path("cache/cru/scratch")).unwrap().count();
    assert_eq!((left, lab.git(&["worktree", "list"]).lines().count()), (0, 1), "the copy is gone");
}

#[test]
fn an_output_is_shown_and_compared() {
    let lab = lab();
    lab.cru(&["run", "cat", "samples.csv"]);
    let ran = lab.cru(&["replay", "^"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("from evidence/") && ran.out.ends_with("b,2\na,1\n"), "{}", ran.out);
    assert_eq!(lab.cru(&["replay", "^", "--compare"]).code, 0);
    lab.write("samples.csv", "b,2\na,7\n");
    let ran = lab.cru(&["replay", "^", "--compare"]);
    assert!(ran.code == 1 && ran.out.contains("-a,1") && ran.out.contains("+a,7"), "{}", ran.out);
    let full = lab.cru(&["step", "show", "n-001", "--full"]);
    assert!(full.out.contains("b,2\na,1"), "{full:?}");
}

#[test]
fn a_copy_can_be_run_in_and_the_step_is_of_the_project() {
    let lab = lab();
    lab.write("samples.csv", "z,26\n");
    let ran = lab.cru(&["replay", &format!("{DAY1}#n-001"), "--run", "--in", "scratch"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(lab.read("sorted.csv"), "a,1\nb,2\n");
    let note = lab.note_text(DAY2);
    assert!(note.contains("- writes: `sorted.csv@") && !note.contains("scratch"), "{note}");
}

#[test]
fn what_only_an_agent_can_redo_is_a_brief() {
    let lab = lab();
    let text = lab.note_text(DAY1);
    lab.put_note(
        DAY1,
        &format!(
            "{}\n- `Edit report.md` → `+1 −0` (11:30:00) ^n-004\n    - reads: `names.txt@{}`\n",
            text.trim_end(),
            "0".repeat(8)
        ),
    );
    let ran = lab.cru(&["bookmark", "report", &format!("{DAY1}#n-004")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = lab.cru(&["replay", "--stale", "--brief"]);
    assert!(
        ran.out.contains(&format!("## {DAY1}#n-004")) && ran.out.contains("Normalise the samples."),
        "{ran:?} {}",
        lab.note_text(DAY1)
    );
    let ran = lab.cru(&["replay", "--stale", "--run"]);
    assert!(ran.out.contains("only an agent can redo it"), "{}", ran.out);
    let ran = lab.cru(&["replay", &format!("{DAY1}#n-004"), "--run"]);
    assert!(ran.code == 1 && ran.err.contains("only an agent can redo it"), "{ran:?}");
}

#[test]
fn history_marks_what_is_stale() {
    let lab = lab();
    lab.write("samples.csv", "z,26\n");
    let ran = lab.cru(&["history"]);
    assert!(ran.out.contains("stale: input changed: samples.csv"), "{}", ran.out);
    assert!(ran.out.contains("stale: depends on stale: n-001"), "{}", ran.out);
}

#[test]
fn accepted_lessons_and_workflows_are_kept() {
    let lab = lab();
    lab.write("samples.csv", "z,26\n");
    std::fs::create_dir_all(lab.path("vault/workflows")).unwrap();
    std::fs::write(
        lab.path("vault/workflows/names.md"),
        format!("---\ntype: workflow\n---\n# Names\n\n## Cut @coder\n\nFrom [[{DAY1}#^n-003]].\n"),
    )
    .unwrap();
    let ran = lab.cru(&["stale"]);
    assert!(ran.out.contains("(workflow names)"), "{}", ran.out);
}

#[test]
fn references_that_are_none() {
    let lab = lab();
    for (args, code) in [
        (&["replay"][..], 2),
        (&["replay", "n-009"], 1),
        (&["replay", "n-001", "--stale"], 2),
        (&["replay", "n-001", "--run", "--compare"], 2),
        (&["replay", &format!("{DAY1}#n-003..n-001")], 2),
        (&["replay", &format!("{DAY1}#n-001"), "--run", "--in", "moon"], 2),
    ] {
        assert_eq!(lab.cru(args).code, code, "{args:?}");
    }
}
