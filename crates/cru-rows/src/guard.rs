//! A defect of this program at one input is told of that input, and the job goes on.

use std::panic::{self, AssertUnwindSafe};

/// Does `work`; the message of a panic where there was one.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        format!("a defect of cru: {words}")
    })
}
