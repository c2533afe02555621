//! Whether what a session claims still holds, and which step wrote a line.
//!
//! A note makes claims about files; a claim has anchors; an anchor has a verdict, computed at each read and stored nowhere.
//! Claims and files go in, verdicts come out: who reads files implements [`ReadFiles`], and nobody here runs a program.

mod answer;
mod cache;
pub mod claim;
pub mod consent;
mod files;
pub mod project;
pub mod reference;
mod removals;
mod rests;
mod text;
mod verdict;
pub mod why;

pub use answer::{Question, answers};
pub use cache::AnswerCache;
pub use claim::{JudgedAnchor, JudgedStep, Work, WorkMember, has_equal_output, judge};
pub use files::{DiskFiles, FileStamp, FileState, LARGEST_FILE, ReadFiles, newest_name};
pub use project::{ProjectRoots, RunFolder};
pub use rests::{Rest, rests};
pub use text::{MOST_WORK, SearchedText, Sighting, Spot};
pub use verdict::{ClaimVerdict, UnknownReason};
