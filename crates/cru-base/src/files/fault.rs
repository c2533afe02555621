//! Points at which a test lets the process die or an operation fail.
//!
//! Every step of a write that somebody else could see passes one, so a test can stop at each of them in turn. In a
//! release build there are none; in others they only count until a test arms them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

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
    /// A person saves the file that is being replaced, under a new file of that name. Counted are the moments between
    /// the last look at a file and the look at what was displaced.
    Save,
    /// The same in place, as a shell's `>>` does.
    SaveInPlace,
}

impl Fault {
    /// By the name that tests give.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "kill" => Self::Kill,
            "torn" => Self::Torn,
            "full" => Self::NoSpace,
            "denied" => Self::Denied,
            "save" => Self::Save,
            "append" => Self::SaveInPlace,
            _ => return None,
        })
    }
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::Fault;

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static WINDOWS: AtomicU64 = AtomicU64::new(0);
    static ARMED: Mutex<Vec<(u64, Fault)>> = Mutex::new(Vec::new());

    fn armed() -> MutexGuard<'static, Vec<(u64, Fault)>> {
        ARMED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn arm(faults: Vec<(u64, Fault)>) {
        PASSED.store(0, Ordering::SeqCst);
        WINDOWS.store(0, Ordering::SeqCst);
        *armed() = faults;
    }

    pub(super) fn passed() -> u64 {
        PASSED.load(Ordering::SeqCst)
    }

    pub(super) fn windows() -> u64 {
        WINDOWS.load(Ordering::SeqCst)
    }

    const fn is_save(fault: Fault) -> bool {
        matches!(fault, Fault::Save | Fault::SaveInPlace)
    }

    pub(super) fn hit() -> Option<Fault> {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        let lasts = |fault| matches!(fault, Fault::NoSpace | Fault::Denied);
        let is_hit = |&(at, fault): &(u64, Fault)| !is_save(fault) && (number == at || (lasts(fault) && number > at));
        armed().iter().copied().find(is_hit).map(|(_, fault)| fault)
    }

    pub(super) fn save() -> Option<(u64, Fault)> {
        let number = WINDOWS.fetch_add(1, Ordering::SeqCst) + 1;
        armed().iter().copied().find(|&(at, fault)| is_save(fault) && number == at)
    }
}

/// Arms the point that is passed as number `at` from now on, counted from 1, for the whole process. `false` in a build
/// that has no such points.
pub fn arm(at: u64, fault: Fault) -> bool {
    arm_all(vec![(at, fault)])
}

/// [`arm`], for several.
pub fn arm_all(faults: Vec<(u64, Fault)>) -> bool {
    #[cfg(debug_assertions)]
    armed::arm(faults);
    #[cfg(not(debug_assertions))]
    drop(faults);
    cfg!(debug_assertions)
}

/// Arms what a test asked of this process: `kill:17,save:2`, then `@` and the number of the process that started it, so
/// that programs started in turn have no part in it.
#[cfg(debug_assertions)]
pub fn arm_asked(asked: &str) {
    let fault = |text: &str| {
        let (name, at) = text.split_once(':')?;
        Some((at.parse().ok()?, Fault::of(name)?))
    };
    if is_asked(asked) {
        let faults = asked.split('@').next().unwrap_or_default();
        arm_all(faults.split(',').filter_map(fault).collect());
    }
}

/// Whether it is this process that a test means.
#[cfg(debug_assertions)]
pub fn is_asked(asked: &str) -> bool {
    let starter = asked.split_once('@').and_then(|(_, starter)| starter.parse().ok());
    #[cfg(unix)]
    return starter == Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    starter.is_some_and(|_: u32| true)
}

/// How many moments for a save were passed since [`arm`].
pub fn windows() -> u64 {
    #[cfg(debug_assertions)]
    return armed::windows();
    #[cfg(not(debug_assertions))]
    0
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

/// Passes a moment in which somebody may save the file at `target`.
#[inline]
pub(super) fn window(target: &Path) {
    #[cfg(debug_assertions)]
    if let Some((number, fault)) = armed::save() {
        save(target, number, fault);
    }
    let _ = target;
}

/// Saves a file as a person's editor does, with the word `savedN` in it; what is no longer well formed then is no
/// concern of a person's either.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "it is what another program does")]
fn save(target: &Path, number: u64, fault: Fault) {
    let Ok(text) = std::fs::read_to_string(target) else { return };
    let word = format!("saved{number}");
    let end = target.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let object = text.trim_end().strip_suffix('}').filter(|_| matches!(end, "json" | "canvas"));
    let new = match object {
        Some(start) => {
            let comma = if start.trim_end().ends_with('{') { "" } else { "," };
            format!("{}{comma}\n  \"{word}\": true\n}}\n", start.trim_end())
        }
        None if end == "toml" => format!("{text}# {word}\n"),
        None => format!("{text}\n{word}\n"),
    };
    if fault == Fault::SaveInPlace {
        let _ = std::fs::write(target, new);
        return;
    }
    let other = target.with_file_name(format!(".editor-{number}~"));
    if std::fs::write(&other, new).is_ok() {
        let _ = std::fs::rename(&other, target);
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
