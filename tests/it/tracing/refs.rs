//! References, bookmarks, `cru resolve` and `cru deps`.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;

use super::world::TraceLab;

const ID: &str = "2026-11-20-tides";

/// A diamond: n-002 and n-003 on n-001, n-004 on both.
fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.note(
        ID,
        "",
        "- `Bash make` → `ok` (09:00:10) ^n-001\n    - writes: `data.csv`\n\
         - `Bash sort` → `ok` (09:01:00) ^n-002\n    - reads: `data.csv`\n    - writes: `sorted.csv`\n\
         - `Bash uniq` → `ok` (09:02:00) ^n-003\n    - reads: `data.csv`\n    - writes: `unique.csv`\n\
         - `Bash join` → `ok` (09:03:00) ^n-004\n    - reads: `sorted.csv`, `unique.csv`\n    - writes: `all.csv`\n    - node: `n_17`\n\
         - `Bash date` → `ok` (09:04:00) ^n-005\n",
    );
    lab
}

#[track_caller]
fn prints(lab: &TraceLab, args: &[&str], code: i32, out: &str) {
    let ran = lab.cru(args);
    assert_eq!((ran.code, ran.out.as_str()), (code, out), "{args:?} {}", ran.err);
}

#[track_caller]
fn fails(lab: &TraceLab, args: &[&str], code: i32, words: &[&str]) {
    let ran = lab.cru(args);
    assert_eq!(ran.code, code, "{args:?} {ran:?}");
    for words in words {
        assert!(ran.err.contains(words), "{args:?} wants {words}: {}", ran.err);
    }
}

#[test]
fn all_forms_resolve() {
    let lab = lab();
    for reference in
        ["n-004", "^2", "4", "n_17", "N-004", "tides#n-004", "tides:n-004", "[[2026-11-20-tides#^n-004]]", "@n-004"]
    {
        prints(&lab, &["resolve", reference], 0, "all.csv\n");
        let shown = lab.cru(&["step", "show", reference, "-f", "json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(shown["step"]["id"], "n-004", "{reference}");
    }
    let shown = lab.cru(&["step", "show", "n-001..n-002", "^", "tides"]).out;
    assert!(
        shown.matches("Heights").count() == 3 && shown.contains("n-002  Bash") && shown.contains("date"),
        "{shown}"
    );
    fails(&lab, &["step", "show", "@unique.csv"], 2, &["is the file unique.csv and no step"]);
    fails(&lab, &["step", "show", "p-01"], 2, &["tides#p-01 is no step"]);
    fails(&lab, &["step", "show", "n-003..n-001"], 2, &["ends before it begins"]);
    fails(&lab, &["step", "show", "n-001", "nosuch"], 2, &["no session 'nosuch'"]);
    prints(&lab, &["resolve", "n-001..n-003"], 0, "data.csv\nsorted.csv\nunique.csv\n");
    prints(&lab, &["resolve", "tides#n-001..n-002", "n-004"], 0, "data.csv\nsorted.csv\nall.csv\n");
    prints(&lab, &["resolve", "@unique.csv"], 0, "unique.csv\n");
    fails(&lab, &["resolve", "^"], 1, &["n-005 reads and writes no file", "cru show"]);
    fails(&lab, &["resolve", "^9"], 1, &["has 5 steps"]);
    fails(&lab, &["resolve", "n-099"], 1, &["no step n-099", "n-001 … n-005"]);
    fails(&lab, &["resolve", "n-003..n-001"], 2, &["ends before it begins", "write n-001..n-003"]);
    fails(&lab, &["resolve", "@"], 2, &["invalid reference", "SESSION#n-014"]);
    fails(&lab, &["resolve", "@nothing"], 1, &["nothing is called `@nothing`"]);
    fails(&lab, &["resolve", "cp:latest"], 1, &["has no checkpoint"]);
    fails(&lab, &["resolve", "nosuch#n-001"], 2, &["no session 'nosuch'"]);
}

#[test]
fn bookmarks_are_named_followed_and_removed() {
    let lab = lab();
    prints(&lab, &["list", "bookmarks", "-q"], 1, "");
    fails(&lab, &["bookmark"], 2, &["which name?", "cru list bookmarks"]);
    prints(&lab, &["bookmark", "all data", "^2"], 0, "Bookmarked n-004 as \"all data\"\n");
    let file = lab.path("vault/bookmarks.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Bookmarks\n\n- all data: [[2026-11-20-tides#^n-004]]\n");
    prints(&lab, &["resolve", "@All Data"], 0, "all.csv\n");
    let listed = "all data,2026-11-20-tides#^n-004,Bash join\n";
    let columns = ["-f", "csv", "--columns", "name,target,leads_to"];
    prints(&lab, &[&["list", "bookmarks"][..], &columns].concat(), 0, &format!("name,target,leads_to\n{listed}"));
    prints(&lab, &[&["bookmark", "--list"][..], &columns].concat(), 0, &format!("name,target,leads_to\n{listed}"));
    fails(&lab, &["bookmark", "all data", "n-001"], 2, &["the bookmark \"all data\" exists", "--remove 'all data'"]);
    fails(&lab, &["bookmark", "a]]b", "n-001"], 2, &["cannot be a name"]);
    prints(&lab, &["bookmark", "data.csv", "n-002"], 0, "Bookmarked n-002 as \"data.csv\"\n");
    fails(
        &lab,
        &["resolve", "@data.csv"],
        2,
        &["ambiguous", "the bookmark of 2026-11-20-tides#n-002", "the file data.csv"],
    );
    // One that leads nowhere says where it led.
    fs::write(&file, "# Mine\n\nWords.\n\n- gone: [[2026-11-20-tides#^n-099]]\n\nMore words.\n").unwrap();
    fails(&lab, &["resolve", "@gone"], 1, &["pointed at [[2026-11-20-tides#^n-099]]", "--remove 'gone'"]);
    let ran = lab.cru(&["list", "bookmarks"]);
    assert!(ran.out.contains("gone ") && ran.out.contains("there is no `^n-099`"), "{ran:?}");
    let ran = lab.cru(&["stale"]);
    assert!(ran.code == 0 && ran.err.contains("\"gone\" leads nowhere"), "{ran:?}");
    let double =
        "- gone: [[2026-11-20-tides#^n-099]]\n- a: [[2026-11-20-tides#^n-001]]\n- A: [[2026-11-20-tides#^n-002]]\n";
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, double).unwrap();
    let ran = lab.cru(&["check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("error[duplicate-bookmark]: the bookmark \"A\" stands twice"), "{}", ran.out);
    assert!(ran.out.contains("warning[dangling-bookmark]: there is no `^n-099`"), "{}", ran.out);
    fs::write(&file, kept).unwrap();
    prints(&lab, &["bookmark", "--remove", "gone"], 0, "Removed \"gone\", which named n-099\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Mine\n\nWords.\n\n\nMore words.\n");
    fails(&lab, &["bookmark", "--remove", "gone"], 1, &["no bookmark `gone`"]);
}

#[test]
fn callouts_of_imports_are_bookmarks() {
    let lab = lab();
    let text = lab.note_text(ID) + "\n> [!bookmark] The join\n> [[#^n-004]]\n\n^b-01\n";
    lab.put_note(ID, &text);
    prints(&lab, &["resolve", "@the join"], 0, "all.csv\n");
}

#[test]
fn dependencies_in_a_diamond() {
    let lab = lab();
    prints(
        &lab,
        &["deps", "n-004"],
        0,
        "  -2  2026-11-20-tides#n-001  root   Bash make\n  \
           -1  2026-11-20-tides#n-002         Bash sort\n  \
           -1  2026-11-20-tides#n-003         Bash uniq\n   \
            0  2026-11-20-tides#n-004  leaf   Bash join\n",
    );
    let ran = lab.cru(&["deps", "n-001", "--down", "--depth", "1", "-f", "json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let found: Vec<(&str, i64)> = value["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["reference"].as_str().unwrap(), row["depth"].as_i64().unwrap()))
        .collect();
    let name = |step: &str| format!("{ID}#{step}");
    assert_eq!(found, [(name("n-001").as_str(), 0), (name("n-002").as_str(), 1), (name("n-003").as_str(), 1)]);
    let ran = lab.cru(&["deps", "sorted.csv", "--up"]);
    assert_eq!(ran.out.lines().count(), 4, "{}", ran.out);
    fails(&lab, &["deps", "none.csv"], 1, &["no step reads or writes `none.csv`", "cru files"]);
    fails(&lab, &["deps", "n-099"], 1, &["no step n-099"]);
    fails(&lab, &["deps", "n-001..n-002"], 2, &["is a range"]);
}
