//! A session that goes on in a new session of its host, because the host's own was gone: each note points to the other.
//!
//! `cru session resume` names the old one in the new host's environment, and the first hook keeps that. An id of the
//! host is no such name: an agent that starts another agent in its shell hands nothing over.

use cru_base::Result;
use cru_live::log::Target;
use cru_session::Link;
use cru_session::fold::Draft;
use cru_session::op::Op;
use cru_vault::writer::Plan;
use cru_vault::{Vault, Writer};

use crate::hooked::journal::Hooked;

/// The note that a session goes on with.
pub(crate) struct Before {
    target: Target,
}

/// That of `hooked`; nothing where none was handed over, or where it is the host's own session still.
pub(crate) fn before(vault: &Vault, hooked: &Hooked) -> Option<Before> {
    let named = hooked.continues.as_deref()?;
    let target = Target::by_stem(named, vault)?;
    let own = target.meta.host_session.as_deref() == Some(hooked.session.as_str());
    (target.id == named && !own).then_some(Before { target })
}

impl Before {
    /// Names the old note as the parent.
    pub(crate) fn link(&self, draft: &mut Draft) {
        draft.link_parent(&self.target.path.stem());
    }

    /// Says in the old note where it goes on.
    pub(crate) fn tell(&self, draft: &Draft, writer: &Writer<'_>) -> Result<()> {
        let Some(id) = draft.session.meta.session_id.as_deref() else { return Ok(()) };
        let link = Link::to_note(id).to_string();
        // A name that `cru` gave: nothing in it needs an escape.
        let text = format!("Continued in {link}.\n");
        let written = writer.write(&self.target.key(), &self.target.path, &mut |note, _| {
            let is_told = note.text().contains(&link);
            let append = (!is_told).then(|| Op::Append { phase: None, text: text.clone() });
            let ops = append.into_iter().collect();
            Ok(Plan { ops, label: "session resume".to_owned(), ..Plan::default() })
        });
        written.map(drop)
    }
}
