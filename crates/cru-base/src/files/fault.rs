//! Points at which a test lets the process die or an operation fail.
//!
//! Every step of a write that somebody else could see passes one, so a test can stop at each of them in turn. In a
//! release build there are none; in others they only count until a test arms them.

use std::fs::File;
use std::io::{self, Write as _};

/// What happens at the armed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends at once, as by a kill; nothing is tidied.
    Kill,
    /// Half of what is to be written there is written, then the process ends.
    Torn,
    /// The disk is full, from this point on; half of what was to be written there is.
    NoSpace,
    /// Writing is forbidden, from this point on.
    Denied,
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Fault;

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static ARMED: Mutex<Option<(u64, Fault)>> = Mutex::new(None);

    pub(super) fn arm(at: u64, fault: Fault) {
        PASSED.store(0, Ordering::SeqCst);
        *ARMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((at, fault));
    }

    pub(super) fn passed() -> u64 {
        PASSED.load(Ordering::SeqCst)
    }

    pub(super) fn hit() -> Option<Fault> {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        let armed = *ARMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (at, fault) = armed?;
        let lasts = matches!(fault, Fault::NoSpace | Fault::Denied);
        (number == at || (lasts && number > at)).then_some(fault)
    }
}

/// Arms the point that is passed as number `at` from now on, counted from 1, for the whole process. `false` in a build
/// that has no such points.
pub fn arm(at: u64, fault: Fault) -> bool {
    #[cfg(debug_assertions)]
    armed::arm(at, fault);
    let _ = (at, fault);
    cfg!(debug_assertions)
}

/// How many points were passed since [`arm`].
pub fn passed() -> u64 {
    #[cfg(debug_assertions)]
    return armed::passed();
    #[cfg(not(debug_assertions))]
    0
}

#[cfg(debug_assertions)]
fn hit() -> Option<Fault> {
    armed::hit()
}

#[cfg(not(debug_assertions))]
#[inline(always)]
const fn hit() -> Option<Fault> {
    None
}

/// Passes a point.
#[inline]
pub(super) fn point() -> io::Result<()> {
    match hit() {
        None => Ok(()),
        Some(Fault::Kill | Fault::Torn) => std::process::abort(),
        Some(fault) => Err(error(fault)),
    }
}

/// Passes a point at which `bytes` are about to be written.
#[inline]
pub(super) fn write_point(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let Some(fault) = hit() else { return Ok(()) };
    if matches!(fault, Fault::Torn | Fault::NoSpace) {
        let _ = file.write(&bytes[..bytes.len() / 2]);
    }
    match fault {
        Fault::Kill | Fault::Torn => std::process::abort(),
        fault => Err(error(fault)),
    }
}

/// One write of all of `bytes`: what a full disk leaves out is an error, and never written by a second call that
/// another process's bytes could come before.
pub(super) fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    write_point(file, bytes)?;
    loop {
        match file.write(bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(written) => {
                let message = format!("only {written} of {} bytes were written", bytes.len());
                return Err(io::Error::new(io::ErrorKind::StorageFull, message));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn error(fault: Fault) -> io::Error {
    let denied = matches!(fault, Fault::Denied);
    io::Error::from(if denied { io::ErrorKind::PermissionDenied } else { io::ErrorKind::StorageFull })
}
