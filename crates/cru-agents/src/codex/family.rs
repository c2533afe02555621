//! What the sessions of one bundle know of each other: who goes on with whom, who started whom, and what was copied.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::head::CodexHead;
use super::record::payload;
use crate::file::value::{canonical, word};
use cru_base::hash::short;
use cru_session::event::{StreamKey, Usage};

/// The sessions of a bundle, and the file that is read.
#[derive(Debug, Default)]
pub(super) struct CodexFamily {
    pub(super) keys: HashMap<String, StreamKey>,
    /// Sessions with more than one file.
    pub(super) several: HashSet<String>,
    /// Sessions that others go on with, and what their records say.
    pub(super) origins: HashMap<String, HashSet<[u8; 16]>>,
    /// Sub-agents by id: their part and task, as the call that started them says.
    pub(super) spawned: HashMap<String, (Option<String>, Option<String>)>,
    /// What sessions used, as of the end of the files that were read.
    pub(super) sums: HashMap<String, Usage>,
    pub(super) head: CodexHead,
    /// The name that the host keeps beside its sessions.
    pub(super) name: String,
    /// Whether nothing of the file was told yet.
    pub(super) begins: bool,
    /// Whether what was read of it so far may be a copy of the session before, and its last record is one.
    pub(super) copying: bool,
    pub(super) is_copied: bool,
}

impl CodexFamily {
    /// The sessions of these files.
    pub(super) fn of(heads: &[CodexHead]) -> Self {
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
    pub(super) fn is_of_origin(&mut self, record: &Value) -> bool {
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
