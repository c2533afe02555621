//! Cells: commands that a note holds so that they can be run.
//!
//! A cell is a fence whose info is a shell's name and the word `cell`, or an item of a list that is a command in a code
//! span; either has an id. A heading stands for all cells below it.

use crate::base::text::{one_line, sanitise};
use crate::base::{Error, Result};
use crate::note::Note;
use crate::note::block::{Block, BlockKind};
use crate::session::Link;
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// Names of shells in the info of a fence.
const SHELLS: &[&str] = &["sh", "bash", "shell", "zsh"];

/// A command of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands::trace) struct Cell {
    pub(in crate::commands::trace) text: String,
    /// `[[note#^c-01]]`, or to its heading where it has no id.
    pub(in crate::commands::trace) link: String,
}

/// `[[note#^c-01]]`: the link, where a text is one.
pub(in crate::commands::trace) fn link_of(text: &str) -> Option<Link> {
    Some(Link::parse(text.trim().strip_prefix("[[")?.strip_suffix("]]")?))
}

/// The cells that a link means.
///
/// Errors: there is no such note, or no cell there.
pub(in crate::commands::trace) fn find(wanted: &Link, vault: &Vault, catalog: &Catalog) -> Result<Vec<Cell>> {
    let from = VaultPath::new("cells.md");
    let head = from.and_then(|from| catalog.note(&wanted.target, &from));
    let Some(head) = head else {
        return Err(Error::no(format!("there is no note `{}` in this vault", sanitise(&wanted.target))));
    };
    let note = Note::parse(vault.read(&head.path)?.into_owned());
    let found = match (&wanted.block, &wanted.heading) {
        (Some(id), _) => by_id(&note, note.blocks(), id).map(|text| vec![cell(head, text, Some(id), None)]),
        (None, Some(heading)) => below(&note, heading, head),
        (None, None) => None,
    };
    found.filter(|cells| !cells.is_empty()).ok_or_else(|| {
        Error::no(format!("there is no cell at {}", one_line(&wanted.to_string())))
            .with_hint("a cell is a fence ```sh cell with `^c-01` on the line below it; [[note#^c-01]] names it")
    })
}

fn cell(head: &Head, text: String, id: Option<&str>, heading: Option<&str>) -> Cell {
    let stem = head.path.stem().into_owned();
    let link = match (id, heading) {
        (Some(id), _) => format!("[[{stem}#^{id}]]"),
        (None, Some(heading)) => format!("[[{stem}#{heading}]]"),
        (None, None) => format!("[[{stem}]]"),
    };
    Cell { text, link }
}

/// The command of the block with an id.
fn by_id(note: &Note, blocks: &[Block], id: &str) -> Option<String> {
    blocks.iter().find_map(|block| {
        let own = note.id(block).filter(|own| own.eq_ignore_ascii_case(id));
        own.and_then(|_| command(note, block)).or_else(|| by_id(note, &block.children, id))
    })
}

/// The commands of a section, in the order of the page.
fn below(note: &Note, heading: &str, head: &Head) -> Option<Vec<Cell>> {
    let is_it = |block: &Block| match block.kind {
        BlockKind::Heading { text, .. } => text.of(note.text()).trim().eq_ignore_ascii_case(heading.trim()),
        _ => false,
    };
    let index = note.blocks().iter().position(is_it)?;
    let mut cells = Vec::new();
    for block in note.blocks().get(note.section(index))? {
        collect(note, block, heading, head, &mut cells);
    }
    Some(cells)
}

fn collect(note: &Note, block: &Block, heading: &str, head: &Head, cells: &mut Vec<Cell>) {
    if let Some(text) = command(note, block) {
        cells.push(cell(head, text, note.id(block), Some(heading)));
        return;
    }
    block.children.iter().for_each(|child| collect(note, child, heading, head, cells));
}

/// What a block runs; `None` where it is no cell.
fn command(note: &Note, block: &Block) -> Option<String> {
    match block.kind {
        BlockKind::Fence { info, closed: true, .. } => {
            let mut words = info.of(note.text()).split_whitespace();
            let is_shell = words.next().is_some_and(|word| SHELLS.iter().any(|name| word.eq_ignore_ascii_case(name)));
            let is_cell = words.next().is_some_and(|word| word.eq_ignore_ascii_case("cell"));
            (is_shell && is_cell).then(|| shell_lines(&note.unquoted(block).into_string()))
        }
        BlockKind::ListItem { text, .. } => code_of(text.of(note.text())),
        _ => None,
    }
}

/// The text of a fence without its last line end. What only looks like a blank stays, and is refused.
fn shell_lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end_matches(['\n', ' ']).to_owned()
}

/// `` `cargo test` — passes ``: the text of the only code span, which stands first. A step (`` `Bash ls` → ok ``) is none.
fn code_of(line: &str) -> Option<String> {
    let line = line.trim_matches(' ');
    let ticks = line.len() - line.trim_start_matches('`').len();
    if ticks == 0 {
        return None;
    }
    let fence = &line[..ticks];
    let (code, rest) = line[ticks..].split_once(fence)?;
    let rest = rest.trim_start();
    if rest.contains('`') || rest.starts_with(['→']) || rest.starts_with("->") {
        return None;
    }
    let code = code.trim_matches(' ');
    (!code.is_empty()).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_list_items() {
        assert_eq!(code_of("`cargo test` — passes").as_deref(), Some("cargo test"));
        assert_eq!(code_of("``echo `x` `` — y").as_deref(), Some("echo `x`"));
        assert_eq!(code_of("`` echo `x` `` — y").as_deref(), Some("echo `x`"));
        assert_eq!(code_of("`Bash ls` → ok"), None);
        assert_eq!(code_of("look at it"), None);
        assert_eq!(code_of("`a` and `b`"), None);
        assert_eq!(code_of("`"), None);
    }

    #[test]
    fn links() {
        let link = link_of(" [[flow#^v-01]] ").unwrap();
        assert_eq!((link.target.as_str(), link.block.as_deref()), ("flow", Some("v-01")));
        assert_eq!(link_of("[[flow#Validation]]").unwrap().heading.as_deref(), Some("Validation"));
        assert_eq!(link_of("ls"), None);
    }
}
