//! Pages that a person and `cru` write: one loop that changes them, and what is remembered of their regions.
//!
//! What was generated for a region is remembered by line in `.cru/seals/regions/SEAL.txt`, so that it travels with the
//! vault and needs no name of a page, which may change. Where it is missing nothing is lost: lines that were generated and
//! are so no more then move below the region with those of a person.

use std::path::{Path, PathBuf};

use super::Vault;
use super::folder::MARK;
use cru_base::{Error, Result, files};
use cru_note::edit::{ChangedPage, EditError, GeneratedLines};

/// The lines that were generated for the region with this seal, where they are remembered.
pub fn generated(vault: &Vault, seal: &str) -> Option<GeneratedLines> {
    let text = files::read(&place(vault, seal)?).ok()?;
    Some(GeneratedLines::parse(&String::from_utf8_lossy(&text))).filter(|lines| lines.seal() == seal)
}

/// Changes the page `file`, whoever else writes it: `change` is given what stands there, `None` where nothing does, and may
/// be asked again. Whether the file was written; a page that is as it is to be is not. A file outside the vault is changed
/// where it is meant to be, such as one that agents read.
pub fn change(
    vault: &Vault,
    file: &Path,
    mut change: impl FnMut(Option<&[u8]>) -> Result<ChangedPage>,
) -> Result<bool> {
    vault.writable()?;
    let is_inside = file.starts_with(vault.root());
    // How often a page that somebody else writes is changed again.
    for _ in 0..8 {
        let old = match files::read(file) {
            Ok(old) => Some(old),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let page = change(old.as_deref())?;
        // Before the page: whoever finds its new seal finds what belongs to it.
        remember(vault, &page);
        let written = match &old {
            Some(old) if *old == page.bytes => Ok(false),
            Some(old) if is_inside => files::replace_within(vault.root(), file, old, &page.bytes).map(|()| true),
            Some(old) => files::replace(file, old, &page.bytes).map(|()| true),
            None if page.bytes.is_empty() => Ok(false),
            None => match files::create(file, &page.bytes) {
                Ok(false) => continue,
                created => created,
            },
        };
        match written {
            Err(Error::Changed { .. }) => {}
            Ok(true) => {
                for region in page.regions().iter().filter(|it| it.old_seal != it.generated.seal()) {
                    place(vault, &region.old_seal).map(|old| files::remove(&old));
                }
                return Ok(true);
            }
            written => return written,
        }
    }
    Err(Error::Changed { path: file.to_owned() })
}

/// Why a region of `page` was not filled, in a person's words.
pub fn unfilled(page: &str, name: &str, error: &EditError) -> Error {
    match error {
        EditError::BrokenRegion(_) | EditError::NoRegion(_) => Error::usage(format!("the marks in {page} are broken"))
            .with_hint(format!(
                "correct `<!-- cru:begin {name} -->` and `<!-- cru:end -->`, each once and on a line of its own"
            )),
        EditError::NoText => Error::usage(format!("{page} is no UTF-8 text")).with_hint("save it as UTF-8"),
        error => Error::usage(format!("the region `{name}` of {page} cannot be written: {error}"))
            .with_hint("move your own text out of the region"),
    }
}

/// Remembers what was generated for the regions of a page.
pub fn remember(vault: &Vault, page: &ChangedPage) {
    for lines in page.regions().iter().map(|region| &region.generated).filter(|lines| !lines.is_empty()) {
        let Some(path) = place(vault, &lines.seal()).filter(|path| !path.exists()) else { continue };
        // Without it more lines than a person's are kept when they write into the region; none is lost.
        let _ = files::create(&path, lines.to_string().as_bytes());
    }
}

fn place(vault: &Vault, seal: &str) -> Option<PathBuf> {
    let is_seal = seal.len() == 8 && seal.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_seal.then(|| vault.root().join(MARK).join("seals/regions").join(format!("{seal}.txt")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::edit::{Fill, Missing};

    #[test]
    fn what_was_generated_is_known_wherever_the_page_goes() {
        let temp = tempfile::tempdir().unwrap();
        files::create(&temp.path().join("v/.cru/config.toml"), b"").unwrap();
        let vault = Vault::open(&temp.path().join("v")).unwrap();
        let file = temp.path().join("v/a.md");
        let write = |file: &Path, text: &str| {
            change(&vault, file, |old| {
                let mut page = ChangedPage::new(old.unwrap_or(b"# A\n").to_vec());
                let fill = Fill::new("log", text, Missing::Append(None));
                page.fill(&fill, &|seal| generated(&vault, seal)).map_err(|error| unfilled("a.md", "log", &error))?;
                Ok(page)
            })
        };
        let remembered = || std::fs::read_dir(temp.path().join("v/.cru/seals/regions")).unwrap().count();
        assert!(write(&file, "- a\n- b").unwrap());
        assert!(!write(&file, "- a\n- b").unwrap(), "a page that is right is not written");
        assert_eq!(remembered(), 1);
        let moved = temp.path().join("outside.md");
        let text = String::from_utf8(files::read(&file).unwrap()).unwrap();
        files::create(&moved, text.replace("- b", "- b\n- mine").as_bytes()).unwrap();
        assert!(write(&moved, "- c").unwrap());
        let text = String::from_utf8(files::read(&moved).unwrap()).unwrap();
        assert!(text.ends_with("- c\n\n<!-- cru:end -->\n\n- mine\n"), "{text}");
        assert_eq!(remembered(), 1, "what belongs to no page any more is forgotten");
        files::put(&file, b"<!-- cru:begin log -->\n").unwrap();
        assert!(write(&file, "- c").unwrap_err().to_string().contains("the marks in a.md are broken"));
    }
}
