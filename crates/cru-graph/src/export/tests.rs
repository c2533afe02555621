//! Every export is well-formed whatever the notes hold.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::Depth;
use crate::tests::World;

/// A session whose words are all `words`, with a sub-agent and a neighbour that goes on from it.
fn world(words: &str) -> World {
    let title = serde_json::to_string(words).unwrap();
    let line: String = words.chars().filter(|c| !c.is_control()).collect();
    let note = |id: &str, more: &str, body: &str| {
        format!(
            "---\ntype: session\nsession_id: {id}\ntitle: {title}\nproject: /w\nstarted: 2026-11-20T09:00:00Z\n{more}---\n{body}"
        )
    };
    let a = format!(
        "## {line} @coder@1 #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n- ``Bash {line}`` → ok (09:01:00) ^n-001\n    - writes: `{line}`\n\
         - `Read f` → ✗ no (09:02:00) ^n-002\n    - reads: `f`\n    - after: [[#^n-001]]\n\n> [!decision] {line}\n> Rests on: [[#^n-002]]\n\n^d-01\n\n\
         > [!user]\n> \"{line}\"\n\n> [!error] {line}\n> Step: [[#^n-002]]\n\n> [!subagent] @kid\n> [[kid]]\n\n## Same @x #y\n\n## Same @x #y\n\n### Inner @x #y\n\n\
         > [!lesson] {line}\n> {line}\n\nSee [[b]], [[lesson]] and ![[p.png]].\n"
    );
    let kid =
        "## Look @kid #dev\n\n*2026-11-20T09:01:30Z* ^p-01\n\n- `Edit f` → ok (09:01:40) ^n-001\n    - writes: `f`\n";
    let b = "## Go on @coder@1 #dev\n\n*2026-11-21T09:00:00Z* ^p-01\n\n- `Read f` → ok (09:02:00) ^n-001\n    - reads: `f`\n";
    let (a, kid, b) = (note("a", "", &a), note("kid", "parent: \"[[a]]\"\n", kid), note("b", "parent: \"[[a]]\"\n", b));
    let lesson = format!("---\ntype: lesson\ntitle: {title}\n---\n");
    World::new(&[("s/a.md", &a), ("s/kid.md", &kid), ("s/b.md", &b), ("lesson.md", &lesson)], &["p.png"])
}

/// Each part of the vault at each depth.
fn pictures(world: &World, check: impl Fn(&Picture<'_, '_>)) {
    let graph = world.graph();
    for focus in [None, Some(0), Some(1), Some(2)] {
        for depth in [Depth::Session, Depth::Phase, Depth::Step] {
            check(&Picture::of(&graph, focus, depth));
        }
    }
}

/// Reads the part of Mermaid's grammar that is written here.
fn check_mermaid(text: &str) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flowchart LR"));
    let is_id = |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (mut open, mut known): (usize, HashSet<&str>) = (0, HashSet::new());
    for line in lines.map(str::trim_start) {
        if line == "end" {
            open = open.checked_sub(1).expect("an end without a subgraph");
        } else if let Some(rest) = line.strip_prefix("classDef ") {
            assert!(CLASS_LINE(rest), "{line}");
        } else if let Some(rest) = line.strip_prefix("class ") {
            let (ids, class) = rest.split_once(' ').unwrap();
            assert!(ids.split(',').all(|id| known.contains(id)) && is_id(class), "{line}");
        } else if let Some((from, rest)) = line.split_once(" -. ") {
            let (label, to) = rest.split_once(" .-> ").unwrap();
            assert!(known.contains(from) && known.contains(to) && !label.contains('.'), "{line}");
        } else if let Some((from, to)) = line.split_once(" --> ").filter(|_| !line.contains('"')) {
            assert!(known.contains(from) && known.contains(to), "{line}");
        } else {
            let (head, rest) = line.split_once('"').unwrap_or_else(|| panic!("{line}"));
            let (label, tail) = rest.split_once('"').unwrap();
            assert!(!tail.contains('"') && !label.contains(['<', '>', '`', '%', '[', ']', '{', '}']), "{line}");
            let (group, head) = head.strip_prefix("subgraph ").map_or((false, head), |head| (true, head));
            let id = head.trim_end_matches(['[', '(', '{', '/', '>']);
            assert!(is_id(id) && known.insert(id), "{line}");
            open += usize::from(group);
        }
    }
    assert_eq!(open, 0);
}

const CLASS_LINE: fn(&str) -> bool = |rest| rest.split_once(' ').is_some_and(|(_, look)| look.starts_with("fill:#"));

/// Reads DOT's tokens: quoted strings end where they should, and brackets balance.
fn check_dot(text: &str) {
    let (mut quoted, mut escaped, mut depth) = (false, false, Vec::new());
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '\n' => assert!(!quoted, "a string over two lines"),
            '{' | '[' if !quoted => depth.push(c),
            '}' if !quoted => assert_eq!(depth.pop(), Some('{')),
            ']' if !quoted => assert_eq!(depth.pop(), Some('[')),
            c => assert!(quoted || c.is_ascii(), "{c} outside of a string"),
        }
    }
    assert!(!quoted && depth.is_empty());
}

/// JSON Canvas 1.0: what each node and edge must have, and no card over another.
fn check_canvas(canvas: &serde_json::Value) {
    let list = |name: &str| canvas[name].as_array().unwrap().clone();
    let nodes = list("nodes");
    let ids: HashSet<String> = nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), nodes.len());
    let number = |node: &serde_json::Value, key: &str| node[key].as_i64().unwrap();
    for node in &nodes {
        assert!(number(node, "width") > 0 && number(node, "height") > 0);
        let (needed, kind) = match node["type"].as_str().unwrap() {
            "file" => ("file", "file"),
            "text" => ("text", "text"),
            "group" => ("label", "group"),
            other => panic!("{other}"),
        };
        assert!(node[needed].is_string(), "{kind}");
        assert!(node["subpath"].is_null() || node["subpath"].as_str().unwrap().starts_with('#'));
    }
    let cards: Vec<_> = nodes.iter().filter(|node| node["type"] != "group").collect();
    for (at, a) in cards.iter().enumerate() {
        for b in &cards[at + 1..] {
            let apart = |from: &str, size: &str| {
                number(a, from) + number(a, size) <= number(b, from)
                    || number(b, from) + number(b, size) <= number(a, from)
            };
            assert!(apart("x", "width") || apart("y", "height"), "{a} lies over {b}");
        }
    }
    let mut edges = HashSet::new();
    for edge in list("edges") {
        assert!(ids.contains(edge["fromNode"].as_str().unwrap()) && ids.contains(edge["toNode"].as_str().unwrap()));
        assert!(edges.insert(edge["id"].as_str().unwrap().to_owned()));
    }
}

fn check_json(value: &serde_json::Value) {
    let nodes = value["nodes"].as_array().unwrap();
    let keys: HashSet<&str> = nodes.iter().map(|node| node["key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), nodes.len());
    for edge in value["edges"].as_array().unwrap() {
        assert!(keys.contains(edge["from"].as_str().unwrap()) && keys.contains(edge["to"].as_str().unwrap()));
    }
    assert!(nodes.iter().all(|node| node["parent"].is_null() || keys.contains(node["parent"].as_str().unwrap())));
}

fn check_all(picture: &Picture<'_, '_>) {
    check_mermaid(&mermaid::export(picture));
    check_dot(&dot::export(picture));
    check_canvas(&canvas::export(picture));
    check_json(&json::export(picture));
}

#[test]
fn words_that_mean_something_elsewhere() {
    for words in [
        "end",
        "graph TD",
        "a\"b",
        "]] --> x",
        "%%{init: {}}%%",
        "<b>&lt;</b>",
        "\\",
        "\\N",
        "`x`",
        "# [[y]] |z|",
        "1. x",
    ] {
        pictures(&world(words), check_all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_words(words in "\\PC{0,40}") {
        pictures(&world(&words), check_all);
    }
}

#[test]
fn a_session_as_mermaid() {
    let world = world("Mend it");
    let graph = world.graph();
    insta::assert_snapshot!(mermaid::export(&Picture::of(&graph, Some(0), Depth::Step)), @r#"
    flowchart LR
      subgraph session_a["Mend it"]
        subgraph phase_a_p_01["Mend it @coder@1"]
          step_a_n_001["✓ n-001 Bash Mend it"]
          step_a_n_002["✗ n-002 Read f"]
          decision_a_d_01{{"Mend it"}}
          user_a_p_01_4(["“Mend it”"])
          error_a_p_01_5[/"Mend it"/]
          subagent_a_p_01_6[["sub-agent kid"]]
        end
        phase_a_p_02["Same @x"]
        subgraph phase_a_p_03["Same @x"]
          subgraph phase_a_p_04["Inner @x"]
            lesson_a_p_04_1(["lesson: Mend it"])
          end
        end
      end
      session_b["Mend it"]
      subgraph session_kid["Mend it"]
        subgraph phase_kid_p_01["Look @kid"]
          step_kid_n_001["✓ n-001 Edit f"]
        end
      end
      file_file__w_Mend_it[("Mend it")]
      file_file__w_f[("f")]
      lesson_lesson_md(["Mend it"])
      note_p_png>"p.png"]
      step_a_n_001 -. writes .-> file_file__w_Mend_it
      step_a_n_001 --> step_a_n_002
      step_a_n_002 -. after .-> step_a_n_001
      step_a_n_002 -. after .-> step_kid_n_001
      step_a_n_002 -. reads .-> file_file__w_f
      decision_a_d_01 -. rests-on .-> step_a_n_002
      error_a_p_01_5 -. rests-on .-> step_a_n_002
      subagent_a_p_01_6 -. links-to .-> session_kid
      phase_a_p_01 --> phase_a_p_02
      phase_a_p_02 --> phase_a_p_03
      phase_a_p_04 -. embeds .-> note_p_png
      phase_a_p_04 -. links-to .-> session_b
      phase_a_p_04 -. links-to .-> lesson_lesson_md
      session_b -. after .-> step_kid_n_001
      session_b -. from .-> session_a
      session_b -. fork .-> phase_a_p_04
      session_kid -. from .-> subagent_a_p_01_6
      step_kid_n_001 -. writes .-> file_file__w_f
      classDef failed fill:#fde2e1,stroke:#c0392b,color:#4a1310
      class step_a_n_002 failed
      classDef decision fill:#e3f4e1,stroke:#2e8b57,color:#12351f
      class decision_a_d_01 decision
      classDef error fill:#fbe9d7,stroke:#d35400,color:#4a2306
      class error_a_p_01_5 error
      classDef user fill:#fff7d6,stroke:#b7950b,color:#3d3204
      class user_a_p_01_4 user
      classDef subagent fill:#e1effa,stroke:#2471a3,color:#0e2a3d
      class subagent_a_p_01_6 subagent
      classDef lesson fill:#efe4f7,stroke:#7d3c98,color:#2e1539
      class lesson_a_p_04_1,lesson_lesson_md lesson
      classDef file fill:#eeeeee,stroke:#7f8c8d,color:#222222
      class file_file__w_Mend_it,file_file__w_f file
    "#);
    insta::assert_snapshot!(mermaid::export(&Picture::of(&graph, None, Depth::Phase)), @r#"
    flowchart LR
      subgraph session_a["Mend it"]
        phase_a_p_01["Mend it @coder@1"]
        phase_a_p_02["Same @x"]
        subgraph phase_a_p_03["Same @x"]
          phase_a_p_04["Inner @x"]
        end
      end
      subgraph session_b["Mend it"]
        phase_b_p_01["Go on @coder@1"]
      end
      subgraph session_kid["Mend it"]
        phase_kid_p_01["Look @kid"]
      end
      file_file__w_f[("f")]
      lesson_lesson_md(["Mend it"])
      note_p_png>"p.png"]
      phase_a_p_01 -. after .-> phase_kid_p_01
      phase_a_p_01 -. reads .-> file_file__w_f
      phase_a_p_01 -. links-to .-> session_kid
      phase_a_p_01 --> phase_a_p_02
      phase_a_p_02 --> phase_a_p_03
      phase_a_p_04 -. embeds .-> note_p_png
      phase_a_p_04 -. links-to .-> session_b
      phase_a_p_04 -. links-to .-> lesson_lesson_md
      session_b -. from .-> session_a
      phase_b_p_01 -. after .-> phase_kid_p_01
      phase_b_p_01 -. reads .-> file_file__w_f
      phase_b_p_01 -. fork .-> phase_a_p_04
      session_kid -. from .-> phase_a_p_01
      phase_kid_p_01 -. writes .-> file_file__w_f
      classDef lesson fill:#efe4f7,stroke:#7d3c98,color:#2e1539
      class lesson_lesson_md lesson
      classDef file fill:#eeeeee,stroke:#7f8c8d,color:#222222
      class file_file__w_f file
    "#);
}

#[test]
fn a_vault_as_dot() {
    let world = world("Mend it");
    insta::assert_snapshot!(dot::export(&Picture::of(&world.graph(), None, Depth::Phase)), @r##"
    digraph sessions {
      rankdir=LR
      compound=true
      fontname="sans-serif"
      node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="sans-serif", fontsize=10]
      edge [fontname="sans-serif", fontsize=9, color="#7f8c8d"]
      subgraph "cluster a" {
        label="Mend it"
        "a" [shape=point, style=invis, width=0]
        "a#p-01" [label="Mend it @coder@1"]
        "a#p-02" [label="Same @x"]
        subgraph "cluster a#p-03" {
          label="Same @x"
          "a#p-03" [shape=point, style=invis, width=0]
          "a#p-04" [label="Inner @x"]
        }
      }
      subgraph "cluster b" {
        label="Mend it"
        "b" [shape=point, style=invis, width=0]
        "b#p-01" [label="Go on @coder@1"]
      }
      subgraph "cluster kid" {
        label="Mend it"
        "kid" [shape=point, style=invis, width=0]
        "kid#p-01" [label="Look @kid"]
      }
      "file:/w/f" [label="f", shape=cylinder, style=filled, fillcolor="#eeeeee"]
      "lesson.md" [label="Mend it", fillcolor="#efe4f7"]
      "p.png" [label="p.png", shape=note, style=filled, fillcolor="#f7f7f7"]
      "a#p-01" -> "kid#p-01" [label="after", style=dashed, constraint=false]
      "a#p-01" -> "file:/w/f" [label="reads", style=dashed, constraint=false]
      "a#p-01" -> "kid" [label="links-to", style=dashed, constraint=false]
      "a#p-01" -> "a#p-02" [color="#2c3e50"]
      "a#p-02" -> "a#p-03" [color="#2c3e50"]
      "a#p-04" -> "p.png" [label="embeds", style=dashed, constraint=false]
      "a#p-04" -> "b" [label="links-to", style=dashed, constraint=false]
      "a#p-04" -> "lesson.md" [label="links-to", style=dashed, constraint=false]
      "b" -> "a" [label="from", style=dashed, constraint=false]
      "b#p-01" -> "kid#p-01" [label="after", style=dashed, constraint=false]
      "b#p-01" -> "file:/w/f" [label="reads", style=dashed, constraint=false]
      "b#p-01" -> "a#p-04" [label="fork", style=dashed, constraint=false]
      "kid" -> "a#p-01" [label="from", style=dashed, constraint=false]
      "kid#p-01" -> "file:/w/f" [label="writes", style=dashed, constraint=false]
    }
    "##);
}

#[test]
fn a_vault_as_canvas() {
    let world = world("Mend it");
    let value = canvas::export(&Picture::of(&world.graph(), None, Depth::Phase));
    let show = |node: &serde_json::Value| {
        let place = |key: &str| node[key].as_i64().unwrap();
        let content = ["file", "subpath", "text", "label"].map(|key| node[key].as_str().unwrap_or_default());
        format!("{} {} {}×{} {}", place("x"), place("y"), place("width"), place("height"), content.join(" ").trim())
    };
    let rows: Vec<String> = value["nodes"].as_array().unwrap().iter().map(show).collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    0 0 380×280 s/a.md
    460 0 360×280 s/a.md #Mend it @coder@1 dev
    900 0 360×280 s/a.md #Same @x y
    1340 0 360×280 Same @x
    1780 0 360×280 s/a.md #Inner @x y
    40 360 380×280 s/b.md
    500 360 360×280 s/b.md #Go on @coder@1 dev
    40 720 380×280 s/kid.md
    500 720 360×280 s/kid.md #Look @kid dev
    -540 0 380×160 lesson.md
    -540 180 380×160 p.png
    ");
}

#[test]
fn ids_stay_when_others_come() {
    let (few, many) = (world("x"), world("y"));
    let ids = |world: &World, depth| {
        let graph = world.graph();
        let picture = Picture::of(&graph, None, depth);
        plain_ids(&picture).into_iter().map(|(node, id)| (graph.key(node), id)).collect::<HashMap<_, _>>()
    };
    let (few, many) = (ids(&few, Depth::Phase), ids(&many, Depth::Step));
    for (key, id) in few.iter().filter(|(key, _)| many.contains_key(*key)) {
        assert_eq!(many.get(key), Some(id));
    }
}
