//! Graphs of small vaults made by hand, and properties of any.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use cru_base::Span;
use cru_vault::{Catalog, Finding, Head, Loaded, VaultPath};

/// A vault held in memory: what reading the same files from disk gives.
pub(crate) struct World {
    catalog: Catalog,
    sessions: Vec<Loaded>,
}

impl World {
    pub(crate) fn new(notes: &[(&str, &str)], others: &[&str]) -> Self {
        let path = |path: &str| VaultPath::new(path).unwrap();
        let mut heads: Vec<Head> = Vec::new();
        let mut sessions: Vec<Loaded> = Vec::new();
        for (name, text) in notes {
            let (meta, _) = cru_session::read::meta(text);
            let head = Head { path: path(name), meta: Box::new(meta), findings: Vec::new() };
            if head.is_session() {
                sessions.push(Loaded::parse(path(name), *text));
            }
            heads.push(head);
        }
        heads.sort_by(|a, b| a.path.cmp(&b.path));
        sessions.sort_by(|a, b| a.path.cmp(&b.path));
        let mut others: Vec<VaultPath> = others.iter().map(|name| path(name)).collect();
        others.sort();
        Self { catalog: Catalog::new(heads, others, Vec::new()), sessions }
    }

    pub(crate) fn graph(&self) -> Graph<'_> {
        Graph::of(&self.catalog, &self.sessions)
    }
}

/// Edges of some kinds, one a line; `*` marks the computed ones.
fn edges(graph: &Graph<'_>, kinds: &[EdgeKind]) -> String {
    let mut out = String::new();
    for edge in graph.edges().iter().filter(|edge| kinds.contains(&edge.kind)) {
        let mark = if edge.written.is_some() { "" } else { "*" };
        let _ = writeln!(out, "{} {}{mark} {}", graph.key(edge.from), edge.kind, graph.key(edge.to));
    }
    out
}

fn findings(graph: &Graph<'_>, text_of: impl Fn(&VaultPath) -> String) -> String {
    let show = |finding: &Finding| {
        let text = text_of(&finding.path);
        let place = finding.diagnostic.span.of(&text).lines().next().unwrap_or_default().to_owned();
        let related: Vec<String> = finding.related.iter().map(|it| format!("{} ({})", it.path, it.label)).collect();
        let Finding { path, diagnostic, .. } = finding;
        format!("{path} `{place}` {}: {} {}", diagnostic.code, diagnostic.message, related.join(", ")).trim().to_owned()
    };
    graph.findings().iter().map(show).collect::<Vec<_>>().join("\n")
}

fn note(id: &str, more: &str, body: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\nstarted: 2026-11-20T09:00:00Z\nproject: /w\n{more}---\n# {id}\n\n{body}"
    )
}

fn world(notes: &[(&str, String)], others: &[&str]) -> World {
    let notes: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (*path, text.as_str())).collect();
    World::new(&notes, others)
}

const PLAN: &str = r#"## Research @planner@1.2 #dev

*2026-11-20T09:31:10Z* ^p-01

> [!user]
> "do it" - did it.

- `Read src/a.rs` → 4 lines (09:31:42) ^n-001
    - reads: `src/a.rs@9f2c11ab`
- `Edit src/a.rs` → +1 (09:32:00) ^n-002
    - reads: `src/a.rs@9f2c11ab`
    - writes: `src/a.rs@77aa01b2`
- `Bash cargo test` → ✗ failed (09:33:00, exit 101) ^n-003
    - reads: `./src/a.rs@77aa01b2`
    - after: [[#^n-001]]

> [!decision] Keep it
> Why: small.
> Rests on: [[#^n-003]]

^d-01

> [!error] It broke
> Step: [[#^n-003]]
> Resolution: see [[#^n-004]].

> [!subagent] @reviewer@1.0
> [[b]]
> Summary: fine.

## Build @coder@2.0 #dev

*2026-11-20T10:02:00Z* ^p-02

- `Bash cargo test` → ok (10:03:00) ^n-004
    - reads: `src/a.rs@00000b00`
    - replays: [[#^n-003]]

See [[#^n-001]], [[lesson]], ![[picture.png]] and [[b#Look around @reviewer@1.0 dev]].
"#;

const CHILD: &str = "## Look around @reviewer@1.0 #dev\n\n*2026-11-20T09:40:00Z* ^p-01\n\n\
    - `Edit src/a.rs` → +2 (09:41:00) ^n-001\n    - writes: `/w/src/a.rs@00000b00`\n";

fn family() -> World {
    world(
        &[
            ("s/a.md", note("a", "", PLAN)),
            ("s/b.md", note("b", "parent: \"[[a]]\"\n", CHILD)),
            ("lesson.md", "---\ntype: lesson\n---\n# L\n".to_owned()),
        ],
        &["picture.png"],
    )
}

/// A list item of one word and a link says what the link means; other links are links.
#[test]
fn links_that_say_what_they_mean() {
    let body = "## P @a\n\n*2026-11-20T09:00:00Z* ^p-01\n\nAbout it, as in [[lesson]]:\n\n- lesson_application [[b#^n-001]] (it broke the same way)\n\
                - extends [[lesson]]\n- see also [[a]]\n\nSee [[c]] (why).\n";
    let world = world(
        &[
            ("s/a.md", note("a", "", body)),
            ("s/b.md", note("b", "", CHILD)),
            ("s/c.md", note("c", "", CHILD)),
            ("lesson.md", "---\ntype: lesson\n---\n# L\n".to_owned()),
        ],
        &[],
    );
    let graph = world.graph();
    let mut out = String::new();
    for edge in graph.edges().iter().filter(|edge| edge.kind == EdgeKind::LinksTo) {
        let relation = graph.relation(edge.from, edge.to).map(|it| (it.name.as_str(), it.reason.as_deref()));
        let _ = writeln!(out, "{} {relation:?}", graph.key(edge.to));
    }
    insta::assert_snapshot!(out, @r#"
    a None
    b#n-001 Some(("lesson_application", Some("it broke the same way")))
    c None
    lesson.md Some(("extends", None))
    "#);
    for depth in [Depth::Session, Depth::Phase, Depth::Step] {
        let picture = Picture::of(&graph, None, depth);
        let mut said: Vec<_> = picture.arrows.iter().flat_map(|arrow| picture.relations(arrow)).collect();
        said.sort_by_key(|relation| &relation.name);
        let said: Vec<_> = said.iter().map(|it| (it.name.as_str(), it.reason.as_deref())).collect();
        assert_eq!(said, [("extends", None), ("lesson_application", Some("it broke the same way"))], "{depth:?}");
    }
}

#[test]
fn relations_of_a_family() {
    let world = family();
    let graph = world.graph();
    let kinds: Vec<EdgeKind> =
        EdgeKind::ALL.into_iter().filter(|kind| !matches!(kind, EdgeKind::Contains | EdgeKind::Prev)).collect();
    insta::assert_snapshot!(edges(&graph, &kinds), @"
    a#n-001 reads file:/w/src/a.rs
    a#n-002 reads file:/w/src/a.rs
    a#n-002 writes file:/w/src/a.rs
    a#n-003 after a#n-001
    a#n-003 after* a#n-002
    a#n-003 reads file:/w/src/a.rs
    a#d-01 rests-on a#n-003
    a#p-01.6 rests-on a#n-003
    a#p-01.7 links-to b
    a#p-02 embeds picture.png
    a#p-02 links-to a#n-001
    a#p-02 links-to b#p-01
    a#p-02 links-to lesson.md
    a#p-02 resume* a#p-01
    a#n-004 after* b#n-001
    a#n-004 reads file:/w/src/a.rs
    a#n-004 resolves a#p-01.6
    a#n-004 replays a#n-003
    b from* a#p-01.7
    b#n-001 writes file:/w/src/a.rs
    ");
    assert_eq!(findings(&graph, |_| String::new()), "");
}

#[test]
fn the_order_of_the_page() {
    let world = family();
    insta::assert_snapshot!(edges(&world.graph(), &[EdgeKind::Contains, EdgeKind::Prev]), @"
    a contains* a#p-01
    a contains* a#p-02
    a#p-01 contains* a#p-01.1
    a#p-01 contains* a#n-001
    a#p-01 contains* a#n-002
    a#p-01 contains* a#n-003
    a#p-01 contains* a#d-01
    a#p-01 contains* a#p-01.6
    a#p-01 contains* a#p-01.7
    a#n-002 prev* a#n-001
    a#n-003 prev* a#n-002
    a#p-02 contains* a#n-004
    a#p-02 prev* a#p-01
    a#n-004 prev* a#n-003
    b contains* b#p-01
    b#p-01 contains* b#n-001
    ");
}

#[test]
fn names_are_found_again() {
    let world = family();
    let graph = world.graph();
    for (id, _) in graph.nodes() {
        let key = graph.key(id);
        if graph.node(id).session.is_some() || key.starts_with("file:") {
            assert_eq!(graph.find(&key), Some(id), "{key}");
        }
    }
    let step = graph.find("a#n-002").unwrap();
    for name in ["a#^n-002", "a:n-002", "a#n_002", "a#N-002"] {
        assert_eq!(graph.find(name), Some(step), "{name}");
    }
    assert_eq!(graph.find("a#n-999"), None);
    assert_eq!(graph.find("zebra"), None);
}

#[test]
fn up_and_down() {
    let world = family();
    let graph = world.graph();
    let show = |reached: Vec<Reached>| {
        reached.iter().map(|it| format!("{}:{}", graph.key(it.node), it.depth)).collect::<Vec<_>>().join(" ")
    };
    let of = |key: &str| graph.find(key).unwrap();
    assert_eq!(show(graph.upstream_of(&[of("a#d-01")])), "a#n-003:1 a#n-001:2 a#n-002:2");
    assert_eq!(show(graph.downstream_of(&[of("a#n-001")])), "a#n-003:1 a#d-01:2 a#p-01.6:2");
    assert_eq!(show(graph.upstream_of(&[of("a#n-004")])), "b#n-001:1");
}

#[test]
fn inline_sub_agents_are_a_branch_of_their_own() {
    let body = "## One @a #x\n\n- `Bash a` → ok ^n-001\n\n> [!subagent] @explorer\n> mode: inline\n>\n> - `Grep x` → 1\n\
                > - `Read y` → 2\n>     - reads: `y`\n\n- `Bash b` → ok ^n-002\n";
    let world = world(&[("a.md", note("a", "", body))], &[]);
    insta::assert_snapshot!(edges(&world.graph(), &[EdgeKind::Contains, EdgeKind::Prev, EdgeKind::Reads]), @"
    a contains* a#p-01
    a#p-01 contains* a#n-001
    a#p-01 contains* a#p-01.2
    a#p-01 contains* a#n-002
    a#p-01.2 contains* a#p-01.2.1
    a#p-01.2 contains* a#p-01.2.2
    a#p-01.2.2 prev* a#p-01.2.1
    a#p-01.2.2 reads file:/w/y
    a#n-002 prev* a#n-001
    ");
}

#[test]
fn what_is_odd() {
    let notes = [
        (
            "a.md",
            note(
                "a",
                "",
                "## One @x #y\n\n- `A` → 1 ^n-001\n    - after: [[#^n-003]]\n- `B` → 2 ^n-002\n    - after: [[#^n-001]]\n- `C` → 3 ^n-003\n    - after: [[#^n-002]]\n\nSee [[nowhere]], [[#^n-9]], [[#Two]], [[b#^n-7]], [[sub/file.txt]], [[#one x y]].\n\n> [!subagent] @ghost\n> [[a-ghost]]\n\n![[b]]\n",
            ),
        ),
        ("b.md", note("b", "", "![[a]]\n\n> [!subagent] @kid\n> [[kid]]\n")),
        ("copy/b.md", note("b", "", "## X @y #z\n")),
        ("kid.md", note("kid", "parent: \"[[a]]\"\n", "")),
        ("orphan.md", note("orphan", "parent: \"[[gone]]\"\nsubagents:\n  - session: lost\n", "")),
    ];
    let world = world(&notes, &["sub/file.txt"]);
    let text = |path: &VaultPath| notes.iter().find(|(name, _)| *name == path.text()).unwrap().1.clone();
    insta::assert_snapshot!(findings(&world.graph(), text), @r#"
    a.md `[[#^n-003]]` dependency-cycle: this comes after itself: a#n-001 → a#n-003 → a#n-002 → a#n-001 a.md (leads to a#n-002), a.md (leads to a#n-001)
    a.md `[[nowhere]]` link-note-missing: [[nowhere]] leads to no note
    a.md `[[#^n-9]]` link-block-missing: [[#^n-9]] leads to no block: there is no `^n-9`
    a.md `[[#Two]]` link-heading-missing: [[#Two]] leads to no heading: there is no `Two`
    a.md `[[b#^n-7]]` link-block-missing: [[b#^n-7]] leads to no block: there is no `^n-7`
    a.md `[[#one x y]]` link-heading-missing: [[#one x y]] leads to no heading: there is no `one x y`
    a.md `[[a-ghost]]` subagent-note-missing: the sub-agent's session `a-ghost` has no note
    a.md `![[b]]` embed-cycle: this shows itself in place: a → a#p-01 → b → a b.md (leads to a)
    copy/b.md `session_id: b` duplicate-session-id: `session_id` is `b`, which is also that of b.md b.md (the other one)
    kid.md `parent: "[[a]]"` parent-disagrees: the parent is `a`, but b.md names this as its own sub-agent's session b.md (named here)
    orphan.md `parent: "[[gone]]"` link-note-missing: [[gone]] leads to no note
    orphan.md `subagents:` subagent-note-missing: the sub-agent's session `lost` has no note
    "#);
}

/// A vault of `count` sessions of `steps` steps, each session reading what the one before wrote.
fn chain(count: usize, steps: usize) -> World {
    let mut notes = Vec::new();
    for session in 0..count {
        let mut body = String::from("## P @a #b\n\n*2026-11-20T09:31:10Z* ^p-01\n\n");
        for step in 1..=steps {
            let _ = write!(
                body,
                "- `Edit f{step}` → ok (2026-11-20T{:02}:{:02}:{:02}Z) ^n-{step:03}\n    - reads: `f{}`\n    - writes: `f{step}`\n",
                10 + session / 60 % 10,
                session % 60,
                step % 60,
                step.saturating_sub(1)
            );
        }
        notes.push((format!("s{session:04}.md"), note(&format!("s{session:04}"), "", &body)));
    }
    let notes: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    World::new(&notes, &[])
}

#[test]
fn edges_grow_in_step_with_the_notes() {
    let count = |world: &World| world.graph().edges().len();
    let (one, two) = (count(&chain(20, 20)), count(&chain(40, 20)));
    assert!(two <= 2 * one + 40, "{one} edges, then {two}");
}

#[test]
fn times_that_go_backwards_make_no_cycle() {
    let body = |first: &str, second: &str| {
        format!(
            "## P @a #b\n\n*2026-11-20T09:00:00Z*\n\n- `E` → ok ({first}) ^n-001\n    - reads: `f`\n    - writes: `g`\n\
                 - `E` → ok ({second}) ^n-002\n    - reads: `g`\n    - writes: `f`\n"
        )
    };
    let world = world(
        &[
            ("a.md", note("a", "", &body("10:00:00", "09:01:00"))),
            ("b.md", note("b", "", &body("09:30:00", "09:05:00"))),
        ],
        &[],
    );
    let graph = world.graph();
    assert!(order(&graph).cyclic.is_empty());
    assert_eq!(graph.findings(), []);
}

/// Notes of steps with links and files drawn from few names, so that they meet.
fn notes() -> impl Strategy<Value = Vec<String>> {
    let link = ("[a-d]?", 1..6_usize).prop_map(|(note, step)| format!("[[{note}#^n-{step:03}]]"));
    let file = ("[f-h]", prop::option::of("[0-9a-b]{8}")).prop_map(|(path, hash)| match hash {
        Some(hash) => format!("`{path}@{hash}`"),
        None => format!("`{path}`"),
    });
    let line = prop_oneof![
        link.clone().prop_map(|link| format!("    - after: {link}\n")),
        file.clone().prop_map(|file| format!("    - reads: {file}\n")),
        file.prop_map(|file| format!("    - writes: {file}\n")),
    ];
    let step = (prop::collection::vec(line, 0..4), 0..24_u8, 0..60_u8)
        .prop_map(|(lines, hour, minute)| format!("- `T x` → ok ({hour:02}:{minute:02}:00) ^n-ID\n{}", lines.concat()));
    let other = prop_oneof![
        link.clone().prop_map(|link| format!("> [!decision] D\n> Rests on: {link}\n\n")),
        link.clone().prop_map(|link| format!("> [!error] E\n> Step: {link}\n> Resolution: {link}\n\n")),
        "[a-e]".prop_map(|note| format!("> [!subagent] @x\n> [[{note}]]\n\n")),
        "[a-e]".prop_map(|note| format!("![[{note}]]\n\n")),
        link.prop_map(|link| format!("See {link}.\n\n")),
        Just("## Next @a #b\n\n*2026-11-20T12:00:00Z*\n\n".to_owned()),
        Just("> [!subagent] @x\n> mode: inline\n>\n> - `R y` → ok\n>     - writes: `f`\n\n".to_owned()),
    ];
    let item = prop_oneof![3 => step.prop_map(|step| format!("{step}\n")), 2 => other];
    let body = (prop::collection::vec(item, 0..9), prop::option::of("[a-e]")).prop_map(|(items, parent)| {
        let mut number = 0;
        let mut body = String::from("## First @a #b\n\n*2026-11-20T09:00:00Z*\n\n");
        for item in items {
            number += 1;
            body.push_str(&item.replace("n-ID", &format!("n-{number:03}")));
        }
        let parent = parent.map(|parent| format!("parent: \"[[{parent}]]\"\n")).unwrap_or_default();
        note("ID", &parent, &body)
    });
    prop::collection::vec(body, 1..5)
}

proptest! {
    #[test]
    fn any_vault(notes in notes()) {
        let named: Vec<(String, String)> = ["a", "b", "c", "d"]
            .iter()
            .zip(&notes)
            .map(|(id, text)| (format!("{id}.md"), text.replace("session_id: ID", &format!("session_id: {id}"))))
            .collect();
        let named: Vec<(&str, &str)> = named.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let world = World::new(&named, &[]);
        let graph = world.graph();

        // What contains is a forest: one parent at most, and no way up that does not end.
        for (id, node) in graph.nodes() {
            let parents: Vec<NodeId> = graph.sources(id, EdgeKind::Contains).collect();
            prop_assert_eq!(parents, node.parent.into_iter().collect::<Vec<_>>());
            prop_assert!(node.parent.is_none_or(|parent| parent < id));
        }
        // The order is right, or what cannot be ordered is told.
        let order = order(&graph);
        prop_assert_eq!(order.nodes.len() + order.cyclic.len(), graph.len());
        let mut place = vec![usize::MAX; graph.len()];
        for (at, node) in order.nodes.iter().enumerate() {
            place[node.index()] = at;
        }
        for edge in graph.edges().iter().filter(|edge| edge.kind.is_dependency()) {
            let ordered = place[edge.from.index()] != usize::MAX;
            prop_assert!(!ordered || place[edge.to.index()] < place[edge.from.index()]);
        }
        let told = graph.findings().iter().any(|finding| finding.diagnostic.code == "dependency-cycle");
        prop_assert_eq!(told, !order.cyclic.is_empty());
        // Data flow alone never makes a cycle: each cycle holds a link that somebody wrote.
        for finding in graph.findings() {
            prop_assert!(finding.diagnostic.code != "dependency-cycle" || !finding.diagnostic.span.is_empty());
        }
        // Up and down are each other's mirror, and deeper means a longer way.
        for (id, _) in graph.nodes() {
            for reached in graph.upstream_of(&[id]) {
                prop_assert!(reached.depth >= 1);
                prop_assert!(graph.downstream_of(&[reached.node]).iter().any(|back| back.node == id));
            }
        }
        // Keys are unique, and the same vault gives the same graph.
        let keys: std::collections::BTreeSet<String> = graph.nodes().map(|(id, _)| graph.key(id)).collect();
        prop_assert_eq!(keys.len(), graph.len());
        let again = world.graph();
        prop_assert_eq!(edges(&graph, &EdgeKind::ALL), edges(&again, &EdgeKind::ALL));
        prop_assert_eq!(graph.findings(), again.findings());
        let _ = Span::default();
    }
}

/// Nodes in an order in which everything comes after what it depends on.
#[derive(Default)]
struct Order {
    /// All nodes that can be ordered; among those that could come next, the first on the page.
    nodes: Vec<NodeId>,
    /// Nodes in a cycle or after one, in the order of the page.
    cyclic: Vec<NodeId>,
}

/// All nodes in the order of their dependencies, by counting what each still waits for.
fn order(graph: &Graph<'_>) -> Order {
    let needs = |edge: &&Edge| edge.kind.is_dependency();
    let mut missing: Vec<usize> = graph.nodes().map(|(id, _)| graph.out(id).iter().filter(needs).count()).collect();
    let mut ready: BinaryHeap<Reverse<NodeId>> =
        graph.nodes().filter(|(id, _)| missing[id.index()] == 0).map(|(id, _)| Reverse(id)).collect();
    let mut order = Order::default();
    while let Some(Reverse(node)) = ready.pop() {
        order.nodes.push(node);
        for edge in graph.incoming(node).filter(needs) {
            let left = &mut missing[edge.from.index()];
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse(edge.from));
            }
        }
    }
    order.cyclic = graph.nodes().filter(|(id, _)| missing[id.index()] > 0).map(|(id, _)| id).collect();
    order
}
