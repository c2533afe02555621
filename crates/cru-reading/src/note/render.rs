//! A reading as markdown.

use std::fmt::Write as _;

use cru_note::frontmatter::{Value, emit};
use cru_session::escape::{self, inert, inline};

use super::{ReadingHead, with_hash};
use crate::answer::{Answer, Claim, OutcomeState, Proof, ReadCase, ReadLesson};
use crate::check::Checked;

/// The note of a checked reading. `name` is the session's note for links, `title` the session's title.
pub fn render(head: &ReadingHead, title: &str, checked: &Checked) -> String {
    let answer = &checked.answer;
    let mut out = format!("---\n{}---\n# {}\n", front(head, title), inline(&format!("Reading: {title}")));
    let summary = &answer.summary;
    let name = &head.session;
    let plain = |claim| (String::new(), claim);
    let state = |state: OutcomeState| format!("**{}**: ", state.as_str());
    section(&mut out, "Goal", summary.goal.iter().map(plain), name);
    section(&mut out, "Outcome", summary.outcome.iter().map(|it| (state(it.state), &it.claim)), name);
    let requests = summary.requests.iter();
    let requests = requests.map(|it| (format!("{} {}", link(name, &it.said), state(it.state)), &it.claim));
    section(&mut out, "Requests", requests, name);
    section(&mut out, "Decisions", summary.decisions.iter().map(plain), name);
    section(&mut out, "Not verified", summary.not_verified.iter().map(plain), name);
    section(&mut out, "Open", summary.open.iter().map(plain), name);
    let claimed = summary.contradicted.iter();
    let claimed = claimed.map(|it| (format!("Claimed: {} – ", evidence(&it.said, name)), &it.claim));
    section(&mut out, "Contradicted by the record", claimed, name);
    lessons(&mut out, &answer.lessons, name);
    for (at, case) in answer.cases.iter().enumerate() {
        if at == 0 {
            out.push_str("\n## Cases\n");
        }
        case_of(&mut out, case, answer, name);
    }
    if !answer.workflow.is_empty() {
        out.push_str("\n## Workflow\n\n");
        for group in &answer.workflow {
            let optional = if group.optional { " (optional)" } else { "" };
            let steps: Vec<String> = group.steps.iter().map(|id| link(name, id)).collect();
            let _ = writeln!(out, "1. {}{optional}: {}", inline(&group.title), steps.join(", "));
        }
    }
    if !answer.segments.is_empty() {
        out.push_str("\n## Segments\n\n");
        for segment in &answer.segments {
            let (kind, outcome) = (segment.kind.as_str(), segment.outcome.as_str());
            let _ = writeln!(out, "- `{}` {kind}, {outcome}: {}", id(&segment.id), inline(&segment.summary.text));
            proofs(&mut out, &segment.summary.proof, name);
        }
    }
    refused(&mut out, checked);
    let out = inert(&out, &[]);
    let json = escape::json(&answer.to_json());
    let ticks = "`".repeat(longest_run(&json).max(2) + 1);
    with_hash(&format!("{out}\n## Data\n\n{ticks}json reading\n{json}\n{ticks}\n"))
}

fn front(head: &ReadingHead, title: &str) -> String {
    let text = |text: &str| Value::String(one_line(text));
    let mut entries = vec![
        ("type", text("reading")),
        ("title", text(&format!("Reading: {title}"))),
        ("session", text(&format!("[[{}]]", head.session))),
        ("status", text(head.status.as_str())),
        ("claims", text(&format!("{}/{}", head.claims.0, head.claims.1))),
        ("reader", text(&head.reader)),
    ];
    entries.extend(head.judge.as_deref().map(|judge| ("judge", text(judge))));
    entries.extend(head.tokens.map(|tokens| ("tokens", Value::from(tokens))));
    entries.extend(head.read.as_deref().map(|time| ("read", text(time))));
    entries.extend(Some(&head.reason).filter(|reason| !reason.is_empty()).map(|reason| ("reason", text(reason))));
    entries.extend([
        ("schema", Value::from(crate::SCHEMA)),
        ("note", text(&head.note)),
        ("through", text(&head.through)),
        ("before", text(&head.before)),
        ("prompt", text(&head.prompt)),
        ("key", text(&head.key)),
    ]);
    emit(&entries)
}

fn section<'a>(out: &mut String, title: &str, claims: impl Iterator<Item = (String, &'a Claim)>, name: &str) {
    for (at, (lead, claim)) in claims.enumerate() {
        if at == 0 {
            let _ = write!(out, "\n## {title}\n\n");
        }
        let _ = writeln!(out, "- {lead}{}", inline(&claim.text));
        proofs(out, &claim.proof, name);
    }
}

fn lessons(out: &mut String, all: &[ReadLesson], name: &str) {
    for (at, lesson) in all.iter().enumerate() {
        if at == 0 {
            out.push_str("\n## Lessons\n\n");
        }
        let place = lesson.place.as_deref().map(|place| format!(" · {}", code(place))).unwrap_or_default();
        let (level, confidence) = (lesson.level.as_str(), lesson.confidence.as_str());
        let _ = writeln!(out, "- {} ({level} · {confidence}{place})", inline(&lesson.text));
        proofs(out, &lesson.proof, name);
        for proof in &lesson.against {
            let _ = writeln!(out, "    - against: {}", evidence(proof, name));
        }
    }
}

fn case_of(out: &mut String, case: &ReadCase, answer: &Answer, name: &str) {
    let _ = write!(out, "\n### {}\n\n", inline(&case.title));
    let uses: Vec<&str> = case.uses.iter().map(|it| it.as_str()).collect();
    let mut facts = vec![case.kind.as_str().to_owned(), format!("worth {:.1}", case.worth)];
    facts.extend((!uses.is_empty()).then(|| format!("for {}", uses.join(", "))));
    facts.extend(case.planned.then(|| "planned".to_owned()));
    facts.extend((!case.about_agent).then(|| "not about the agent".to_owned()));
    let _ = writeln!(out, "`{}` {}\n", crate::merge::case_id(&answer.session, case), facts.join(" · "));
    let claims =
        [("Context", Some(&case.context)), ("Failure", case.failure.as_ref()), ("Expected", case.expected.as_ref())];
    for (title, claim) in claims.into_iter().filter_map(|(title, claim)| Some((title, claim?))) {
        let _ = writeln!(out, "- {title}: {}", inline(&claim.text));
        proofs(out, &claim.proof, name);
    }
    for (title, range) in [("Wrong", &case.wrong), ("Right", &case.right)] {
        if let Some(range) = range {
            let _ = writeln!(out, "- {title}: {} to {}", link(name, &range.from), link(name, &range.to));
        }
    }
    if let Some(check) = &case.check {
        let same =
            check.same_as.as_deref().map(|id| format!(", which failed in {}", link(name, id))).unwrap_or_default();
        let _ = writeln!(out, "- Check: {}{same}", link(name, &check.step));
    }
    if let Some((after, said)) = case.after.as_ref().and_then(|after| Some((after, after.said.as_deref()?))) {
        let _ = writeln!(out, "- After: {} ({})", link(name, said), after.verdict.as_str());
    }
}

/// What was refused, so that a person sees what the reader said and the record does not.
fn refused(out: &mut String, checked: &Checked) {
    for (at, finding) in checked.refused().enumerate() {
        if at == 0 {
            out.push_str("\n## Refused\n\n");
        }
        let _ = writeln!(
            out,
            "- `{}` {}: {} (rule {})",
            id(&finding.path),
            inline(&finding.text),
            inline(&finding.reason),
            finding.rule.number()
        );
    }
}

fn proofs(out: &mut String, all: &[Proof], name: &str) {
    for proof in all {
        let _ = writeln!(out, "    - {}", evidence(proof, name));
    }
}

/// A claim with its evidence on one line, for lists.
pub fn line_of_claim(claim: &Claim, name: &str) -> String {
    let proofs: Vec<String> = claim.proof.iter().map(|proof| evidence(proof, name)).collect();
    format!("{} {}", inline(&claim.text), proofs.join("; "))
}

/// A proof as a link with what it cites.
pub(crate) fn evidence(proof: &Proof, name: &str) -> String {
    let quote = proof.quoted().map(quoted).unwrap_or_default();
    let range = |from: &Option<String>, to: &Option<String>| {
        let place = |id: &Option<String>, end: &str| id.as_deref().map_or(end.to_owned(), |id| link(name, id));
        format!("{} to {}", place(from, "the start"), place(to, "the end"))
    };
    match proof {
        Proof::Step { step, status: None, .. } => format!("{}: {quote}", link(name, step)),
        Proof::Step { step, status: Some(status), .. } => format!("{} {}: {quote}", link(name, step), status.as_str()),
        Proof::Line { step, line } => format!("{} line {line}", link(name, step)),
        Proof::Said { said, .. } => format!("{} person: {quote}", link(name, said)),
        Proof::Prose { prose, .. } => format!("{} agent: {quote}", link(name, prose)),
        Proof::Count { count, is } => {
            let what: Vec<String> =
                [&count.tool, &count.file, &count.text].into_iter().flatten().map(|it| inline(it)).collect();
            format!("counted: {is} × {}, {}", what.join(", "), range(&count.from, &count.to))
        }
        Proof::Absent { none } => {
            format!("no call holds {}, {}", quoted(&none.text), range(&none.from, &none.to))
        }
    }
}

/// A value of the frontmatter that a program or a person gave: one line, whatever it holds.
pub(crate) fn one_line(text: &str) -> String {
    cru_base::text::fold_whitespace(&cru_base::text::sanitise(text))
}

/// A pattern of paths or a name as code, which it cannot leave.
pub fn code(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '`' && !c.is_control()).collect();
    format!("`{}`", text.trim())
}

/// A text of others in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("“{}”", inline(text))
}

fn link(name: &str, block: &str) -> String {
    let block = id(block);
    format!("[[{name}#^{block}|{block}]]")
}

/// An id as it may stand in code and links: nothing in it can end either.
fn id(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '[' | ']'))
        .take(60)
        .collect::<String>()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}
