//! One stream: its records as they are taken in, and its events as they are told.

pub(crate) mod intake;
pub(crate) mod out;
pub(crate) mod place;
pub(crate) mod teller;
