//! What a step says: its result, its request, its end, its checks, its name.

use super::*;

/// What the agent said last in each turn.
#[test]
fn a_step_tells_what_it_came_to() {
    let prose = |text: &str| Item::Prose(cru_session::Prose { text: text.into(), ..Default::default() });
    let closing = "Done. Here is what changed:\n\n- `Valve` opens first\n- the log → says so\n\nWant me to commit?";
    let phases = vec![
        phase(
            "Mend the pump",
            "claude-code",
            vec![said("Mend the pump"), prose("Let me look:"), ran("make pump", "ok"), prose(closing)],
        ),
        phase(
            "why is it loud?",
            "claude-code",
            vec![said("why is it loud?"), ran("cat pump.log", "loud"), prose("It is old.")],
        ),
        phase(
            "Paint it",
            "claude-code",
            vec![said("Paint the pump house"), ran("make paint", "ok"), prose("Now the door:")],
        ),
    ];
    let workflow = codify(&session("x", "Y", phases), &Options::REPLAY).0;
    let results = |step: &crate::Step| -> Vec<String> {
        let of = |part: &Part| match part {
            Part::Remark(it) if it.kind == crate::RemarkKind::Result => Some(it.text.clone()),
            _ => None,
        };
        step.parts.iter().filter_map(of).collect()
    };
    assert_eq!(results(&workflow.steps[0]), ["Done. …", "It is old."]);
    assert_eq!(results(&workflow.steps[1]), ["Now the door:"]);
}

/// A sub-agent's own session has no person in it: its task is the request.
#[test]
fn a_task_is_a_request() {
    let task = Item::Callout(Callout {
        kind: "context".into(),
        title: "Task".into(),
        body: "You are ann.\n\n## Task\n\nCompare the two pumps. Do not push, and do not merge.".into(),
        ..Callout::default()
    });
    let phases = vec![phase("Round 2", "ann", vec![task, wrote("pumps.md")])];
    let mut meta = session("x", "Y", phases);
    meta.phases[0].title = "Continue".into();
    let workflow = codify(&meta, &Options::REPLAY).0;
    assert_eq!(workflow.steps[0].title, "Compare the two pumps");
    let Some(Part::Prose(prose)) = workflow.steps[0].parts.first() else { panic!("{:?}", workflow.steps[0].parts) };
    assert_eq!(prose.markdown, "You are ann. ## Task Compare the two pumps. Do not push, and do not merge.");
}

/// What a person broke off did not go well.
#[test]
fn a_session_that_was_broken_off_ends_so() {
    let mut session = session("x", "Y", vec![phase("Mend", "a", vec![said("Mend the pump"), wrote("pump.c")])]);
    session.meta.status = Some(Status::Abandoned);
    let text = render(&codify(&session, &Options::REPLAY).0);
    assert!(
        text.contains(",abandoned,x#^p-01") && text.contains("- Trouble: the session was broken off here"),
        "{text}"
    );
}

/// A check that passed, then anything was changed says nothing of the work.
#[test]
fn checks_come_after_the_work() {
    let items = vec![said("Mend the pump"), ran("cargo test", "ok"), wrote("pump.rs"), ran("cargo clippy", "ok")];
    let workflow = codify(&session("x", "Y", vec![phase("Mend", "a", items)]), &Options::REPLAY).0;
    let checks: Vec<_> = workflow.checks.iter().filter_map(|check| check.command.as_deref()).collect();
    assert_eq!(checks, ["cargo clippy"]);
}

/// What a session ended with and nobody did gives no name to the work before.
#[test]
fn an_idle_end_names_nothing() {
    let prose = "The keyword goes from the first signature alone, because the convention of this project wants it \
                 only where the function is written out.";
    let told = Item::Prose(cru_session::Prose { text: prose.into(), ..Default::default() });
    let work = vec![said("/undo"), told, wrote("pump.rs")];
    let phases = vec![
        phase("Continue", "a", work),
        phase("Reorder the lists", "a", vec![said("Reorder the lists. Keep them.")]),
    ];
    let mut session = session("x", "Reorder the lists", phases);
    session.meta.host = Some("aider".into());
    let workflow = codify(&session, &Options::REPLAY).0;
    assert_eq!((workflow.title.as_str(), workflow.steps[0].title.as_str()), ("Write pump.rs", "Write pump.rs"));
    let text = render(&workflow);
    assert!(text.contains("The keyword goes from the first signature"), "{text}");
    // What was asked for first and done later does.
    session.phases.swap(0, 1);
    assert_eq!(codify(&session, &Options::REPLAY).0.title, "Reorder the lists");
}

/// What a person wrote as `after:` of a phase or a step joins the steps that are made of them.
#[test]
fn after_is_a_dependency() {
    let mut last = ran("./ship.sh", "ok");
    if let Item::Step(step) = &mut last {
        step.after = vec![Link::to_block("n-001")];
    }
    let mut first = ran("./measure.sh", "ok");
    if let Item::Step(step) = &mut first {
        step.id = Some("n-001".into());
    }
    let phases = |after: &[&str]| {
        let mut phases = vec![
            phase("Measure the pump", "coder", vec![first.clone()]),
            phase("Paint the house", "coder", vec![ran("./paint.sh", "ok")]),
            phase("Ship the pump", "coder", vec![last.clone()]),
        ];
        phases[1].after = after.iter().map(|id| Link::to_block(*id)).collect();
        phases
    };
    let arrows = |phases: Vec<Phase>| -> Vec<(usize, usize)> {
        let workflow = codify(&session("x", "Y", phases), &Options::REPLAY).0;
        let graph = validate::Graph::of(&workflow);
        (0..workflow.steps.len())
            .flat_map(|from| graph.after(from).map(move |to| (from, to)).collect::<Vec<_>>())
            .collect()
    };
    // The second follows the first only in time.
    assert_eq!(arrows(phases(&[])), [(0, 1), (0, 2)]);
    assert_eq!(arrows(phases(&["p-01"])), [(0, 1), (0, 2)]);
    // What comes later, is in no step, or is in another note joins nothing.
    assert_eq!(arrows(phases(&["p-03", "p-09", "p-02"])), [(0, 1), (0, 2)]);
}
