//! Text and model together: what is written is read back, what people write is read.

use proptest::prelude::*;

use super::model::*;
use super::{Dialect, parse, render, render_as, validate};
use cru_base::Span;
use cru_base::text::fold_whitespace;
use cru_note::Note;
use cru_session::{Agent, Link};

fn read(text: &str) -> (Workflow, Vec<String>) {
    let (workflow, diagnostics) = parse(&Note::parse(text));
    let told =
        diagnostics.iter().chain(&validate(&workflow)).map(|it| format!("{} {}", it.code, it.span.of(text))).collect();
    (workflow, told)
}

/// The model without places.
pub(super) fn bare(mut workflow: Workflow) -> Workflow {
    let none = Span::default();
    for step in &mut workflow.steps {
        (step.span, step.heading_span) = (none, none);
    }
    let parts = workflow.steps.iter_mut().flat_map(|step| &mut step.parts).chain(&mut workflow.preface);
    for part in parts {
        match part {
            Part::Prose(it) => it.span = none,
            Part::Flow(it) => {
                it.span = none;
                it.stages.iter_mut().flatten().for_each(|operand| operand.span = none);
            }
            Part::Branch(it) => (it.span, it.target_span) = (none, none),
            Part::Gate(it) => it.span = none,
            Part::Command(it) => it.span = none,
            Part::Script(it) => it.span = none,
            Part::Remark(it) => it.span = none,
            Part::Record(it) => it.span = none,
        }
    }
    workflow.goals.iter_mut().for_each(|goal| goal.span = none);
    workflow.checks.iter_mut().for_each(|check| check.span = none);
    workflow
}

const ORDERS: &str = "\
# Order handling

Takes an order and delivers it.

## Receive Order @intake #orders !

order.json::JSON → order

---

## Validate Cart @cart-service@1.2 #orders !

Takes order → creates valid_cart::Cart

If the cart is empty → proceed to Cancel
Otherwise → proceed to Ship

### Check Stock @stock ?

valid_cart, stock.csv → creates:
- availability::Table
- `missing items`

## Ship

> [!gate] Approve shipping
> Above 500 only.

availability → parcel

- Requirements → Production: 4 days

## Cancel #orders

order -> refund

## Summary

Just words.

```session-toon
execution[1]{phase,status}:
 ReceiveOrder,success
```
";

#[test]
fn checks_keep_their_ids() {
    let text = "# T\n\n## Plan @planner\n\n## Validation\n\n- `cargo test` — passes ^v-01\n- look at it ^v-02\n";
    let (workflow, _) = read(text);
    let ids: Vec<_> = workflow.checks.iter().map(|check| (check.id.as_deref(), check.text.as_str())).collect();
    assert_eq!(ids, [(Some("v-01"), "passes"), (Some("v-02"), "look at it")]);
    assert!(
        render(&workflow).ends_with("- `cargo test` — passes ^v-01\n- look at it ^v-02\n"),
        "{}",
        render(&workflow)
    );
}

#[test]
fn reads_a_workflow() {
    let (workflow, told) = read(ORDERS);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(workflow.step_flags(), [true, true, true, true, true, false]);
    assert_eq!(
        workflow.steps.iter().map(|step| step.parent).collect::<Vec<_>>(),
        [None, None, Some(1), None, None, None]
    );
    assert_eq!(workflow.records().count(), 1);
    assert_eq!(super::Graph::of(&workflow).external(), ["order.json", "stock.csv"]);
    insta::assert_snapshot!(render(&workflow), @"
    ---
    type: workflow
    title: Order handling
    ---
    # Order handling

    Takes an order and delivers it.

    ## Receive Order @intake #orders !

    order.json::JSON → order

    ## Validate Cart @cart-service@1.2 #orders !

    order → valid_cart::Cart

    If the cart is empty → proceed to Cancel

    Otherwise → proceed to Ship

    ### Check Stock @stock ?

    valid_cart, stock.csv → availability::Table, `missing items`

    ## Ship

    > [!gate] Approve shipping
    > Above 500 only.

    availability → parcel

    - Requirements → Production: 4 days

    ## Cancel #orders

    order → refund

    ## Summary

    Just words.

    ```session-toon
    execution[1]{phase,status}:
      ReceiveOrder,success
    ```
    ");
}

#[test]
fn look_alikes() {
    let (workflow, told) = read(
        "# T\n\n## Migration: 1.0 -> 2.0 @db\n\n## RFC 5322 @example.com addresses\n\n```md\n## Not a step @x\n> [!gate] no\n```\n\n\
         ~~~\n## Nor this @x\n~~~\n\n> ## Quoted @x\n\n## Goals\n\n- [ ] one\n\n## Goals\n\n- [x] two\n\n### Goals\n\n## Validation\n\n\
         - `make test` — passes\n- look at it\n- `a` and `b`\n",
    );
    let titles: Vec<&str> = workflow.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Migration: 1.0 -> 2.0", "RFC 5322 @example.com addresses", "Goals"]);
    assert_eq!(workflow.step_flags(), [true, false, false]);
    assert_eq!(workflow.goals.iter().map(|goal| (goal.text.as_str(), goal.done)).collect::<Vec<_>>(), [("two", true)]);
    let checks: Vec<_> = workflow.checks.iter().map(|check| (check.command.as_deref(), check.text.as_str())).collect();
    assert_eq!(checks, [(Some("make test"), "passes"), (None, "look at it"), (None, "`a` and `b`")]);
    assert_eq!(told, ["duplicate-section ## Goals"]);
}

#[test]
fn what_cannot_work_is_told() {
    let (_, told) = read("# T\n\n## A @x\n\nz → x\n\n## B @x\n\nx → y\n\n## C @x\n\ny → z\n");
    assert_eq!(told, ["cycle ## A @x"]);
    let (workflow, _) = read("# T\n\n## A @x\n\nz → x\n\n## B @x\n\nx → y\n\n## C @x\n\ny → z\n");
    assert_eq!(validate(&workflow)[0].message, "the steps wait for each other: A → B → C → A");
    let (workflow, told) =
        read("# T\n\n## Ship @x\n\na → b::C\n\nIf it fails → proceed to Shp\n\n## Pack @x\n\nb::D → b\n");
    assert_eq!(told, ["unknown-step Shp", "type-mismatch b::D", "duplicate-producer b"]);
    assert_eq!(validate(&workflow)[0].help.as_deref(), Some("did you mean 'Ship'?"));
    let (_, told) =
        read("# T\n\n## A @x\n\na → creates:\n\nwords\n\n```session-toon\nexecution[2{x}:\n```\n\n# Second\n");
    assert_eq!(told, ["flow-open a → creates:", "record-header execution[2{x}:", "second-title # Second"]);
}

#[test]
fn a_step_that_changes_what_it_takes_is_no_cycle() {
    let (_, told) = read("# T\n\n## A @x\n\na → a\n\nIf unsure → go back to A\n\n## B\n\nsrc/x.rs → A\n");
    assert_eq!(told, Vec::<String>::new());
}

fn plain() -> impl Strategy<Value = String> {
    let any = "[a-zA-Z0-9@#!?%<>*_`\\\\\\[\\]^|~.:,→ -]{0,20}";
    (any, "[a-z]").prop_map(|(text, first)| fold_whitespace(&format!("{first}{text}")))
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,3}", "[a-z]{1,3}/[_a-z]{1,4}\\.rs", "[a-z]{1,2}[ ,`:→*#@_]{1,2}[a-z]{1,2}"]
}

fn operand() -> impl Strategy<Value = Operand> {
    let ty = proptest::option::of("[A-Z][a-z]{0,3}(\\[\\])?");
    (name(), ty, proptest::option::of(2_usize..99)).prop_map(|(name, ty, files)| Operand {
        name,
        ty,
        files,
        ..Operand::default()
    })
}

fn part() -> impl Strategy<Value = Part> {
    let stage = || prop::collection::vec(operand(), 1..3);
    let cell = "[a-z0-9 ,:\"\\\\]{0,5}";
    prop_oneof![
        plain().prop_map(|text| Part::Prose(Prose { markdown: super::codify::paragraph(&text), ..Prose::default() })),
        prop::collection::vec(stage(), 2..4).prop_map(|stages| Part::Flow(Flow { stages, ..Flow::default() })),
        (proptest::option::of(plain()), plain()).prop_map(|(condition, target)| {
            let target = target.replace('→', "~").replace("->", "~").replace('.', "~");
            Part::Branch(Branch { condition, target, ..Branch::default() })
        }),
        (plain(), plain()).prop_map(|(title, body)| {
            Part::Gate(Gate { title, body: super::codify::paragraph(&body), ..Gate::default() })
        }),
        (plain(), proptest::option::of(plain())).prop_map(|(command, note)| Part::Command(Command {
            command,
            note,
            ..Command::default()
        })),
        "[a-z`#>\n -]{0,20}[a-z]".prop_map(|text| Part::Script(Script { text, ..Script::default() })),
        (1..RemarkKind::ALL.len(), plain()).prop_map(|(kind, text)| {
            Part::Remark(Remark { kind: RemarkKind::ALL[kind], text, ..Remark::default() })
        }),
        prop::collection::vec(prop::collection::vec(cell, 2), 0..3).prop_map(|rows| {
            let columns = vec!["phase".to_owned(), "status".to_owned()];
            Part::Record(Record { columns, rows, ..Record::default() })
        }),
    ]
}

fn link() -> impl Strategy<Value = Link> {
    ("[a-z0-9-]{1,8}", proptest::option::of("p-[0-9]{2}")).prop_map(|(target, block)| Link {
        target,
        block,
        ..Link::default()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let agent = proptest::option::of(("[a-z][a-z0-9_.-]{0,4}", proptest::option::of("[0-9]\\.[0-9]")));
    let need = prop_oneof![Just(Need::Normal), Just(Need::Required), Just(Need::Optional)];
    let body = (prop::collection::vec(part(), 0..4), prop::collection::vec(link(), 0..3));
    let pair = ("[a-z_][a-z0-9-]{0,3}", "[a-z@#!?>&-]([a-z0-9 :>-]{0,5}[a-z)])?");
    let more = (
        proptest::option::of("[a-z_][a-z0-9_-]{0,4}"),
        any::<bool>(),
        any::<bool>(),
        prop::collection::vec(pair, 0..2),
    );
    (2_u8..7, plain(), agent, proptest::option::of("[a-z][a-z0-9/-]{0,4}"), (need, more), body).prop_map(
        |(level, title, agent, channel, (need, (binds, parallel, fork, pairs)), (parts, origin))| Step {
            binds,
            parallel,
            fork,
            pairs,
            level,
            title,
            agent: agent.map(|(name, version)| Agent { name, version }),
            channel,
            need,
            parts,
            origin,
            ..Step::default()
        },
    )
}

fn workflow() -> impl Strategy<Value = Workflow> {
    let checks = prop::collection::vec((plain(), plain()), 0..3);
    let head = (
        plain(),
        proptest::option::of(plain()),
        prop::collection::vec(link(), 0..3),
        prop::collection::vec(part(), 0..2),
    );
    (head, prop::collection::vec((plain(), any::<bool>()), 0..3), prop::collection::vec(step(), 0..5), checks).prop_map(
        |((title, description, sources, preface), goals, mut steps, checks)| {
            let mut above: Vec<(u8, usize)> = Vec::new();
            for (index, step) in steps.iter_mut().enumerate() {
                above.retain(|(level, _)| *level < step.level);
                step.parent = above.last().map(|(_, index)| *index);
                above.push((step.level, index));
            }
            let goals = goals.into_iter().map(|(text, done)| {
                let id = done.then(|| format!("g{}", text.len()));
                Goal { text, done, id, ..Goal::default() }
            });
            let goals = goals.collect();
            let checks = checks.into_iter().map(|(command, text)| {
                let text = text.replace('`', "'");
                Check { command: Some(command), text, ..Check::default() }
            });
            let checks = checks.collect();
            Workflow { title, description, sources, preface, goals, steps, checks, ..Workflow::default() }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(workflow in workflow()) {
        let text = render(&workflow);
        let (read, diagnostics) = parse(&Note::parse(text.as_str()));
        // Words that an editor or a plugin would run are written so that nothing runs them, and read as they are written.
        prop_assert_eq!(render(&read), text.as_str());
        if !text.contains('\\') {
            prop_assert_eq!(bare(read), workflow, "{}", text);
        }
        prop_assert_eq!(diagnostics, vec![], "{}", text);
    }

    #[test]
    fn the_other_dialect_is_written_once(workflow in workflow()) {
        let text = render_as(&workflow, Dialect::Crucible);
        let note = Note::parse(text.as_str());
        prop_assert_eq!(super::dialect::strict(&note), vec![], "{}", text);
        let (read, _) = parse(&note);
        prop_assert_eq!(read.dialect, Dialect::Crucible);
        prop_assert_eq!(render_as(&read, Dialect::Crucible), text);
        // And back: every step is one still.
        let back = render(&read);
        let (again, _) = parse(&Note::parse(back.as_str()));
        prop_assert_eq!(again.step_flags(), vec![true; read.steps.len()], "{}", back);
        prop_assert_eq!(render(&again), back);
    }

    #[test]
    fn anything_is_read(text in "([#>`~:@!?→a-z\\[\\]| -]|\n|\n## |\n- |```session-toon\nexecution\\[1\\]\\{a\\}:\n){0,40}") {
        let (workflow, diagnostics) = parse(&Note::parse(text.as_str()));
        for it in diagnostics.iter().chain(&validate(&workflow)) {
            prop_assert!(text.get(it.span.range()).is_some(), "{:?}", it);
        }
        let order = super::Graph::of(&workflow).order();
        prop_assert_eq!(order.len(), workflow.steps.len());
        for dialect in [Dialect::A, Dialect::Crucible] {
            let _ = render_as(&workflow, dialect);
        }
    }
}
