//! Putting a new file in the place of another, and what comes to light behind it.
//!
//! The new file is exchanged with the old one in one step, and what was displaced is looked at afterwards: a save that
//! came between is put back. What a killed writer left undone is finished by the next one in the same way.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::access::Access;
use super::dir::Dir;
use super::fault;
use super::intention::{self, Intended, Keep, spare};
use super::long::{Digest, digest_of};
use super::place::{self, Place, SHARED_DIR};
use super::sweep::is_temporary;

/// How old an intention must be whose folder is gone: a disk that is not mounted comes back.
const FORGOTTEN: std::time::Duration = std::time::Duration::from_hours(24 * 90);

/// What became of a save that a write had displaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stands in its place again.
    PutBack,
    /// The file has gone on since; the save lies beside it, under this path.
    Kept(PathBuf),
    /// All of it stands in the file.
    Known,
}

/// A save of somebody that a killed writer had displaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The file that was saved.
    pub path: PathBuf,
    /// What became of the save.
    pub fate: Fate,
}

/// Finishes what killed writers of this machine left undone; what was displaced and is a save of somebody is told.
/// One look into a folder where there is nothing.
pub fn finish() -> Vec<Finished> {
    intention::folder().map(|dir| finish_at(dir, Origin::Own)).unwrap_or_default()
}

/// Saves that were put back or kept in the middle of some other work, since this was called last.
pub fn untold() -> Vec<Finished> {
    std::mem::take(&mut *UNTOLD.lock().unwrap_or_else(PoisonError::into_inner))
}

static UNTOLD: Mutex<Vec<Finished>> = Mutex::new(Vec::new());

/// Has what became of a save be told by [`untold`].
pub(super) fn tell_later(finished: Vec<Finished>) {
    UNTOLD.lock().unwrap_or_else(PoisonError::into_inner).extend(finished);
}

/// Whose an intention is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is in the machine's folder, which nobody else writes to.
    Own,
    /// It stands beside the file, in a folder that may have come from anybody: it has a say about the files of that
    /// folder alone.
    Beside,
}

/// [`finish`], for who is about to read a file: also of intentions that stand beside it, where the machine has no folder
/// for them. What became of a save is told by [`untold`].
pub fn finish_beside(path: &Path) {
    tell_later(match (intention::folder(), path.parent()) {
        (Some(_), _) => finish(),
        (None, Some(dir)) => finish_at(dir, Origin::Beside),
        (None, None) => Vec::new(),
    });
}

fn finish_at(dir: &Path, origin: Origin) -> Vec<Finished> {
    // A folder that is not there has none.
    place::folder(dir, None).map(|dir| finish_in(&dir, origin)).unwrap_or_default()
}

/// [`finish`], for the intentions in one folder.
pub(super) fn finish_in(dir: &Arc<Dir>, origin: Origin) -> Vec<Finished> {
    let mut finished = Vec::new();
    intention::abandoned(dir, &mut |mut intended, age| {
        if origin == Origin::Beside && !is_within(&mut intended, dir) {
            return false;
        }
        match finish_one(&intended) {
            Ok(fate) => {
                let fate = fate.filter(|fate| *fate != Fate::Known);
                finished.extend(fate.map(|fate| Finished { path: intended.target, fate }));
                true
            }
            // What cannot be done now is tried again.
            Err(error) => error.kind() == io::ErrorKind::NotFound && age > FORGOTTEN,
        }
    });
    finished
}

/// Whether an intention is about a file of `dir` and a temporary file there. Nothing goes to another folder then.
fn is_within(intended: &mut Intended, dir: &Dir) -> bool {
    intended.keep = Keep::default();
    is_temporary(&intended.temp) && intended.target.parent() == dir.path.canonicalize().ok().as_deref()
}

/// What became of a displaced save; `None` where there is none.
fn finish_one(intended: &Intended) -> io::Result<Option<Fate>> {
    let target = &*intended.target;
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return Ok(None) };
    if folder.canonicalize()? != folder {
        // A link stands on the way by now: it is another folder.
        return Err(io::ErrorKind::NotFound.into());
    }
    let dir = place::folder(folder, None).map_err(io::Error::other)?;
    let _folder = lock_folder(&dir);
    let pair = Pair { dir: &dir, temp: &intended.temp, target: name };
    pair.restore_spare()?;
    let Some(displaced) = pair.digest(pair.temp)? else { return Ok(None) };
    if !intended.is_ready || intended.new == Some(displaced) {
        // It was never in the place of the file, or is back from there.
        pair.release(&intended.keep.new)?;
        return Ok(None);
    }
    if intended.old == Some(displaced) {
        pair.release(&intended.keep.old)?;
        return Ok(None);
    }
    let fate = match (intended.new, pair.digest(name)?) {
        (Some(new), Some(found)) if new == found => pair.put_back(displaced, new, &intended.keep)?,
        // It was to be removed, and was saved in that moment.
        (None, None) if pair.is_back()? => Fate::PutBack,
        _ => pair.keep_beside()?,
    };
    place::sync(&dir);
    Ok(Some(fate))
}

/// A file and the temporary file beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) dir: &'a Arc<Dir>,
    pub(super) temp: &'a OsStr,
    pub(super) target: &'a OsStr,
}

impl Pair<'_> {
    /// Puts a whole temporary file in the place of the other; `false` where somebody was faster, whose text stays. An
    /// error behind the exchange leaves the displaced file under its temporary name, for [`finish`].
    pub(super) fn exchange(self, old: Digest, new: Digest, keep: &Keep) -> io::Result<bool> {
        self.window();
        fault::point()?;
        match self.swap() {
            Ok(()) => {}
            // The person removed or renamed the file: that stays so.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        self.window();
        match fault::point().and_then(|()| self.digest(self.temp)).map_err(|error| self.left(&error))? {
            // Where the file system has no exchange and no second name for a file, nothing is there to look at.
            None => Ok(true),
            Some(displaced) if displaced == old => {
                // Ours is in its place; a file that cannot be moved or taken away is only in the way.
                let _ = self.release(&keep.old);
                Ok(true)
            }
            Some(displaced) => self.put_back(displaced, new, keep).map(|_| false).map_err(|error| self.left(&error)),
        }
    }

    /// Takes a file that still says `old` away; `false` where somebody was faster, whose save goes back.
    pub(super) fn take_away(self, old: Digest) -> io::Result<bool> {
        self.window();
        fault::point()?;
        match self.dir.rename_new(self.target, self.dir, self.temp) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            moved => moved?,
        }
        self.window();
        let failed = |error: io::Error| self.left(&error);
        let displaced = fault::point().and_then(|()| self.digest(self.temp)).map_err(failed)?;
        if displaced == Some(old) {
            self.release(&[]).map_err(failed)?;
            return Ok(true);
        }
        if !self.is_back().map_err(failed)? {
            self.keep_beside().map_err(failed)?;
        }
        Ok(false)
    }

    /// Puts a displaced save back in its place, where the text `ours` stands; what that displaces is looked at in turn.
    /// The file keeps its identity on the way, so an editor that is still writing into it writes to the right place.
    fn put_back(self, mut displaced: Digest, mut ours: Digest, keep: &Keep) -> io::Result<Fate> {
        // How often a save that came between is put back before it is kept beside the file instead.
        for round in 0..16 {
            fault::point()?;
            match self.swap() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return self.keep_beside(),
                swapped => swapped?,
            }
            let Some(found) = self.digest(self.temp)? else { return Ok(Fate::PutBack) };
            if found == ours {
                if round > 0 {
                    // A save that another save of the same moment has replaced.
                    return self.keep_beside();
                }
                // Ours stood there for a moment, in which somebody may have opened it.
                self.release(&keep.new)?;
                return Ok(Fate::PutBack);
            }
            ours = std::mem::replace(&mut displaced, found);
        }
        self.keep_beside()
    }

    /// Gives the displaced file its name again; `false` where something has that.
    fn is_back(self) -> io::Result<bool> {
        fault::point()?;
        self.is_named(self.target)
    }

    fn is_named(self, name: &OsStr) -> io::Result<bool> {
        match self.dir.rename_new(self.temp, self.dir, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Moves the displaced file to the first of `places` that it can be moved to, on the same file system, or removes it.
    fn release(self, places: &[PathBuf]) -> io::Result<()> {
        let move_to = |place: &PathBuf| -> bool {
            let place = Place::making(place, SHARED_DIR);
            place.is_ok_and(|it| fault::point().is_ok() && self.dir.rename(self.temp, &it.dir, &it.name).is_ok())
        };
        if !places.iter().any(move_to) {
            fault::point()?;
            self.dir.remove(self.temp)?;
        }
        Ok(())
    }

    /// Keeps the displaced save beside the file, under a name that a person sees; a save that stands in the file line by
    /// line goes.
    fn keep_beside(self) -> io::Result<Fate> {
        if self.has_lines()? {
            self.release(&[])?;
            return Ok(Fate::Known);
        }
        let name = Path::new(self.target);
        let stem = name.file_stem().unwrap_or_default();
        for number in 1..10_000_u32 {
            let mut path = stem.to_owned();
            path.push(" (saved while cru wrote");
            if number > 1 {
                path.push(format!(" {number}"));
            }
            path.push(")");
            if let Some(end) = name.extension() {
                path.push(".");
                path.push(end);
            }
            fault::point()?;
            if self.is_named(&path)? {
                return Ok(Fate::Kept(self.dir.path.join(path)));
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Whether each line of the displaced file stands in the other, as often as there.
    fn has_lines(self) -> io::Result<bool> {
        let lines = |name: &OsStr| -> io::Result<HashMap<blake3::Hash, u64>> {
            let mut lines = HashMap::new();
            let mut file = BufReader::new(self.dir.file(name, Access::Read)?);
            let mut line = Vec::new();
            while file.read_until(b'\n', &mut line)? > 0 {
                *lines.entry(blake3::hash(line.strip_suffix(b"\n").unwrap_or(&line))).or_default() += 1;
                line.clear();
            }
            Ok(lines)
        };
        let whole = match lines(self.target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            lines => lines?,
        };
        Ok(lines(self.temp)?.iter().all(|(line, count)| whole.get(line).is_some_and(|there| there >= count)))
    }

    /// Exchanges the two files. Where the system cannot do that in one step, the temporary file is renamed over the
    /// other, whose second name then becomes that of the temporary file: a moment in which only a file that was renamed
    /// over the other can be lost.
    fn swap(self) -> io::Result<()> {
        match self.dir.exchange(self.temp, self.target) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => self.swap_in_steps(),
            swapped => swapped,
        }
    }

    fn swap_in_steps(self) -> io::Result<()> {
        let spare = spare(self.temp);
        match self.dir.link(self.target, self.dir, &spare) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            // A file system without second names.
            Err(_) => return self.dir.rename(self.temp, self.dir, self.target),
        }
        if let Err(error) = self.dir.rename(self.temp, self.dir, self.target) {
            let _ = self.dir.remove(&spare);
            return Err(error);
        }
        fault::point()?;
        self.dir.rename(&spare, self.dir, self.temp)
    }

    /// Goes on where [`Pair::swap_in_steps`] ended.
    fn restore_spare(self) -> io::Result<()> {
        let spare: OsString = spare(self.temp);
        if !self.dir.has(&spare) {
            return Ok(());
        }
        if self.dir.has(self.temp) { self.dir.remove(&spare) } else { self.dir.rename(&spare, self.dir, self.temp) }
    }

    fn digest(self, name: &OsStr) -> io::Result<Option<Digest>> {
        digest_of(self.dir.file(name, Access::Read))
    }

    /// A moment in which somebody may save the file.
    fn window(self) {
        fault::window(&self.dir.path.join(self.target));
    }

    /// An error behind the exchange, with where the displaced text is.
    fn left(self, error: &io::Error) -> io::Error {
        let place = self.dir.path.join(self.temp);
        let text = format!("{error}; what stood there is in {}, and the next command finishes this", place.display());
        io::Error::new(error.kind(), text)
    }
}

/// Keeps other writers of ours out of the folder while texts are exchanged: they must not take for settled what may
/// still be put back. Where a folder cannot be locked (some network mounts), the caller's own locks must do.
pub(super) fn lock_folder(dir: &Dir) -> Option<File> {
    let handle = dir.to_file().ok()?;
    handle.lock().ok()?;
    Some(handle)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::intention::Intention;
    use crate::files::{create, read, remove};

    fn of(text: &str) -> Digest {
        blake3::hash(text.as_bytes()).into()
    }

    /// A folder with a note and a temporary file beside it, whose writer has died behind `ready`.
    struct World {
        dir: tempfile::TempDir,
        folder: Arc<Dir>,
        note: PathBuf,
        temp: PathBuf,
        intention: Option<Intention>,
    }

    impl World {
        /// `old` was read, and the writer wrote "ours"; the note is `note`, and `temp` was displaced.
        fn new(note: Option<&str>, temp: &str) -> Self {
            Self::intended(note, temp, Some("ours"), true)
        }

        fn intended(note: Option<&str>, temp: &str, new: Option<&str>, is_ready: bool) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("note.md");
            if let Some(text) = note {
                create(&path, text.as_bytes()).unwrap();
            }
            let place = Place::of(&path).unwrap();
            let mut intention = Intention::begin(&place, Some(of("old")), new.map(of)).unwrap();
            let at = dir.path().join(intention.temp());
            fs::File::create_new(&at).and_then(|mut file| io::Write::write_all(&mut file, temp.as_bytes())).unwrap();
            if is_ready {
                intention.ready(Some(of("old")), new.map(of), &Keep::default()).unwrap();
            }
            Self { dir, folder: place.dir, note: path, temp: at, intention: Some(intention) }
        }

        /// The next writer comes; what is in the folder then.
        fn finish(&mut self) -> (Vec<Fate>, Vec<(String, String)>) {
            assert_eq!(finish_in(&self.folder, Origin::Beside), [], "its writer lives");
            self.intention = None;
            let fates = finish_in(&self.folder, Origin::Beside).into_iter().map(|it| it.fate).collect();
            assert_eq!(finish_in(&self.folder, Origin::Beside), [], "once");
            (fates, self.files())
        }

        fn pair(&self) -> Pair<'_> {
            let name = |path: &'static str| OsStr::new(path);
            Pair { dir: &self.folder, temp: self.temp.file_name().unwrap(), target: name("note.md") }
        }

        fn files(&self) -> Vec<(String, String)> {
            let mut files: Vec<_> = fs::read_dir(self.dir.path())
                .unwrap()
                .map(|entry| {
                    let entry = entry.unwrap();
                    let text = String::from_utf8(read(&entry.path()).unwrap()).unwrap();
                    (entry.file_name().into_string().unwrap(), text)
                })
                .collect();
            files.sort();
            files
        }
    }

    fn note(text: &str) -> (String, String) {
        ("note.md".to_owned(), text.to_owned())
    }

    fn beside(text: &str) -> (String, String) {
        ("note (saved while cru wrote).md".to_owned(), text.to_owned())
    }

    #[test]
    fn a_save_that_a_killed_writer_displaced_is_put_back() {
        let (fates, files) = World::new(Some("ours"), "a save").finish();
        assert_eq!((fates, files), (vec![Fate::PutBack], vec![note("a save")]));
    }

    #[test]
    fn a_save_that_others_went_on_without_is_kept_beside_the_file() {
        let mut world = World::new(Some("a later text"), "a save");
        let (fates, files) = world.finish();
        let kept = world.dir.path().join(beside("").0);
        assert_eq!((fates, files), (vec![Fate::Kept(kept)], vec![beside("a save"), note("a later text")]));
        // Nobody lost anything: each line stands in the later text.
        let (fates, files) = World::new(Some("a later save\nmore\na save"), "a save").finish();
        assert_eq!((fates, files), (vec![], vec![note("a later save\nmore\na save")]));
        let (_, files) = World::new(None, "a save").finish();
        assert_eq!(files, [beside("a save")], "the file is gone");
    }

    #[test]
    fn what_is_ours_or_was_read_goes() {
        for (in_note, temp, is_ready) in
            [("old", "ours", true), ("ours", "old", true), ("old", "ou", false), ("a save", "ours", true)]
        {
            let (fates, files) = World::intended(Some(in_note), temp, Some("ours"), is_ready).finish();
            assert_eq!((fates, files), (vec![], vec![note(in_note)]), "{temp}");
        }
    }

    #[test]
    fn a_save_of_a_file_that_was_to_be_removed_is_put_back() {
        let (fates, files) = World::intended(None, "a save", None, true).finish();
        assert_eq!((fates, files), (vec![Fate::PutBack], vec![note("a save")]));
        let (fates, files) = World::intended(None, "old", None, true).finish();
        assert_eq!((fates, files), (vec![], vec![]));
        let (fates, files) = World::intended(Some("another"), "a save", None, true).finish();
        assert_eq!((fates.len(), files), (1, vec![beside("a save"), note("another")]));
    }

    #[test]
    fn a_faster_editor_gets_its_text_back() {
        // The comparison went well, then the editor saved, then came the exchange.
        let world = World::new(Some("saved by the editor"), "ours");
        let is_replaced = || world.pair().exchange(of("old"), of("ours"), &Keep::default()).unwrap();
        assert!(!is_replaced());
        assert_eq!(read(&world.note).unwrap(), b"saved by the editor");
        assert!(!world.temp.exists());
        // And it was removed in that moment.
        remove(&world.note).unwrap();
        create(&world.temp, b"ours").unwrap();
        assert!(!is_replaced());
        assert!(world.temp.exists() && !world.note.exists());
    }

    #[test]
    fn the_newest_of_two_saves_stays_and_the_other_is_kept() {
        // The exchange displaced a first save, and before it went back the editor saved again over our text.
        let world = World::new(Some("second save"), "first save");
        let fate = world.pair().put_back(of("first save"), of("ours"), &Keep::default()).unwrap();
        assert_eq!(fate, Fate::Kept(world.dir.path().join(beside("").0)));
        assert_eq!(read(&world.note).unwrap(), b"second save");
        assert_eq!(read(&world.dir.path().join(beside("").0)).unwrap(), b"first save");
    }

    #[test]
    fn a_file_that_is_removed_while_it_is_saved_stays() {
        let world = World::intended(Some("a save"), "", None, true);
        remove(&world.temp).unwrap();
        assert!(!world.pair().take_away(of("old")).unwrap());
        assert_eq!(read(&world.note).unwrap(), b"a save");
        assert!(world.pair().take_away(of("a save")).unwrap());
        assert!(!world.note.exists() && !world.temp.exists());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a state that only a kill leaves")]
    fn systems_without_an_exchange_do_it_in_steps() {
        let mut world = World::new(Some("a save"), "ours");
        world.pair().swap_in_steps().unwrap();
        assert_eq!((read(&world.note).unwrap(), read(&world.temp).unwrap()), (b"ours".to_vec(), b"a save".to_vec()));
        // Killed between the steps.
        fs::rename(&world.temp, world.dir.path().join(spare(world.temp.file_name().unwrap()))).unwrap();
        let (fates, files) = world.finish();
        assert_eq!((fates, files), (vec![Fate::PutBack], vec![note("a save")]));
    }
}
