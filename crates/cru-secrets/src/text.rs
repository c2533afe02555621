//! A text that is looked through, and how far it was.

use std::cell::{Cell, OnceCell};

/// A text that is looked through.
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) whole: &'a str,
    /// Where the last private key ends; no block can end behind it.
    pub(crate) last_end: OnceCell<Option<usize>>,
    /// Where the first private key ends behind the one that was asked for last.
    pub(crate) next_end: Cell<usize>,
    /// Up to where no token of three parts begins.
    pub(crate) no_jwt: Cell<usize>,
    /// Where what was found last ends: nothing begins before it.
    pub(crate) floor: Cell<usize>,
}
