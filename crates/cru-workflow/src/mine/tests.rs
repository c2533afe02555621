//! One workflow, sessions that follow it with known noise, and the workflow that comes back.

use super::*;
use crate::conform::{Kind, conform};
use crate::{Need, parse, render, validate};
use cru_base::text::plural;
use cru_note::Note;
use cru_session::{Agent, Callout, Decision, FileRef, Item, Meta, Phase, Step, User};

/// Title, agent, command, file read, file written; `{n}` is the number of the session.
const PLAN: &[(&str, &str, &str, &str, &str)] = &[
    ("Plan the station import", "planner", "", "data/stations-{n}.csv", "plan.md"),
    ("Fetch the harbour file", "coder", "curl -O https://example.org/harbours/{n}00.csv", "", "harbours.csv"),
    ("Parse the stations", "coder", "cargo run --bin parse data/stations-{n}.csv", "harbours.csv", "stations.json"),
    ("Draw the map", "artist", "", "stations.json", "map.svg"),
    ("Write the report", "writer", "", "stations.json", "report.md"),
    ("Prove the import", "coder", "cargo test --workspace", "report.md", ""),
];

fn phase(title: &str, agent: &str, command: &str, read: &str, written: &str, number: usize) -> Phase {
    let fill = |text: &str| text.replace("{n}", &number.to_string());
    let refs = |path: &str| -> Vec<FileRef> {
        let path = fill(path);
        (!path.is_empty()).then(|| FileRef { path, ..FileRef::default() }).into_iter().collect()
    };
    let mut items = Vec::new();
    if !read.is_empty() {
        items.push(Item::Step(Step { tool: "Read".into(), args: fill(read), reads: refs(read), ..Step::default() }));
    }
    if !written.is_empty() {
        items.push(Item::Step(Step {
            tool: "Write".into(),
            args: fill(written),
            writes: refs(written),
            ..Step::default()
        }));
    }
    if !command.is_empty() {
        items.push(Item::Step(Step {
            tool: "Bash".into(),
            args: fill(command),
            result: Some("ok, passed".into()),
            ..Step::default()
        }));
    }
    Phase {
        title: title.into(),
        level: 2,
        agent: Some(Agent::parse(agent)),
        channel: Some("dev".into()),
        items,
        ..Phase::default()
    }
}

fn planned(at: usize, number: usize) -> Phase {
    let (title, agent, command, read, written) = PLAN[at];
    phase(title, agent, command, read, written, number)
}

fn session(number: usize, status: Status, phases: Vec<Phase>) -> Session {
    let meta = Meta {
        session_id: Some(format!("s-{number}")),
        title: Some("Import stations".into()),
        status: Some(status),
        ..Meta::default()
    };
    let mut at = 0;
    let phases = phases.into_iter().enumerate().map(|(index, phase)| {
        at += 100;
        let heading_span = Span::new(at, at + 10);
        Phase { id: format!("p-{:02}", index + 1), heading_span, span: heading_span, ..phase }
    });
    Session { meta, phases: phases.collect(), ..Session::default() }
}

/// Five sessions: as planned; one step skipped; one added; one repeated; two in another order.
fn five() -> Vec<Session> {
    let with = |number: usize, order: &[usize]| -> Vec<Phase> { order.iter().map(|&at| planned(at, number)).collect() };
    let mut extra = with(3, &[0, 1, 2, 3, 4, 5]);
    extra.insert(2, phase("Argue with the proxy", "coder", "./proxy.sh restart", "", "proxy.log", 3));
    vec![
        session(1, Status::Completed, with(1, &[0, 1, 2, 3, 4, 5])),
        session(2, Status::Completed, with(2, &[0, 1, 2, 4, 5])),
        session(3, Status::Completed, extra),
        session(4, Status::Completed, with(4, &[0, 1, 2, 2, 3, 4, 5])),
        session(5, Status::Completed, with(5, &[0, 1, 2, 4, 3, 5])),
    ]
}

fn mined(sessions: &[Session]) -> (Workflow, Mining) {
    let ids: Vec<String> = sessions.iter().map(|it| it.meta.session_id.clone().unwrap()).collect();
    let sources: Vec<Source<'_>> = sessions.iter().zip(&ids).map(|(session, id)| Source { id, session }).collect();
    let (workflow, _, mining) = mine(&sources, &Options::default());
    let text = render(&workflow);
    let (read, odd) = parse(&Note::parse(text.as_str()));
    assert_eq!(odd, vec![], "{text}");
    assert_eq!(render(&read), text);
    assert_eq!(validate(&workflow).iter().filter(|it| it.severity > cru_base::Severity::Info).count(), 0, "{text}");
    (read, mining)
}

fn steps(workflow: &Workflow) -> Vec<&str> {
    let flags = workflow.step_flags();
    workflow.steps.iter().zip(flags).filter(|(_, flag)| *flag).map(|(step, _)| step.title.as_str()).collect()
}

#[test]
fn noise_goes_and_the_plan_comes_back() {
    let (workflow, mining) = mined(&five());
    let planned: Vec<&str> = PLAN.iter().map(|it| it.0).collect();
    assert_eq!(steps(&workflow), planned);
    assert!(workflow.steps.iter().all(|step| step.need != Need::Optional));
    let left: Vec<&str> =
        mining.columns.iter().filter(|row| row.fate == Fate::LeftOut).map(|row| row.title.as_str()).collect();
    assert_eq!(left, ["Argue with the proxy"]);
    assert_eq!(mining.columns[2].repeated + mining.columns[3].repeated, 1);
    // One session did the two in another order: not often enough.
    assert_eq!(mining.parallel, Vec::<[String; 2]>::new());
    assert_eq!(mining.variants.iter().map(|it| it.count).sum::<usize>(), 5);
    assert_eq!(mining.variants[0].count, 3);
    insta::assert_snapshot!(render(&workflow));
}

#[test]
fn the_order_of_sessions_does_not_matter() {
    let mut sessions = five();
    let planned: Vec<&str> = PLAN.iter().map(|it| it.0).collect();
    for _ in 0..5 {
        sessions.rotate_left(1);
        assert_eq!(steps(&mined(&sessions).0), planned);
    }
}

#[test]
fn some_do_a_step_some_do_not_some_both_ways_round() {
    let with = |number: usize, order: &[usize]| {
        session(number, Status::Completed, order.iter().map(|&at| planned(at, number)).collect())
    };
    let mut sessions = vec![
        with(1, &[0, 1, 2, 3, 4, 5]),
        with(2, &[0, 2, 2, 4, 3, 5]),
        with(3, &[0, 1, 2, 2, 3, 4, 5]),
        with(4, &[0, 2, 2, 4, 3, 5]),
    ];
    sessions.push(session(9, Status::Failed, vec![planned(0, 9), planned(5, 9)]));
    let (workflow, mining) = mined(&sessions);
    assert_eq!(mining.sessions.len(), 4);
    let fetch = workflow.steps.iter().find(|step| step.title == PLAN[1].0).unwrap();
    assert_eq!(fetch.need, Need::Optional);
    assert_eq!(mining.parallel.len(), 1);
    assert!(["Draw the map", "Write the report"].iter().all(|title| mining.parallel[0].contains(&(*title).to_owned())));
    assert_eq!(mining.anti_examples.len(), 1);
    let mut lacks = mining.anti_examples[0].lacks.clone();
    lacks.sort();
    assert_eq!(lacks, ["Draw the map", "Parse the stations", "Write the report"]);
    let text = render(&workflow);
    assert!(text.contains("as in 3 of 4 sessions"), "{text}");
    // A step that may be done again is no deviation when it is; nor is one that may be skipped.
    assert!(conform(&workflow, &sessions[1]).deviations.iter().all(|it| it.allowed || it.kind == Kind::Reordered));
}

#[test]
fn planted_deviations_are_named_and_nothing_else() {
    let sessions = five();
    let (workflow, _) = mined(&sessions[..1]);
    let told = |session: &Session| -> Vec<String> {
        let found = conform(&workflow, session);
        found.deviations.iter().filter(|it| !it.allowed).map(|it| format!("{} {}", it.kind.as_str(), it.step)).collect()
    };
    assert_eq!(told(&sessions[0]), Vec::<String>::new());
    assert_eq!(told(&sessions[1]), ["skipped Draw the map"]);
    assert_eq!(told(&sessions[2]), ["extra Argue with the proxy"]);
    assert_eq!(told(&sessions[3]), ["repeated Parse the stations"]);
    let moved = told(&sessions[4]);
    assert_eq!(moved.len(), 1);
    assert!(moved == ["reordered Draw the map"] || moved == ["reordered Write the report"], "{moved:?}");
    let found = conform(&workflow, &sessions[2]);
    assert_eq!(found.deviations[0].found, Some(Span::new(300, 310)));
    assert_eq!(found.deviations[0].phase.as_deref(), Some("p-03"));
}

#[test]
fn many_sessions_are_quick_enough_to_count() {
    let sessions: Vec<Session> = (0..60)
        .map(|number| {
            session(
                number,
                Status::Completed,
                (0..6).filter(|at| (number + at) % 7 != 0).map(|at| planned(at, number)).collect(),
            )
        })
        .collect();
    let (workflow, mining) = mined(&sessions);
    assert_eq!(steps(&workflow).len(), 6, "{}", plural(mining.columns.len() as u64, "column"));
}

/// A title that half of the sessions do not share says what all of theirs begin with; what was said in one of them stays there.
#[test]
fn words_of_one_session_are_not_told_of_all() {
    let named = |number: usize| {
        let mut phase = planned(2, number);
        phase.title = format!("Commence task {number}");
        let words = format!("Task {number} is done, Ann.");
        phase.items.push(Item::Prose(cru_session::Prose { text: words, ..Default::default() }));
        let title = format!("Curl over wget, as Ann says in {number}");
        let decision = Decision { callout: Callout { title, ..Callout::default() }, ..Decision::default() };
        phase.items.push(Item::Decision(decision));
        session(number, Status::Completed, vec![phase])
    };
    let mut sessions: Vec<Session> = (1..4).map(named).collect();
    let (workflow, _) = mined(&sessions);
    assert_eq!(steps(&workflow), ["Commence task …"]);
    assert!(!render(&workflow).contains("Ann"), "{}", render(&workflow));
    let mut titled = |titles: [&str; 3]| {
        sessions
            .iter_mut()
            .flat_map(|it| &mut it.phases)
            .zip(titles)
            .for_each(|(phase, title)| phase.title = title.into());
        steps(&mined(&sessions).0).join("; ")
    };
    let told = titled(["Change a.py and server.py", "Change b.py, c.py and server.py", "Change d.py and server.py"]);
    assert_eq!(told, "Change … and server.py");
    assert_eq!(
        titled(["Mend the map", "Draw the flow", "Plan the tide"]),
        "Mend the map",
        "no word is shared that says anything"
    );
}

/// A correction holds for the next run, in whichever of the sessions it was said.
#[test]
fn corrections_are_told_of_all_sessions() {
    let corrected = |number: usize| {
        let words = if number < 3 { "No, use the new key instead." } else { "No, not on Fridays." };
        let callout = Callout { id: Some(format!("u-{number}")), ..Callout::default() };
        let user = User { callout, words: words.to_owned(), correction: true, ..User::default() };
        let mut phase = planned(1, number);
        phase.items.push(Item::User(user));
        session(number, Status::Completed, vec![planned(0, number), phase])
    };
    let text = render(&mined(&(1..4).map(corrected).collect::<Vec<_>>()).0);
    assert!(text.contains("- Mind: No, use the new key instead. (in 2 of 3 sessions)"), "{text}");
    assert!(text.contains("- Mind: No, not on Fridays. (in 1 of 3 sessions)"), "{text}");
}

/// Steps that only some sessions did make no workflow.
#[test]
fn without_a_common_step_there_is_none() {
    let pair = |number, at| session(number, Status::Completed, vec![planned(at, number)]);
    let (workflow, mining) = mined(&[pair(1, 1), pair(2, 1), pair(3, 3), pair(4, 3)]);
    assert_eq!(steps(&workflow), [""; 0]);
    assert!(mining.columns.iter().all(|row| row.sessions == 2 && row.fate == Fate::Optional));
}

#[test]
fn words_in_quotes_are_one() {
    assert_eq!(
        super::merge::words_of("git commit -m \"alice: merge it\" --no-ff 'a b' \"open"),
        ["git", "commit", "-m", "\"alice: merge it\"", "--no-ff", "'a b'", "\"open"]
    );
}
