//! Every command that fills a region of a page, with words of a person at every place of it.

use rayon::prelude::*;

use crate::small_vault::SmallVault;

/// A command that fills a region.
struct RegionWriter {
    args: &'static [&'static str],
    page: &'static str,
    name: &'static str,
}

const WRITERS: &[RegionWriter] = &[
    RegionWriter { args: &["summary", "day", "2026-11-20", "--write"], page: "vault/Daily/2026-11-20.md", name: "day" },
    RegionWriter {
        args: &["summary", "week", "2026-11-20", "--write"],
        page: "vault/summaries/2026-W47.md",
        name: "week",
    },
    RegionWriter { args: &["summary", "topic", "#pump", "--write"], page: "vault/summaries/pump.md", name: "topic" },
    RegionWriter { args: &["review", "--write"], page: "vault/review.md", name: "review" },
    RegionWriter { args: &["verify", "early", "--write"], page: "vault/sessions/early.md", name: "verify" },
    RegionWriter { args: &["flush", "--all"], page: "vault/projects/cellar.md", name: "open-tasks" },
    RegionWriter { args: &["flush", "--all"], page: "vault/projects/cellar.md", name: "decisions" },
    RegionWriter { args: &["flush", "--all"], page: "vault/projects/cellar.md", name: "sessions" },
    RegionWriter { args: &["lessons", "apply", "--yes", "--all-projects"], page: "code/AGENTS.md", name: "lessons" },
];

fn session(id: &str, day: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: Work of {id}\nstatus: completed\nstarted: {day}T09:00:00Z\nproject: ~/code\n\
         tags:\n  - pump\n---\n# Work of {id}\n\n## Mend the pump @coder #dev\n\n*{day}T09:00:00Z* ^p-01\n\n\
         > [!user]\n> \"Mend the pump of {id}.\"\n\n^u-01\n\n- `Edit {id}.c` → ok (09:01:00) ^n-001\n    - writes: `{id}.c`\n\n\
         > [!decision] The valve of {id}\n> Why: it is in stock\n\n^d-01\n\n\
         **Tasks:**\n- [ ] Paint {id} ^task-1\n\n> [!question] Who pays for {id}?\n\n^q-001\n"
    )
}

fn lesson(id: &str, status: &str) -> String {
    format!(
        "---\ntype: lesson\ntitle: Keep {id} dry\nlesson_id: {id}\nlevel: project\nconfidence: high\nstatus: {status}\n---\n\
         # Keep {id} dry\n\n- Evidence: [[early#^u-01]]\n"
    )
}

impl RegionWriter {
    fn world() -> SmallVault {
        let world = SmallVault::new("[summary]\ndaily = \"Daily/{date}.md\"\n");
        world.put("vault/sessions/early.md", &session("early", "2026-11-20"));
        world.put("vault/sessions/late.md", &session("late", "2026-11-20"));
        world.put("vault/lessons/brass.md", &lesson("brass", "accepted"));
        world.put("vault/lessons/steel.md", &lesson("steel", "accepted"));
        world.put("vault/lessons/zinc.md", &lesson("zinc", "proposed"));
        world.put("code/early.c", "int x;\n");
        let region = |name: &str| format!("\n## {name}\n\n<!-- cru:begin {name} -->\n<!-- cru:end -->\n");
        let regions = ["open-tasks", "decisions", "sessions"].map(region).concat();
        world.put(
            "vault/projects/cellar.md",
            &format!("---\ntype: project\nfolders:\n  - ~/code\n---\n# Cellar\n{regions}"),
        );
        world
    }

    fn write(&self, world: &SmallVault) -> String {
        world.run_in("code", self.args, "");
        world.read(self.page)
    }

    /// What the regions tell of becomes something else.
    fn grow(world: &SmallVault) {
        world.put("vault/sessions/third.md", &session("third", "2026-11-20"));
        world.put("vault/lessons/copper.md", &lesson("copper", "accepted"));
        world.put("vault/lessons/tin.md", &lesson("tin", "proposed"));
        world.put("code/early.c", "int y;\n");
        let early = world.read("vault/sessions/early.md");
        world.put("vault/sessions/early.md", &early.replace("→ ok (09:01:00)", "→ failed (09:01:30)"));
    }
}

/// Where the region's lines begin and end.
fn inside(text: &str, name: &str) -> (usize, usize) {
    let begin = text.find(&format!("<!-- cru:begin {name} ")).unwrap_or_else(|| panic!("{name} in {text}"));
    let begin = begin + text[begin..].find('\n').unwrap() + 1;
    (begin, begin + text[begin..].find("<!-- cru:end").unwrap())
}

const WORDS: &str = "MINE call Ann";

/// The page with words of a person at a place of the region.
fn planted(text: &str, name: &str, place: &str) -> String {
    let (begin, end) = inside(text, name);
    let mut lines: Vec<String> = text[begin..end].lines().map(str::to_owned).collect();
    let filled: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].chars().any(char::is_alphanumeric)).collect();
    assert!(!filled.is_empty(), "{name} is empty: {text}");
    let middle = filled[filled.len() / 2];
    match place {
        "first" => lines.insert(0, WORDS.to_owned()),
        "middle" => lines.insert(middle + 1, WORDS.to_owned()),
        "item" => lines.insert(middle + 1, format!("- [ ] {WORDS}")),
        "last" => lines.push(WORDS.to_owned()),
        "block" => lines.push(format!("\n> {WORDS}\n> and more\n")),
        "edited" => {
            // Behind the words, and before an id that a command reads.
            let line = &lines[middle];
            let at = line.rfind(" %%").unwrap_or(line.trim_end_matches([' ', '|']).len());
            lines[middle] = format!("{} {WORDS}{}", &line[..at], &line[at..]);
        }
        "begun" => {
            let at = lines[middle].find(char::is_alphanumeric).unwrap();
            lines[middle].insert_str(at, &format!("{WORDS}: "));
        }
        "deleted" => {
            WORDS.clone_into(&mut lines[middle]);
        }
        "formatted" => lines.iter_mut().for_each(|line| line.push_str("  ")),
        _ => unreachable!("{place}"),
    }
    format!("{}{}\n{}", &text[..begin], lines.join("\n"), &text[end..])
}

/// Without the seal in the mark, as an earlier version wrote it.
fn without_seal(text: &str, name: &str) -> String {
    let (begin, _) = inside(text, name);
    let mark = text[..begin].trim_end();
    let seal = mark[..mark.len() - 4].rsplit(' ').next().unwrap();
    format!("{} -->{}", &mark[..mark.len() - 5 - seal.len()], &text[mark.len()..])
}

const PLACES: [&str; 9] = ["first", "middle", "item", "last", "block", "edited", "begun", "deleted", "formatted"];

/// Plants, writes, has the page tell of other things, and writes again: the words stand there once, whenever it is looked at.
fn words_stay(writer: &RegionWriter, plain: &str, place: &str, form: &str, grows_first: bool) {
    let (name, page) = (writer.name, writer.page);
    let world = RegionWriter::world();
    writer.write(&world);
    let mut text = planted(&world.read(page), name, place);
    match form {
        "crlf" => text = text.replace('\n', "\r\n"),
        "no seal" => text = without_seal(&text, name),
        "nothing remembered" => cru::base::files::rename(&world.path("vault/.cru/seals"), &world.path("gone")).unwrap(),
        _ => {}
    }
    world.put(page, &text);
    if grows_first {
        RegionWriter::grow(&world);
    }
    let what = format!("{name}, {place}, {form}");
    let after = writer.write(&world);
    let count = usize::from(place != "formatted");
    assert_eq!(after.matches(WORDS).count(), count, "{what}\n{text}\n--- became\n{after}");
    assert_eq!(writer.write(&world), after, "{what}: a second time writes something");
    assert!(form != "crlf" || !after.replace("\r\n", "").contains('\n'), "{what}: {after:?}");
    if !grows_first {
        RegionWriter::grow(&world);
    }
    let later = writer.write(&world);
    assert_eq!(later.matches(WORDS).count(), count, "{what}, later\n{after}\n--- became\n{later}");
    if form.is_empty() && count == 1 && name != "review" {
        let (begin, end) = inside(&later, name);
        assert!(!later[begin..end].contains(WORDS), "{what}: it stays inside\n{later}");
        assert_eq!(later.matches("cru:begin").count(), plain.matches("cru:begin").count(), "{what}\n{later}");
    }
}

#[test]
fn words_of_a_person_in_a_region_are_kept_once() {
    WRITERS.par_iter().for_each(|writer| {
        let plain = writer.write(&RegionWriter::world());
        for (round, place) in PLACES.into_iter().enumerate() {
            words_stay(writer, &plain, place, "", round % 2 == 0);
        }
        for (round, form) in ["crlf", "no seal", "nothing remembered"].into_iter().enumerate() {
            words_stay(writer, &plain, PLACES[1 + round], form, false);
            words_stay(writer, &plain, PLACES[7 - round], form, true);
        }
    });
}

/// Marks that a person broke: the page stays byte for byte, and a command that was asked to write says so.
#[test]
fn broken_marks_are_left_and_said() {
    for writer in WRITERS {
        let world = RegionWriter::world();
        let plain = writer.write(&world);
        let begin = format!("<!-- cru:begin {} ", writer.name);
        let (_, end) = inside(&plain, writer.name);
        let without_end = format!("{}MINE{}", &plain[..end], &plain[end + "<!-- cru:end -->".len()..]);
        let last = without_end.find(&begin).unwrap();
        // Another region behind it must not lend its end.
        let without_end =
            without_end[..without_end[last..].find("\n## ").map_or(without_end.len(), |at| last + at)].to_owned();
        let twice = format!("{plain}\n{begin}-->\nMINE\n<!-- cru:end -->\n");
        let beside = plain.replacen(&begin, &format!("{begin}--> MINE "), 1);
        let fenced = plain.replacen(
            "<!-- cru:end -->",
            "```\nMINE\n<!-- cru:end -->",
            plain[..end].matches("cru:end").count() + 1,
        );
        for text in [without_end, twice, beside, fenced] {
            world.put(writer.page, &text);
            RegionWriter::grow(&world);
            let told = world.run_in("code", writer.args, "");
            let after = world.read(writer.page);
            assert_eq!(after.matches("MINE").count(), text.matches("MINE").count(), "{}\n{after}", writer.name);
            if writer.args[0] != "flush" {
                assert!(!told.status.success(), "{}: {told:?}", writer.name);
                assert_eq!(after.replace("failed (09:01:30)", "ok (09:01:00)"), text, "{}", writer.name);
            }
        }
    }
}

#[test]
fn a_page_without_a_region_keeps_how_its_lines_end() {
    for (old, end) in [("\u{feff}# A\r\n\r\nmine\r\n", "\r\n"), ("# A\r\n\r\nmine", "\r\n"), ("# A\n\nmine", "\n")] {
        for writer in
            WRITERS.iter().filter(|writer| !["projects", "sessions"].iter().any(|it| writer.page.contains(it)))
        {
            let world = RegionWriter::world();
            world.put(writer.page, old);
            let first = writer.write(&world);
            assert!(first.starts_with(old), "{}: {first:?}", writer.name);
            assert_eq!(first.matches('\n').count(), first.matches(end).count(), "{}: {first:?}", writer.name);
            assert_eq!(first.ends_with('\n'), old.ends_with('\n'), "{}: {first:?}", writer.name);
            assert_eq!(writer.write(&world), first, "{}", writer.name);
        }
    }
}

/// What a killed command left, the next one makes up for, whatever that one writes itself.
#[test]
fn pages_are_brought_up_to_date_after_a_kill() {
    let project = &WRITERS[7];
    let world = RegionWriter::world();
    let empty = world.read(project.page);
    world.ok(&["flush", "--all"]);
    let full = world.read(project.page);
    assert!(full.contains("[[early|Work of early]]") && full.contains("Paint late"), "{full}");
    let states = std::fs::read_dir(world.path(".local/state/cru")).unwrap().map(|it| it.unwrap().path());
    let mark = states.map(|state| state.join("pages")).find(|mark| mark.is_file()).unwrap();
    for args in [
        &["session", "start", "Next"][..],
        &["import", "--all"],
        &["flush", "--all"],
        &["session", "mark", "completed"],
    ] {
        world.put(project.page, &empty);
        cru::base::files::put(&mark, b"waits 2026-11-20").unwrap();
        let _ = cru::base::files::remove(&world.path("vault/Daily/2026-11-20.md"));
        world.run_in("code", args, "");
        let after = world.read(project.page);
        assert!(after.contains("[[early|Work of early]]") && after.contains("Paint late"), "{args:?}: {after}");
        assert!(world.read("vault/Daily/2026-11-20.md").contains("Work of late"), "{args:?}");
        assert!(!std::fs::read_to_string(&mark).unwrap().contains("waits"), "{args:?}");
    }
    // With no mark at all, such as where the state is lost: what stands there is compared with what should.
    world.put(project.page, &empty);
    world.ok(&["flush", "--all"]);
    assert!(world.read(project.page).contains("Paint late"));
}
