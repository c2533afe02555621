//! Words: where sentences end, what a title is, what closing words come to, how a text is shortened, how a person is
//! quoted.
//!
//! A rule on words decides nothing but where a wrong guess does no harm: the words of a person are quoted as they were
//! said ([`quote`]), and only a title may lose words at its beginning. The words that the rules know are data, a file for
//! each language and purpose (`lists/`).

pub mod boxes;
mod choice;
pub mod closing;
pub mod done;
pub mod emphasis;
pub mod list;
pub mod pasted;
pub mod quote;
pub mod sentence;
pub mod shorten;
pub mod summary;
pub mod title;

pub use boxes::Boxes;
pub use closing::closing;
pub use done::DoneWords;
pub use quote::quote;
pub use summary::summary;
pub use title::Title;
