//! Workflows from the outside: deviations written into a note, an agent that is a real program, several sessions.

use std::path::Path;

use crate::small_vault::SmallVault;
use crate::transcript_set::{TranscriptSet, on_both_sets};
use cru::import::IMPORTERS;
use cru::note::Note;
use cru::session::{Item, read};
use cru::sync::import::{Options as Ingest, Unwatched, ingest};
use cru::workflow::conform::{Kind, conform};
use cru::workflow::export::graph::ArrowKind;
use cru::workflow::{Dialect, Options, Part, RemarkKind, Workflow, codify, parse, recipe, render, render_as, validate};

const WORKFLOW: &str = "---\ntype: workflow\ntitle: Import\n---\n# Import\n\n## Plan the import @planner #dev\n\nrequest → plan.md\n\n\
    ## Parse the stations @coder #dev\n\nplan.md → stations.json\n\n## Write the report @writer #dev\n\nstations.json → report.md\n\n\
    ## Validation\n\n- `cargo test` — passes\n";

/// Odd on purpose: trailing blanks, a tab, a person's own remark, no newline at the end.
const SESSION: &str = "---\ntype: session\nsession_id: s1\nstatus:   completed   # mine\n---\n# Import\n\n## Plan the import @planner #dev\n\n\
    *2026-11-20T09:00:00Z* ^p-01\n\n**Tool calls:**\n- `Write plan.md` → ok ^n-001\n    - writes: `plan.md`\n\n\tmy own remark  \n\n\
    ## Argue with the proxy @coder #dev\n\n*2026-11-20T09:30:00Z* ^p-02\n\n**Tool calls:**\n- `Bash ./proxy.sh restart` → ok ^n-002\n\n\
    ## Write the report @writer #dev\n\n*2026-11-20T10:00:00Z* ^p-03\n\n**Tool calls:**\n- `Write report.md` → ok ^n-003\n    - writes: `report.md`\n\n\
    the end, without a newline";

fn vault() -> SmallVault {
    let vault = SmallVault::new("");
    vault.put("vault/workflows/import.md", WORKFLOW);
    vault.put("vault/sessions/s1.md", SESSION);
    vault
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn deviations_are_told_with_places_and_written_once() {
    let world = vault();
    let told = world.run(&["workflow", "check", "s1"]);
    let out = text(&told.stdout);
    assert_eq!(told.status.code(), Some(1), "{out}{}", text(&told.stderr));
    for line in [
        "skipped    Parse the stations",
        "workflows/import.md:11",
        "extra      Argue with the proxy",
        "sessions/s1.md:18",
        "unchecked  cargo test",
        "2 of 3 steps of workflows/import.md: 3 deviations",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    assert_eq!(world.read("vault/sessions/s1.md"), SESSION);
    let json: serde_json::Value =
        serde_json::from_slice(&world.run(&["workflow", "check", "s1", "import", "-f", "json"]).stdout).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["deviations"].as_array().unwrap().len(), 3);

    let written = world.run(&["workflow", "check", "s1", "--write"]);
    assert!(text(&written.stdout).contains("3 callouts written"), "{}", text(&written.stdout));
    let note = world.read("vault/sessions/s1.md");
    // Every line a person or agent wrote stands there still, in its order.
    let mut rest = note.as_str();
    for line in SESSION.lines().filter(|line| !line.is_empty()) {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line:?} is gone\n{note}"));
        rest = &rest[at + line.len()..];
    }
    assert!(note.contains("> [!deviation] Step skipped: Parse the stations\n"), "{note}");
    assert!(note.contains("> Workflow: [[import]]"), "{note}");
    // Once more: nothing new, not a byte.
    world.run(&["workflow", "check", "s1", "--write"]);
    assert_eq!(world.read("vault/sessions/s1.md"), note);
    // And back.
    let undone = world.run(&["undo", "--session", "s1"]);
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    let back: Vec<String> = world
        .read("vault/sessions/s1.md")
        .lines()
        .filter(|line| !line.starts_with("cru_cursor"))
        .map(str::to_owned)
        .collect();
    assert_eq!(back, SESSION.lines().collect::<Vec<_>>());
}

#[test]
fn a_note_outside_of_a_vault_is_compared_but_not_written() {
    let world = vault();
    world.put("else/s1.md", SESSION);
    let (session, workflow) = (world.path("else/s1.md"), world.path("vault/workflows/import.md"));
    let (session, workflow) = (session.to_str().unwrap(), workflow.to_str().unwrap());
    let told = world.run(&["workflow", "check", session, workflow, "--write"]);
    assert_eq!(told.status.code(), Some(2), "{}", text(&told.stderr));
    assert_eq!(world.read("else/s1.md"), SESSION);
}

/// A shell script as the agent.
#[cfg(unix)]
fn agent(world: &SmallVault, script: &str, timeout: u32) {
    world.put("agent.sh", script);
    let path = world.path("agent.sh");
    let path = path.display();
    world.put(".config/cru/config.toml", &format!("[agent]\ncommand = [\"sh\", \"{path}\"]\ntimeout = {timeout}\n"));
}

#[cfg(unix)]
fn refine(world: &SmallVault) -> (Option<i32>, String, String) {
    let out = world.run(&["session", "codify", "s1", "--refine", "-o", "w.md"]);
    (out.status.code(), text(&out.stderr), world.read("vault/w.md"))
}

#[test]
#[cfg(unix)]
fn an_agent_is_a_program_that_reads_and_answers() {
    let good = "cat > \"$0.prompt\"\ncat <<'E'\n---\ntype: workflow\ntitle: Import\n---\n# Import\n\n## Plan the import @planner #dev !\n\n\
                request → plan.md::Markdown\n\n## Report @writer #dev\n\nplan.md::Markdown → report.md::Markdown\nE\n";
    let world = vault();
    agent(&world, good, 60);
    let (code, talk, written) = refine(&world);
    assert_eq!(code, Some(0), "{talk}");
    assert!(
        written.contains("## Plan the import @planner #dev !") && written.contains("source: \"[[s1]]\""),
        "{written}"
    );
    assert!(world.read("agent.sh.prompt").contains("./proxy.sh restart"));
    // It takes too long, it fails without reading, it is not there: the extract is written, and the reason told.
    for (script, timeout, told) in [
        ("sleep 600", 1, "took longer than 1 s"),
        ("echo broken >&2; exit 7", 60, "failed with exit code 7: broken"),
        ("exit 0", 60, "said nothing"),
    ] {
        let world = vault();
        agent(&world, script, timeout);
        let (code, talk, written) = refine(&world);
        assert_eq!(code, Some(1), "{talk}");
        assert!(talk.contains(told), "{talk}");
        assert!(written.contains("## Argue with the proxy @coder #dev"), "{written}");
    }
    let world = vault();
    world.put(".config/cru/config.toml", "[agent]\ncommand = [\"/nonexistent/robot\"]\n");
    let (code, talk, _) = refine(&world);
    assert_eq!(code, Some(1));
    assert!(talk.contains("could not start the agent '/nonexistent/robot'"), "{talk}");
}

/// A recipe from the outside: asked for by hand, taken with what was changed in it, looked at, accepted, and written for hosts.
#[test]
fn a_recipe_waits_until_a_person_accepts_it() {
    let world = vault();
    let prompt = world.ok(&["session", "codify", "s1", "--prompt"]);
    assert!(
        prompt.contains("./proxy.sh restart") && prompt.contains("## Argue with the proxy @coder #dev"),
        "{prompt}"
    );
    let skeleton = world.ok(&["-q", "session", "codify", "s1"]);
    let invented = skeleton.replacen("\nFrom [[", "\nThe moon has to be full.\n\nFrom [[", 1);
    assert_ne!(skeleton, invented);
    world.put("recipe.md", &invented);
    let out = world.run(&["session", "codify", "s1", "--from", "../recipe.md", "-o", "workflows/proxy.md"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let talk = text(&out.stderr);
    assert!(talk.contains("not in the session, set apart: Plan the import: The moon has to be full."), "{talk}");
    let written = world.read("vault/workflows/proxy.md");
    assert!(written.contains("recipe: proposed\n") && written.contains("## Not from the session\n"), "{written}");

    let refused = world.run(&["workflow", "export", "proxy", "--to", "skill"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("the recipe is proposed"), "{}", text(&refused.stderr));
    let inbox: serde_json::Value = serde_json::from_str(&world.ok(&["review", "-f", "json"])).unwrap();
    let items = inbox["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["kind"] == "recipe").unwrap();
    assert!(item["text"].as_str().unwrap().contains("cru show --evidence w:proxy"), "{item}");
    world.ok(&["review", "accept", item["id"].as_str().unwrap()]);
    assert_eq!(world.read("vault/workflows/proxy.md"), written.replace("recipe: proposed", "recipe: accepted"));
    assert!(world.ok(&["workflow", "export", "proxy", "--to", "skill"]).contains("name: "));
    let left: serde_json::Value = serde_json::from_str(&world.ok(&["review", "-f", "json"])).unwrap();
    assert!(!left.to_string().contains("\"recipe\""), "{left}");

    // An answer that lies is refused with its lines, and nothing is written.
    world.put("lie.md", &skeleton.replace("@coder", "@boss"));
    let out = world.run(&["session", "codify", "s1", "--from", "../lie.md", "-o", "workflows/lie.md"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("the agent @boss is not in the skeleton"), "{}", text(&out.stderr));
    assert!(!world.path("vault/workflows/lie.md").exists());
}

/// Each line of a recipe with the steps and words that it cites.
#[test]
fn a_recipe_is_shown_beside_the_record() {
    let world = vault();
    let note = "---\ntype: workflow\ntitle: Proxy\nsource: \"[[s1]]\"\nrecipe: proposed\n---\n# Proxy\n\n\
                ## Restart it @coder #dev\n\n- restart the proxy first (n-001)\n";
    world.put("vault/workflows/proxy.md", note);
    let shown = world.ok(&["workflow", "show", "proxy", "--evidence"]);
    let line = shown.lines().position(|line| line.contains("restart the proxy first")).unwrap();
    let below = shown.lines().nth(line + 1).unwrap();
    assert!(below.starts_with("    n-001 "), "{shown}");
}

#[test]
#[cfg(unix)]
fn a_vault_does_not_decide_which_programs_run() {
    let world = vault();
    let mark = world.path("ran");
    world.put("vault/.cru/config.toml", &format!("[agent]\ncommand = [\"touch\", \"{}\"]\n", mark.display()));
    let out = world.run(&["session", "codify", "s1", "--refine", "-o", "w.md"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("[agent]"), "{}", text(&out.stderr));
    assert!(!Path::new(&mark).exists() && !world.path("vault/w.md").exists());
}

#[test]
fn several_sessions_give_one_workflow_that_they_follow() {
    let world = vault();
    for number in 2..5 {
        let planned = SESSION
            .replace("session_id: s1", &format!("session_id: s{number}"))
            .replace("Argue with the proxy", "Parse the stations")
            .replace("./proxy.sh restart", "cargo test");
        world.put(&format!("vault/sessions/s{number}.md"), &planned);
    }
    let out = world.run(&["session", "codify", "s1", "s2", "s3", "s4", "-o", "workflows/mined.md"]);
    assert!(
        text(&out.stdout).contains("3 steps") && text(&out.stdout).contains("from 4 sessions in 2 variants"),
        "{}",
        text(&out.stdout)
    );
    let followed = world.run(&["workflow", "check", "s3", "mined"]);
    assert_eq!(followed.status.code(), Some(0), "{}", text(&followed.stdout));
    let odd = text(&world.run(&["workflow", "check", "s1", "mined"]).stdout);
    assert!(odd.contains("skipped    Parse the stations") && odd.contains("extra      Argue with the proxy"), "{odd}");
    // Dialect B is taken by its own rules, and by ours.
    let crucible = world.run(&["session", "codify", "s2", "--dialect", "crucible", "-o", "workflows/b.md"]);
    assert!(crucible.status.success());
    let checked = world.run(&["workflow", "validate", "b", "--dialect", "crucible"]);
    assert!(text(&checked.stdout).contains("nothing wrong"), "{}", text(&checked.stdout));
    let b = world.read("vault/workflows/b.md");
    assert!(!b.contains('\r') && b.lines().all(|line| !line.starts_with("# ")), "{b}");
}

fn every_session_gives_a_workflow_that_reads_back(set: &TranscriptSet) {
    let world = crate::imports::growth::World::new();
    for importer in IMPORTERS {
        ingest(&world.vault, importer, &[set.root().to_owned()], &Ingest::default(), &Unwatched).unwrap();
    }
    let notes = world.notes();
    assert!(notes.len() > set.least(40, 100), "{}", notes.len());
    let shapes = [Options::default(), Options::REPLAY];
    for ((path, text), options) in notes.into_iter().flat_map(|note| shapes.map(|options| (note.clone(), options))) {
        let (session, _) = read::session(&Note::parse(text));
        let (workflow, _) = codify(&session, &options);
        assert_eq!(validate(&workflow), [], "{}", path.display());
        let text = render(&workflow);
        assert_eq!(render(&codify(&session, &options).0), text, "{}: again", path.display());
        let (again, odd) = parse(&Note::parse(text.as_str()));
        assert_eq!((render(&again), odd), (text, vec![]), "{}", path.display());
        // A session follows what was made of it, but for checks that it was asked for and that it did not run.
        let mut deviations = conform(&again, &session).deviations;
        deviations.retain(|it| it.kind != Kind::Unchecked);
        assert_eq!(deviations, [], "{}", path.display());
        let other = render_as(&workflow, Dialect::Crucible);
        let (again, _) = parse(&Note::parse(other.as_str()));
        assert_eq!(render_as(&again, Dialect::Crucible), other, "{}", path.display());
        // Whatever people decided, corrected and agreed to goes every way.
        let back = parse(&Note::parse(render(&again))).0;
        for other in [&again, &back] {
            assert_eq!(kept(other), kept(&workflow), "{}", path.display());
            assert_eq!(other.sources, workflow.sources, "{}", path.display());
        }
        if workflow.step_flags().contains(&true) {
            let answer = format!(
                "# {}\n\n## Work @agent\n",
                workflow.title.replace(['`', '*', '#', '[', '<', '@', '!', '\\'], "")
            );
            let agent = workflow.steps.iter().find_map(|step| step.agent.as_ref());
            let answer = answer.replace("@agent", &agent.map_or(String::new(), |agent| format!("@{}", agent.name)));
            if let Ok(refined) =
                recipe::accept(&workflow, &recipe::Cited::default(), &answer, true).map(|it| it.workflow)
            {
                let lost: Vec<String> = kept(&workflow).into_iter().filter(|it| !kept(&refined).contains(it)).collect();
                assert_eq!(lost, [""; 0], "{}: refined", path.display());
            }
        }
        // A person's further words stand there as they were said.
        let said: Vec<String> = session.items().filter_map(|(_, item)| words(item)).collect();
        for quoted in workflow.steps.iter().flat_map(|step| &step.parts).filter_map(further) {
            // Behind words that were cut stands the link to all of them.
            let quoted = quoted.split_once(" ([[").map_or(quoted, |(words, _)| words);
            // A home folder is that of one machine.
            let stretches: Vec<&str> = quoted
                .split("<home>")
                .flat_map(|it| it.split('…'))
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .collect();
            let occurs = said.iter().any(|said| stretches.iter().all(|stretch| said.contains(stretch)));
            assert!(occurs, "{}: {quoted}", path.display());
        }
    }
}

/// Of sessions with 20 calls or more at most a tenth gives one step, and of workflows with several steps at most a tenth has
/// no edge between them.
fn long_sessions_have_steps_and_edges(set: &TranscriptSet) {
    let world = crate::imports::growth::World::new();
    for importer in IMPORTERS {
        ingest(&world.vault, importer, &[set.root().to_owned()], &Ingest::default(), &Unwatched).unwrap();
    }
    let (mut long, mut one, mut several, mut loose) = (0, 0, 0, 0);
    for (_, text) in world.notes() {
        let (session, _) = read::session(&Note::parse(text));
        let (workflow, _) = codify(&session, &Options::REPLAY);
        let steps = workflow.step_flags().iter().filter(|is_step| **is_step).count();
        if steps > 0 && session.steps().count() >= 20 {
            long += 1;
            one += usize::from(steps == 1);
        }
        if steps > 1 {
            several += 1;
            let arrows = cru::workflow::export::graph::picture(&workflow).arrows;
            let joins = |kind: &ArrowKind| !matches!(kind, ArrowKind::Child);
            loose += usize::from(!arrows.iter().any(|arrow| joins(&arrow.kind)));
        }
    }
    println!("{long} sessions with 20 calls or more, {one} of them give one step");
    println!("{several} workflows with several steps, {loose} of them without an edge");
    assert!(several >= set.least(5, 60), "{several}");
    assert!(one * 10 <= long && loose * 10 <= several, "{one} of {long}, {loose} of {several}");
}

/// Gates, decisions and corrections of a workflow, sorted.
fn kept(workflow: &Workflow) -> Vec<String> {
    let parts = workflow.preface.iter().chain(workflow.steps.iter().flat_map(|step| &step.parts));
    let mut kept: Vec<String> = parts
        .filter_map(|part| match part {
            Part::Gate(gate) => Some(format!("gate {} {}", gate.title, gate.body)),
            Part::Remark(it) if matches!(it.kind, RemarkKind::Decided | RemarkKind::Mind) => Some(it.text.clone()),
            _ => None,
        })
        .collect();
    kept.sort();
    kept.dedup();
    kept
}

/// What a person said, on one line.
fn words(item: &Item) -> Option<String> {
    let fold = |text: &str| cru::base::text::fold_whitespace(&cru::base::text::sanitise(text));
    match item {
        Item::User(user) => Some(fold(&user.words)),
        Item::Subagent(it) => Some(it.items.iter().filter_map(words).collect::<Vec<_>>().join("\n")),
        _ => None,
    }
}

/// A further request.
fn further(part: &Part) -> Option<&str> {
    match part {
        Part::Remark(it) if it.kind == RemarkKind::Then => Some(&it.text),
        _ => None,
    }
}

on_both_sets!(every_session_gives_a_workflow_that_reads_back, long_sessions_have_steps_and_edges);
