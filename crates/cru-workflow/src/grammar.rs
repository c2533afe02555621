//! Tables of both dialects: a piece of markup, and what it is read as.

use super::dialect::strict;
use super::model::Workflow;
use super::{Dialect, Graph, parse, render_as, validate};
use cru_note::Note;

fn read(text: &str) -> (Workflow, Vec<String>) {
    let (workflow, diagnostics) = parse(&Note::parse(text));
    let odd = validate(&workflow);
    let told = diagnostics.iter().chain(&odd).map(|it| format!("{} {}", it.code, it.span.of(text)));
    let told = told.collect();
    (workflow, told)
}

/// Steps as `level parent title @agent #channel`.
fn outline(workflow: &Workflow) -> Vec<String> {
    let flags = workflow.step_flags();
    let line = |(step, flag): (&super::Step, bool)| {
        let parent = step.parent.map_or("-".to_owned(), |parent| parent.to_string());
        let agent = step.agent.as_ref().map_or(String::new(), |agent| format!(" @{agent}"));
        let channel = step.channel.as_ref().map_or(String::new(), |channel| format!(" #{channel}"));
        let binds = step.binds.as_ref().map_or(String::new(), |name| format!(" -> {name}"));
        format!("{}{} {parent} {}{agent}{channel}{binds}", if flag { "" } else { "prose " }, step.level, step.title)
    };
    workflow.steps.iter().zip(flags).map(line).collect()
}

fn edges(text: &str) -> Vec<String> {
    let (workflow, _) = read(text);
    let title = |step: usize| workflow.steps[step].title.clone();
    Graph::of(&workflow).edges().map(|it| format!("{} -{}- {}", title(it.from), it.name, title(it.to))).collect()
}

const CRUCIBLE: &str = "\
---
type: workflow
title: Report
description: Makes a report
---
> [!gate] Budget agreed

## Goals

- [ ] A report [id:: g1]
- [x] An outline

## Research @researcher -> notes [channel:: dev]

Look at the sources.

~~~md
## Not a step @x
> [!gate] nor a gate
````
~~~

## Gather (parallel)

### & Ask the team @lead -> answers

### & Read the archive @reader -> findings

Start from **notes**, but **not this**.

## Write @writer -> draft

> [!gate] The editor agrees

Use **answers** and **findings**.

##### Deep step

### Goals

## Validation

- `make check` proves it
- look at the draft
";

#[test]
fn the_other_dialect() {
    let (workflow, told) = read(CRUCIBLE);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(workflow.dialect, Dialect::Crucible);
    assert_eq!(
        outline(&workflow),
        [
            "2 - Research @researcher #dev -> notes",
            "2 - Gather",
            "3 1 Ask the team @lead -> answers",
            "3 1 Read the archive @reader -> findings",
            "2 - Write @writer -> draft",
            "5 4 Deep step",
            "3 4 Goals",
        ]
    );
    assert!(workflow.steps[1].fork && workflow.steps[2].parallel && workflow.steps[3].parallel);
    let goals: Vec<_> = workflow.goals.iter().map(|goal| (goal.text.as_str(), goal.id.as_deref())).collect();
    assert_eq!(goals, [("A report", Some("g1")), ("An outline", None)]);
    assert_eq!(
        edges(CRUCIBLE),
        ["Research -notes- Read the archive", "Ask the team -answers- Write", "Read the archive -findings- Write"]
    );
    assert_eq!(workflow.preface.len(), 1);
    assert_eq!(Graph::of(&workflow).results(), ["draft"]);
    assert_eq!(strict(&Note::parse(CRUCIBLE)), []);
    let written = render_as(&workflow, Dialect::Crucible);
    assert_eq!(outline(&read(&written).0), outline(&workflow), "{written}");
    assert!(written.contains("## Research @researcher -> notes [channel:: dev]\n"), "{written}");
    assert!(!written.contains('\r') && !written.contains("\n# "));
}

#[test]
fn results_that_are_taken_are_bound() {
    let text = "# T\n\n## Plan @a #dev\n\nx → docs/plan.md::Markdown\n\n## Build @b !\n\ndocs/plan.md → notes, src/a.rs\n\n\
                ## Check @c\n\nnotes, docs/plan.md → ok\n";
    let (workflow, _) = read(text);
    let written = render_as(&workflow, Dialect::Crucible);
    for line in [
        "## Plan @a -> plan_md [channel:: dev]\n",
        "## Build @b -> notes [need:: required]\n\nTakes **plan_md**.\n\ndocs/plan.md -> notes, src/a.rs\n",
        "## Check @c -> ok\n\nTakes **notes** and **plan_md**.\n",
    ] {
        assert!(written.contains(line), "{line}\n{written}");
    }
    assert_eq!(strict(&Note::parse(written.as_str())), []);
    let again = render_as(&read(&written).0, Dialect::Crucible);
    assert_eq!(again, written);
}

#[test]
fn every_level_is_a_step_of_the_other_dialect() {
    let text = "---\ntype: workflow\ntitle: T\ndescription: D\n---\n# First @a -> x\n\n###### Deep\n\nTake **x**.\n\n# Second\n";
    let (workflow, told) = read(text);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(outline(&workflow), ["1 - First @a -> x", "6 0 Deep", "1 - Second"]);
    assert_eq!(edges(text), ["First -x- Deep"]);
    // The same without a description, or with a heading that repeats the title, is the first dialect.
    assert_eq!(read(&text.replace("description: D\n", "")).0.dialect, Dialect::A);
    assert_eq!(read(&text.replace("# First @a -> x", "# T")).0.dialect, Dialect::A);
    let codes: Vec<&str> =
        strict(&Note::parse(text.replace('\n', "\r\n").replace("title: T", "x: T"))).iter().map(|it| it.code).collect();
    assert_eq!(codes, ["crucible-frontmatter", "crucible-line-end", "crucible-title", "crucible-title"]);
}

#[test]
fn what_lines_are_edges() {
    let steps = |line: &str| {
        let (workflow, _) = read(&format!("# T\n\n## Begin @x\n\n{line}\n\n## Production @x\n"));
        let graph = Graph::of(&workflow);
        format!("{} > {}", graph.external().join(","), graph.results().join(","))
    };
    for (line, expected) in [
        ("file.md → parsed_content", "file.md > parsed_content"),
        ("config::Config → schema.sql::SQL", "config > schema.sql"),
        ("a, b → c::C[]", "a,b > c"),
        ("spec → diagram::SVG, notes::Markdown", "spec > diagram,notes"),
        ("a → b → c", "a > b,c"),
        ("a -> b", "a > b"),
        ("a â†’ b", "a > b"),
        ("Takes X → creates Y", "X > Y"),
        ("Reads file.md → parses content", "file.md > content"),
        ("x → creates:\n- one\n- two::Table", "x > one,two"),
        ("x →:\n- one", "x > one"),
        ("**a** -> **b**", "a > b"),
        // Not edges.
        ("- Requirements → Production: 4 days", " > "),
        ("Requirements: 3 → Production: 4 days", " > "),
        ("> a → b", " > "),
        ("    a → b", " > "),
        ("```\na → b\n```", " > "),
        ("````md\n```\na → b\n```\na → b\n````", " > "),
        ("ptr->field and a->b", " > "),
        ("| a → b | c |\n| --- | --- |", " > "),
        ("It went from the first → which was long → to the other one, then.", " > "),
    ] {
        assert_eq!(steps(line), expected, "{line}");
        let crlf = line.replace('\n', "\r\n");
        assert_eq!(steps(&crlf), expected, "with CRLF: {line}");
    }
    assert_eq!(edges("# T\n\n## A @x\n\na → Production\n\n## Production @x\n\nb → c\n"), Vec::<String>::new());
}

#[test]
fn levels_may_be_skipped() {
    let (workflow, told) = read("# T\n\n#### Deep @a\n\n## Top @b\n\n###### Leaf @c\n\n### Mid\n\n#### Low @d\n");
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(outline(&workflow), ["4 - Deep @a", "2 - Top @b", "6 1 Leaf @c", "3 1 Mid", "4 3 Low @d"]);
}

#[test]
fn line_ends_make_no_difference() {
    let (workflow, _) = read(CRUCIBLE);
    let (crlf, _) = read(&CRUCIBLE.replace('\n', "\r\n"));
    assert_eq!(outline(&crlf), outline(&workflow));
    assert_eq!(render_as(&crlf, Dialect::A), render_as(&workflow, Dialect::A));
}

#[test]
fn order_follows_data() {
    let text = "# T\n\n## Ship @x\n\nparcel → done\n\n## Pack @x\n\ngoods → parcel\n\n## Bill @x\n\nparcel → bill\n\n## Close @x\n\ndone, bill → end\n";
    let (workflow, _) = read(text);
    let graph = Graph::of(&workflow);
    let titles: Vec<&str> = graph.order().into_iter().map(|step| workflow.steps[step].title.as_str()).collect();
    assert_eq!(titles, ["Pack", "Ship", "Bill", "Close"]);
    let (cyclic, told) = read("# T\n\n## A @x\n\nz → x\n\n## B @x\n\nx → z\n\n## C @x\n\nq → r\n");
    assert_eq!(told, ["cycle ## A @x"]);
    assert_eq!(Graph::of(&cyclic).order(), [2, 0, 1]);
}

#[test]
fn odd_documents_are_told_with_places() {
    for (text, expected) in [
        ("# T\n\n## A @x\n\n## A @y\n", vec!["duplicate-step ## A @y"]),
        ("# T\n\n## A @x\n\nIf ok → proceed to Nowhere\n", vec!["unknown-step Nowhere"]),
        ("# T\n\n## A @x -> n\n\n## B @x -> n\n", vec!["duplicate-producer ## B @x -> n"]),
        ("# T\n\n## Goals\n\nwords\n", vec!["no-item words"]),
        // A folder stands for the files in it, but not for those that were there before it was made.
        ("# T\n\n## A @x\n\nq → src/a\n\n## B @x\n\nsrc/a → p\n\n## C @x\n\np → 3 files in src/\n", vec![]),
        ("# T\n\n## A @x\n\nsrc/b → p\n\n## C @x\n\np → 3 files in src/\n\n## D @x\n\nsrc/c → z\n", vec![]),
        (
            "# T\n\n## A @x\n\n```session-toon\nexecution[1]{phase,status}:\n  B,success\n```\n",
            vec!["record-step ```session-toon\nexecution[1]{phase,status}:\n  B,success\n```"],
        ),
    ] {
        assert_eq!(read(text).1, expected, "{text}");
    }
}
