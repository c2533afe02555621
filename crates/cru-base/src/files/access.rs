//! What a file is opened for, on every system.

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// To be read.
    Read,
    /// To be appended to; made where it is missing.
    Append { mode: u32 },
    /// To have its permissions changed.
    Mode,
    /// To be read and appended to; it is there.
    Lines,
    /// To be locked; made where it is missing.
    Lock,
    /// To be made: nothing has its name.
    New { mode: u32 },
}
