//! The fields of an entry in tantivy.
//!
//! What holds for a whole session (status, model, project …) is not repeated in its entries: searches look it up in the
//! sessions' rows and restrict the entries to those notes.

use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

use super::words::{self, Words};

/// Version of schema, tokenizer, and the rules that entries and rows are made by; an index of another version is made anew.
pub const VERSION: u32 = 11;

/// The fields.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Key of the note ([`super::NoteKey`]).
    pub note: Field,
    /// `phase`, `step`, `decision`, …: see [`super::Entry::kind`].
    pub kind: Field,
    /// The words.
    pub body: Field,
    /// Agent in lower case: `coder@2.0` and `coder`.
    pub agent: Field,
    /// Channel in lower case, without `#`.
    pub channel: Field,
    /// Tool in lower case.
    pub tool: Field,
    /// Paths of files, cut into words.
    pub file: Field,
    /// `failed`, `correction`, `open` …
    pub is: Field,
    /// When, in seconds since 1970.
    pub time: Field,
    /// First byte in the note.
    pub start: Field,
    /// Byte behind the last one.
    pub end: Field,
    /// Line of the transcript, from 1; only of evidence.
    pub evidence: Field,
    /// File of the transcript, where it is not the one that the note names.
    pub source: Field,
    /// Hash of all that the entry is made of.
    pub hash: Field,
}

/// The schema and its fields.
pub fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = |option| TextFieldIndexing::default().set_tokenizer(words::NAME).set_index_option(option);
    let text = TextOptions::default()
        .set_indexing_options(indexing(IndexRecordOption::WithFreqsAndPositions).set_fieldnorms(true));
    let path = TextOptions::default()
        .set_indexing_options(indexing(IndexRecordOption::WithFreqsAndPositions).set_fieldnorms(false));
    let fields = Fields {
        note: schema.add_u64_field("note", INDEXED | FAST),
        kind: schema.add_text_field("kind", STRING | FAST),
        body: schema.add_text_field("body", text),
        agent: schema.add_text_field("agent", STRING),
        channel: schema.add_text_field("channel", STRING),
        tool: schema.add_text_field("tool", STRING),
        file: schema.add_text_field("file", path),
        is: schema.add_text_field("is", STRING),
        time: schema.add_i64_field("time", INDEXED | FAST),
        start: schema.add_u64_field("start", FAST),
        end: schema.add_u64_field("end", FAST),
        evidence: schema.add_u64_field("evidence", FAST),
        source: schema.add_text_field("source", FAST),
        hash: schema.add_u64_field("hash", FAST),
    };
    (schema.build(), fields)
}

/// What cuts text into our words.
pub fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(words::NAME, TextAnalyzer::builder(Words::default()).build());
    tokenizers
}

/// Makes an index cut text into our words.
pub fn register(index: &tantivy::Index) {
    index.tokenizers().register(words::NAME, TextAnalyzer::builder(Words::default()).build());
}
