//! Reads a bundle: whose session each file is.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use super::family::CodexFamily;
use super::head::{self, CodexHead};
use super::stream::CodexStream;
use crate::file::jsonl::{self, Format};
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header, Sink};

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let heads: Vec<_> = bundle.files.iter().map(|path| CodexHead::read(bundle, path)).collect::<Result<_>>()?;
    let family = Rc::new(RefCell::new(CodexFamily::of(&heads)));
    jsonl::read(CodexFiles { heads: heads.into_iter(), family }, bundle, sink)
}

/// The files of a bundle.
struct CodexFiles {
    /// Those that were not read yet.
    heads: std::vec::IntoIter<CodexHead>,
    family: Rc<RefCell<CodexFamily>>,
}

impl Format for CodexFiles {
    type State = CodexStream;

    fn file(&mut self, _: &Bundle, path: &Path) -> Result<Header> {
        let family = &mut *self.family.borrow_mut();
        let head = self.heads.next().unwrap_or_default();
        let key = head.key();
        let above = head.above().map(|above| {
            let session = || StreamKey { session: above.to_owned(), agent: None };
            family.keys.get(above).cloned().unwrap_or_else(session)
        });
        let (part, task) = family.spawned.get(&head.id).cloned().unwrap_or_default();
        family.name = if key.agent.is_none() { head::name(path, &head.id) } else { String::new() };
        // A file that names its history repeats nothing of it.
        family.copying = head.base.is_none() && head.above().is_some_and(|above| family.origins.contains_key(above));
        family.begins = true;
        let agent = head.role.clone().or(part).or_else(|| key.agent.as_ref().map(|_| "agent".to_owned()));
        family.head = head;
        Ok(Header {
            aside: !family.name.is_empty(),
            parent: above.filter(|above| *above != key),
            transcript: path.to_owned(),
            agent,
            task,
            key,
        })
    }

    fn aside(&mut self, _: &StreamKey, record: &Value) -> Option<Header> {
        let family = &mut *self.family.borrow_mut();
        family.is_copied = family.is_of_origin(record);
        None
    }

    fn begin(&mut self, header: &Header) -> CodexStream {
        let family = &mut *self.family.borrow_mut();
        let (id, name) = (family.head.id.clone(), std::mem::take(&mut family.name));
        CodexStream::new(header.key.clone(), id, name, Rc::clone(&self.family))
    }
}
