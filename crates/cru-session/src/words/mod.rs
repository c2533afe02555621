//! Words: where sentences end, what a title is, how a text is shortened, how somebody is quoted.
//!
//! A rule on words decides nothing but where a wrong guess does no harm: the words of a person are quoted as they were
//! said ([`quote`]), and only a title may lose words at its beginning. The words that the rules know are data, a file for
//! each language and purpose (`lists/`).

mod choice;
pub mod emphasis;
pub mod list;
pub mod pasted;
pub mod quote;
pub mod sentence;
pub mod shorten;
pub mod title;

pub use quote::quote;
pub use title::Title;
