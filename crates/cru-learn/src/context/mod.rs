//! What an answer needs of what came before it: lines that it quotes or tells again and files that it opens. A context
//! that is too long is cut so that these stay.

pub(crate) mod budget;
pub(crate) mod excerpt;
pub(crate) mod ground;
pub(crate) mod need;
pub(crate) mod quote;
pub(crate) mod recall;
pub(crate) mod shown;
pub(crate) mod trace;
