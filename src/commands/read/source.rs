//! A session with everything that claims are compared with.

use std::collections::HashMap;

use crate::base::Result;
use crate::commands::{Context, segment};
use crate::readings::{FullText, Ledger, Record};
use crate::session::Session;
use crate::sync::evidence::{Transcripts, Whole};
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// A session, its record and what a reader is shown of it.
pub(super) struct Source {
    pub(super) path: VaultPath,
    /// Name of the note, for links.
    pub(super) name: String,
    pub(super) session: Session,
    pub(super) ledger: Ledger,
    pub(super) record: Record,
}

impl Source {
    /// Of a session's note, and of its transcript or the copy of it where one is at hand.
    pub(super) fn of(head: &Head, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Result<Self> {
        let mut session = vault.load(&head.path)?.session;
        session.meta.session_id = Some(head.id());
        let forked = segment::is_fork(head, catalog, vault);
        let (ledger, record) = recorded(&session, forked, Some(vault), cx);
        Ok(Self { path: head.path.clone(), name: head.path.stem().into_owned(), session, ledger, record })
    }
}

/// What a reader is shown of a session and what its claims are compared with; of a session outside a vault what its note says.
pub(in crate::commands) fn recorded(
    session: &Session,
    forked: bool,
    vault: Option<&Vault>,
    cx: &Context<'_>,
) -> (Ledger, Record) {
    let full = vault.map(|vault| full_texts(session, vault, cx)).unwrap_or_default();
    let ledger = Ledger::of(session, forked, &full);
    let record = Record::of(session, &ledger, forked, &full);
    (ledger, record)
}

/// The whole call and result of each step, as far as the transcript is there.
fn full_texts(session: &Session, vault: &Vault, cx: &Context<'_>) -> HashMap<String, FullText> {
    let text = |whole: &Whole| FullText::of(&whole.tool, &whole.input, &whole.args, whole.output.as_deref());
    let steps = Transcripts::of(vault, cx.env).steps(session);
    steps.into_iter().map(|(id, whole)| (id, text(&whole))).collect()
}
