//! Templates: what surrounds the parts that the program writes. Built in, and overridable by a file in the vault.
//!
//! A template of a note decides what stands around: own properties, a section for remarks, a footer. The structured
//! parts are handed in as they are, and a note that no longer says the same through a template is refused: a layout may
//! not change what is read back.

use std::collections::BTreeMap;

use super::{Vault, VaultPath};
use cru_base::{Diagnostic, Error, Result, Span, files};
use cru_note::{Note, frontmatter};
use cru_session::{Item, read, render};
use cru_template::LARGEST;

/// The templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A new session note.
    Session,
    /// A new note of a sub-agent's session.
    Subagent,
    /// A workflow note.
    Workflow,
    /// A learning case.
    Case,
    /// The system prompt of exported cases.
    Prompt,
    /// What an agent is asked that refines a workflow.
    Refine,
    /// What an agent is asked that reads a session in brief.
    Brief,
    /// What an agent is asked that reads a session for cases, lessons, workflow and segments too.
    Read,
    /// What the second reader of a session is asked.
    Judge,
    /// What a reader of cases is asked.
    JudgeCases,
}

/// File name and built-in text of each.
const TABLE: &[(Kind, &str, &str)] = &[
    (Kind::Session, "session.md", include_str!("../../../templates/session.md")),
    (Kind::Subagent, "subagent.md", include_str!("../../../templates/subagent.md")),
    (Kind::Workflow, "workflow.md", include_str!("../../../templates/workflow.md")),
    (Kind::Case, "case.md", include_str!("../../../templates/case.md")),
    (Kind::Prompt, "prompt.md", include_str!("../../../templates/prompt.md")),
    (Kind::Refine, "refine.md", include_str!("../../../templates/refine.md")),
    (Kind::Brief, "brief.md", include_str!("../../../templates/brief.md")),
    (Kind::Read, "read.md", include_str!("../../../templates/read.md")),
    (Kind::Judge, "judge.md", include_str!("../../../templates/judge.md")),
    (Kind::JudgeCases, "judge-cases.md", include_str!("../../../templates/judge-cases.md")),
];

/// A template that is ready to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// `templates/session.md`, as errors call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether the vault has its own.
    pub own: bool,
}

impl Template {
    /// The vault's own template, else the built-in one. Error: the file cannot be read or is no template.
    pub fn of(vault: &Vault, kind: Kind) -> Result<Self> {
        let built_in = Self::built_in(kind);
        let path = VaultPath::new(&built_in.name).map(|path| vault.file(&path)).filter(|path| path.is_file());
        let Some(path) = path else { return Ok(built_in) };
        // What it says is given to agents: a link does not make a file of the person part of it.
        let bytes = files::read_regular(&files::within(vault.root(), &path)?, LARGEST)?;
        let bytes = bytes.ok_or_else(|| {
            Error::usage(format!("could not use the template {}: it is longer than {LARGEST} bytes", built_in.name))
                .with_hint("mend it, or remove it to use the built-in one")
        })?;
        let template = Self { text: String::from_utf8_lossy(&bytes).into_owned(), own: true, ..built_in };
        template.read()?;
        Ok(template)
    }

    /// The same for who has to go on: the built-in one where the vault's own cannot be used, and why.
    pub fn of_or_built_in(vault: &Vault, kind: Kind) -> (Self, Option<Error>) {
        Self::of(vault, kind).map_or_else(|error| (Self::built_in(kind), Some(error)), |template| (template, None))
    }

    /// The built-in one, whatever a vault has.
    pub fn built_in(kind: Kind) -> Self {
        let (_, file, text) = TABLE.iter().find(|(row, ..)| *row == kind).copied().unwrap_or(TABLE[0]);
        Self { name: format!("templates/{file}"), text: text.to_owned(), own: false }
    }

    /// What is wrong with each of a vault's own templates, by its name.
    pub fn faults(vault: &Vault) -> Vec<(String, Diagnostic)> {
        let fault = |(kind, ..): &(Kind, &str, &str)| {
            let tried = Self::of(vault, *kind).and_then(|template| match kind {
                Kind::Session | Kind::Subagent | Kind::Workflow => {
                    template.frame(SAMPLE.to_owned(), "sample").map(drop)
                }
                // Values are missing, and so nothing.
                Kind::Case => Ok(()),
                _ => template.fill(&[]).map(drop),
            });
            let error = tried.err()?;
            let help = error.hint().unwrap_or_default().to_owned();
            let diagnostic = Diagnostic::error("template", Span::new(0, 0), error.to_string()).help(help);
            Some((Self::built_in(*kind).name, diagnostic))
        };
        TABLE.iter().filter_map(fault).collect()
    }

    /// The template filled in. Error: it cannot be rendered.
    pub fn fill(&self, values: &[(&str, &str)]) -> Result<String> {
        let values: BTreeMap<&str, &str> = values.iter().copied().collect();
        self.read()?.render(values)
    }

    /// Puts a note (a session or a workflow) into the frame.
    ///
    /// The template is given `frontmatter` (with both `---` lines), `title`, `body` (all below the title) and `stem` (the
    /// file's name without `.md`). Error: it cannot be rendered, or the note does not say the same any more.
    pub fn frame(&self, note: String, stem: &str) -> Result<String> {
        if !self.own {
            return Ok(note);
        }
        let split = frontmatter::split(&note);
        let (head, rest) = note.split_at(split.body_start);
        let (title, body) = match rest.trim_start_matches('\n').strip_prefix("# ") {
            Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
            None => ("", rest),
        };
        let body = body.trim_matches('\n');
        let mut framed = self.fill(&[("frontmatter", head), ("title", title), ("body", body), ("stem", stem)])?;
        if !framed.ends_with('\n') {
            framed.push('\n');
        }
        if said(&framed) != said(&note) {
            return Err(Error::usage(format!("the template {} changes what the note says", self.name)).with_hint(
                "it must hold {{ frontmatter }} first and {{ body }} unchanged, and add no `##` headings above it",
            ));
        }
        Ok(framed)
    }

    /// The same for who has to go on: the note without a frame where the template cannot be used, and why.
    pub fn frame_or_note(&self, note: String, stem: &str) -> (String, Option<Error>) {
        match self.frame(note.clone(), stem) {
            Ok(framed) => (framed, None),
            Err(error) => (note, Some(error)),
        }
    }

    fn read(&self) -> Result<cru_template::Template<'_>> {
        cru_template::Template::read(&self.name, &self.text)
    }
}

/// A note that templates are tried with.
const SAMPLE: &str = "---\ntype: session\nsession_id: sample\n---\n# Sample\n\n## Work @agent #general\n\n\
                      *2026-01-01T00:00:00Z* ^p-01\n\n> [!user]\n> Words.\n\n**Tool calls:**\n\
                      - `ls` → `ok` (00:00:01) ^n-001\n";

/// What a note says, but for where it says it and for a section that stands after all others.
fn said(text: &str) -> String {
    let (mut session, _) = read::written(&Note::parse(text));
    session.meta.extra.clear();
    session.meta.tags.clear();
    session.preface.retain(|item| !matches!(item, Item::Prose(_) | Item::Callout(_)));
    // A section for a person's own remarks may follow.
    while session.phases.last().is_some_and(|phase| phase.agent.is_none() && !phase.id_written) {
        session.phases.pop();
    }
    render::note(&session)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "---\ntype: session\nsession_id: a\n---\n# Title\n\n## Do @x #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n**Tool calls:**\n- `ls` → ok (09:00:01) ^n-001\n";

    fn own(text: &str) -> Template {
        Template { name: "templates/session.md".into(), text: text.into(), own: true }
    }

    #[test]
    fn the_built_in_frame_changes_nothing() {
        for (kind, file, text) in TABLE {
            if matches!(kind, Kind::Session | Kind::Subagent | Kind::Workflow) {
                let template = Template { name: (*file).into(), text: (*text).into(), own: true };
                assert_eq!(template.frame(NOTE.to_owned(), "a").unwrap(), NOTE, "{file}");
            }
        }
    }

    #[test]
    fn a_frame_may_add() {
        let text = "{{ frontmatter }}# {{ title }}\n\nup: [[Home]]\n\n{{ body }}\n\n## My notes\n\n";
        let framed = own(text).frame(NOTE.to_owned(), "a").unwrap();
        assert!(framed.contains("# Title\n\nup: [[Home]]\n\n## Do @x #dev\n"), "{framed}");
        assert!(framed.ends_with("## My notes\n"), "{framed}");
    }

    #[test]
    fn a_frame_may_not_change() {
        for text in ["{{ frontmatter }}# {{ title }}\n", "{{ body }}", "{{ frontmatter }}```\n{{ body }}\n```\n"] {
            let error = own(text).frame(NOTE.to_owned(), "a").unwrap_err();
            assert!(error.to_string().contains("changes what the note says"), "{text}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_no_template() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        for (path, text) in [("vault/.cru/config.toml", ""), ("vault/own/prompt.md", "Own."), ("key", "KEY")] {
            files::create(&temp.path().join(path), text.as_bytes()).unwrap();
        }
        files::create_dir(&root.join("templates")).unwrap();
        let vault = Vault::open(&root).unwrap();
        let link = root.join("templates/prompt.md");
        std::os::unix::fs::symlink("../own/prompt.md", &link).unwrap();
        assert_eq!(Template::of(&vault, Kind::Prompt).unwrap().text, "Own.");
        files::remove(&link).unwrap();
        std::os::unix::fs::symlink("../../key", &link).unwrap();
        let error = Template::of(&vault, Kind::Prompt).unwrap_err();
        assert!(!error.with_causes().contains("KEY"), "{error}");
        assert!(Template::of_or_built_in(&vault, Kind::Prompt).1.is_some());
    }

    #[test]
    fn one_that_works_for_ever_is_passed_over() {
        let text = "{{ frontmatter }}# {{ title }}\n{% for a in body %}{% for b in body %}{% for c in body %}{% endfor %}\
                    {% endfor %}{% endfor %}{{ body }}";
        let (note, fault) = own(text).frame_or_note(NOTE.to_owned(), "a");
        assert_eq!(note, NOTE);
        let fault = fault.unwrap().to_string();
        assert!(fault.contains("templates/session.md") && fault.contains("more steps"), "{fault}");
        let (note, fault) = own("{{ frontmatter }}# {{ title }}\n\n{{ body }}").frame_or_note(NOTE.to_owned(), "a");
        assert_eq!((note.as_str(), fault.is_none()), (NOTE, true));
    }

    #[test]
    fn a_broken_one_says_where() {
        let error = own("{{ frontmatter }}\n{% if %}\n").frame(NOTE.to_owned(), "a").unwrap_err();
        assert!(error.to_string().starts_with("could not use the template templates/session.md:2: "), "{error}");
    }
}
