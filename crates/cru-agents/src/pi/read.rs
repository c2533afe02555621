//! The sessions of a bundle: whose each file is, and what it was forked from.

use std::path::Path;

use super::below;
use super::head::PiHead;
use super::session::PiSession;
use crate::file::jsonl::Format;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header};

/// Each file is a session.
#[derive(Default)]
pub(super) struct Pi {
    /// The beginning of the file that is read.
    head: PiHead,
    /// Whether the file that it was forked from is at hand.
    has_origin: bool,
}

impl Format for Pi {
    type State = PiSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        self.head = PiHead::read(bundle, path)?;
        self.has_origin = self.head.origin(path).is_some_and(|(_, at_hand)| at_hand);
        Ok(Header {
            key: StreamKey { session: self.head.session.clone(), agent: None },
            parent: self.head.before(path).map(|session| StreamKey { session, agent: None }),
            agent: self.head.runner().map(|_| "agent".to_owned()),
            transcript: path.to_owned(),
            aside: below::folder(path).is_dir(),
            ..Header::default()
        })
    }

    fn begin(&mut self, header: &Header) -> PiSession {
        let started = below::started(&header.transcript, &header.key);
        PiSession::new(&self.head, self.has_origin, started)
    }
}
