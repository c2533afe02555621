//! Case notes: what a person made of a case.
//!
//! A note under `cases/` holds one case in its parts, for a person who reads, edits, accepts or rejects it. `rendered` in
//! its frontmatter is the hash of the file as it was written, so every later change of any byte is known as a person's;
//! such a note is never written again. Of an edited note the parts that differ from what the record gives are taken as
//! the person wrote them.

pub mod document;
pub mod verdict;

use self::document::Layout;
use self::verdict::{CaseVerdict, without_verdict};
use crate::case::{Case, Edits};
use crate::hygiene::ESCAPED;
use cru_base::Result;
use cru_session::{ReviewStatus, public};

/// The parts of a case note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What was asked and done before.
    Context,
    /// What went wrong.
    Failure,
    /// The person's words.
    Words,
    /// What is right.
    Expected,
}

/// How the part with the answer begins where the record has none; `templates/case.md` says it.
pub const UNANSWERED: &str = "Not in the record";

/// Headings of the parts, in lower case.
const HEADINGS: &[(&str, Part)] = &[
    ("context", Part::Context),
    ("task", Part::Context),
    ("failure", Part::Failure),
    ("what the agent did", Part::Failure),
    ("refused plan", Part::Failure),
    ("correction", Part::Words),
    ("expected behaviour", Part::Expected),
    ("expected behavior", Part::Expected),
    ("what it did then", Part::Expected),
    ("accepted plan", Part::Expected),
    ("what was done", Part::Expected),
];

/// A case note, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Path relative to the vault.
    pub path: String,
    /// `case_id`.
    pub id: String,
    /// `status`; what is none is [`ReviewStatus::Proposed`].
    pub status: ReviewStatus,
    /// `status` as it is written, where it is none.
    pub odd_status: Option<String>,
    /// `case_type`.
    pub kind: String,
    /// The first heading.
    pub title: String,
    /// The note that `session` links to, with the block where one is named.
    pub session: String,
    /// The key of the reading that it is of; empty where a rule found it.
    pub reading: String,
    /// What a reader of cases says of it.
    pub judged: Option<CaseVerdict>,
    /// Whether a person changed anything since the note was written.
    pub changed: bool,
    /// The whole file, for its hash and for who writes it again.
    pub text: String,
    /// What of it may leave it.
    pub public: String,
}

/// What the frontmatter of a note says; empty where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Front<'a> {
    /// `type`.
    pub kind: &'a str,
    /// `case_id`.
    pub case_id: &'a str,
    /// `case_type`.
    pub case_type: &'a str,
    /// `status`.
    pub status: &'a str,
    /// `session`.
    pub session: &'a str,
    /// `rendered`.
    pub rendered: &'a str,
    /// `reading`.
    pub reading: &'a str,
    /// `judged`.
    pub judged: &'a str,
}

/// The line of the frontmatter that holds the hash.
const RENDERED: &str = "rendered: ";

impl Review {
    /// Reads a note by what its frontmatter says; `None` where it is no case.
    pub fn read(path: &str, text: &str, front: &Front<'_>) -> Option<Self> {
        let id = front.case_id.trim();
        if front.kind != "case" || id.is_empty() {
            return None;
        }
        let status = ReviewStatus::parse_any_case(front.status);
        let public = public::text(text);
        let title = public.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(id);
        Some(Self {
            path: path.to_owned(),
            id: id.to_owned(),
            status: status.unwrap_or_default(),
            odd_status: status.is_none().then(|| front.status.to_owned()),
            kind: front.case_type.to_owned(),
            title: title.trim().to_owned(),
            session: front.session.trim_matches(['[', ']', '"']).to_owned(),
            reading: front.reading.to_owned(),
            judged: CaseVerdict::parse(front.judged.trim()),
            changed: front.rendered != hash(text),
            text: text.to_owned(),
            public,
        })
    }

    /// The parts of the note that may leave it.
    pub fn parts(&self) -> Vec<(Part, &str)> {
        parts(&self.public)
    }

    /// Whether nobody has written what is right, and the record has nothing: its part is empty, or says so.
    pub fn is_unanswered(&self) -> bool {
        let says_so = |text: &str| text.trim().is_empty() || text.trim().starts_with(UNANSWERED);
        !self.parts().iter().any(|(part, text)| *part == Part::Expected && !says_so(text))
    }

    /// What a person wrote anew, compared with the note that the record gives now.
    pub fn edits(&self, fresh: &str) -> Option<Edits> {
        if !self.changed {
            return None;
        }
        let fresh = public::text(fresh);
        let given = parts(&fresh);
        let mut edits = Edits::default();
        for (part, text) in self.parts() {
            if given.iter().any(|(known, as_given)| *known == part && as_given.trim() == text.trim()) {
                continue;
            }
            let plain = Some(plain(text));
            match part {
                Part::Context => edits.context = plain,
                Part::Failure => edits.failure = plain,
                Part::Words => edits.words = plain,
                Part::Expected => edits.expected = plain,
            }
        }
        (!edits.is_empty()).then_some(edits)
    }
}

/// The note of a case, with its own hash.
pub fn note(case: &Case, layout: &Layout<'_>) -> Result<String> {
    let text = layout.render(case, true)?;
    let line = format!("{RENDERED}{}\n", hash(&text));
    // Behind all other keys of the frontmatter.
    Ok(match text.match_indices("\n---\n").next() {
        Some((at, _)) => format!("{}{line}{}", &text[..=at], &text[at + 1..]),
        None => text,
    })
}

/// The hash of a note without the line that holds it and without a verdict, whatever ends its lines.
fn hash(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in without_verdict(text).lines().filter(|line| !line.starts_with(RENDERED)) {
        hasher.update(line.trim_end_matches('\r').as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn parts(text: &str) -> Vec<(Part, &str)> {
    let mut parts: Vec<(Part, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open: Option<(Part, usize)> = None;
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        let marks = trimmed.trim_start().split(|c| c != '`' && c != '~').next().unwrap_or_default();
        match fence {
            Some(mark) if trimmed.trim() == marks && marks.starts_with(mark) => fence = None,
            None if marks.len() >= 3 => fence = Some(marks),
            None if trimmed.starts_with("## ") || trimmed.starts_with("# ") => {
                if let Some((part, from)) = open.take() {
                    parts.push((part, from, at));
                }
                let name = trimmed.trim_start_matches('#').trim().to_lowercase();
                let known = HEADINGS.iter().find(|(heading, _)| *heading == name);
                open = known.map(|(_, part)| (*part, at + line.len()));
            }
            _ => {}
        }
        at += line.len();
    }
    if let Some((part, from)) = open {
        parts.push((part, from, at));
    }
    parts.into_iter().map(|(part, from, to)| (part, &text[from..to])).collect()
}

/// A part as a model is to read it: out of its quotes, without links to steps and marks of callouts.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.trim().lines() {
        let quoted = line.strip_prefix("> ").or_else(|| line.strip_prefix('>'));
        let line = quoted.unwrap_or(line);
        let mark = quoted.and_then(|line| line.strip_prefix("[!")).and_then(|line| line.split_once(']'));
        let line = mark.map_or(line, |(_, title)| title.trim());
        fenced ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let line = if fenced { line.to_owned() } else { unlinked(line) };
        if mark.is_some() && line.is_empty() {
            continue;
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.trim().to_owned()
}

/// A line without a link to a block at its end, and without the backslashes that keep text from being markup.
fn unlinked(line: &str) -> String {
    let line = match line.rfind(" [[") {
        Some(at) if line.ends_with("]]") && line[at..].contains("#^") => &line[..at],
        _ => line,
    };
    let mut out = String::with_capacity(line.len());
    let mut code = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        code ^= c == '`';
        if c == '\\' && !code && chars.peek().is_some_and(|next| ESCAPED.contains(*next)) {
            out.extend(chars.next());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "---\ntype: case\ncase_id: puzzle-1\nstatus: proposed\n---\n# T\n\n## Context\n\n> [!user]\n> Do \\%\\%x\\%\\%.\n\n- `ls` → a\\_b [[s#^n-001]]\n\n## Failure\n\n```\n## no heading\n```\n\n## Mine\n\nx\n\n## Expected behaviour\n\n> Say %%private y%% it.\n";

    fn review(text: &str) -> Option<Review> {
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).unwrap_or_default();
        let front = Front {
            kind: value("type"),
            case_id: value("case_id"),
            status: value("status"),
            rendered: value("rendered"),
            ..Front::default()
        };
        Review::read("cases/a.md", text, &front)
    }

    #[test]
    fn parts_as_a_model_reads_them() {
        let review = review(NOTE).unwrap();
        let parts: Vec<(Part, String)> = review.parts().into_iter().map(|(part, text)| (part, plain(text))).collect();
        let expected = [
            (Part::Context, "Do %%x%%.\n\n- `ls` → a_b"),
            (Part::Failure, "```\n## no heading\n```"),
            (Part::Expected, "Say it."),
        ];
        assert_eq!(parts, expected.map(|(part, text)| (part, text.to_owned())));
        assert!(review.changed, "there is no hash");
    }

    #[test]
    fn any_change_is_known() {
        let line = format!("{RENDERED}{}\n---\n#", hash(NOTE));
        let written = NOTE.replacen("---\n#", &line, 1);
        assert!(!review(&written).unwrap().changed);
        assert!(!review(&written.replace('\n', "\r\n")).unwrap().changed, "a tool may change line ends");
        assert!(review(&written.replace("proposed", "accepted")).unwrap().changed);
        let edited = review(&written.replace("Say", "Tell")).unwrap();
        let edits = edited.edits(NOTE).unwrap();
        assert_eq!(edits, Edits { expected: Some("Tell it.".into()), ..Edits::default() });
    }

    #[test]
    fn what_a_person_hides_is_in_no_part() {
        let text = NOTE.replacen("## ", "%%private from here\n\n## ", 1);
        let review = review(&text).unwrap();
        assert_eq!(review.parts(), [], "a comment that is not closed takes everything behind it along");
        let titled = NOTE.replacen("\n# ", "\n# %%private customer%% ", 1);
        let review = self::review(&titled).unwrap();
        assert!(!review.title.contains("customer") && !review.public.contains("customer"), "{review:?}");
        assert_eq!(review.text, titled);
    }

    #[test]
    fn other_notes_are_none() {
        for text in ["", "# x", "---\ntype: session\n---\n", "---\ntype: case\n---\n"] {
            assert_eq!(review(text), None);
        }
    }
}
