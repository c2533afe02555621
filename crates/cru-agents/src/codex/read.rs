//! Reads a bundle: whose session each file is, and what the sessions of one family know of each other.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use super::head::{self, CodexHead};
use super::record::payload;
use super::stream::CodexStream;
use crate::file::jsonl::{self, Format};
use crate::file::value::{canonical, word};
use cru_base::Result;
use cru_base::hash::short;
use cru_session::event::{StreamKey, Usage};
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

/// The sessions of a bundle, and the file that is read.
#[derive(Debug, Default)]
pub(super) struct CodexFamily {
    keys: HashMap<String, StreamKey>,
    /// Sessions with more than one file.
    pub(super) several: HashSet<String>,
    /// Sessions that others go on with, and what their records say.
    origins: HashMap<String, HashSet<[u8; 16]>>,
    /// Sub-agents by id: their part and task, as the call that started them says.
    pub(super) spawned: HashMap<String, (Option<String>, Option<String>)>,
    /// What sessions used, as of the end of the files that were read.
    pub(super) sums: HashMap<String, Usage>,
    pub(super) head: CodexHead,
    /// The name that the host keeps beside its sessions.
    name: String,
    /// Whether nothing of the file was told yet.
    pub(super) begins: bool,
    /// Whether what was read of it so far may be a copy of the session before, and its last record is one.
    copying: bool,
    pub(super) is_copied: bool,
}

impl CodexFamily {
    fn of(heads: &[CodexHead]) -> Self {
        let mut family = Self::default();
        for head in heads {
            if family.keys.insert(head.id.clone(), head.key()).is_some() {
                family.several.insert(head.id.clone());
            }
        }
        let above = heads.iter().filter_map(CodexHead::above).filter(|id| family.keys.contains_key(*id));
        family.origins = above.map(|id| (id.to_owned(), HashSet::new())).collect();
        family
    }

    /// Whether a record was copied from the session that this one goes on with. The copies stand at the beginning.
    fn is_of_origin(&mut self, record: &Value) -> bool {
        let id = &self.head.id;
        if !self.copying && !self.origins.contains_key(id) {
            return false;
        }
        let payload = payload(record);
        let mark = short(&blake3::hash(&canonical(payload)));
        let above = self.head.above().filter(|_| self.copying);
        let copied = above.and_then(|above| self.origins.get(above)).is_some_and(|marks| marks.contains(&mark));
        if let Some(own) = self.origins.get_mut(id) {
            own.insert(mark);
        }
        // Work of its own shows that the copy has come to its end; what the host notes between is no work.
        let works = match word(record, "type") {
            "response_item" => !matches!(word(payload, "role"), "developer" | "system" | "user"),
            "event_msg" => matches!(word(payload, "type"), "user_message" | "agent_message"),
            _ => false,
        };
        self.copying &= !works || copied;
        copied && word(record, "type") != "session_meta"
    }
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
