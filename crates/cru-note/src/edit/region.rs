//! Regions that `cru` generates inside pages of a person.
//!
//! `<!-- cru:begin name … seal -->` and `<!-- cru:end -->`, each on a line of its own at top level. What stands between is
//! generated; nothing outside is touched. The seal tells whether somebody else has written there since: what they wrote
//! moves below the region, once. Marks that are broken are left as they are.

use super::EditError;
use super::compare::{parse, same, same_frontmatter};
use super::generated::{GeneratedLines, earlier_seal, theirs};
use super::place::{SEPARATOR, end_of_line, ready};
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

/// What a region of a note holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// The text between the markers.
    pub inside: &'a str,
    /// What stands for the text that was generated; empty where the region was never filled, or by an earlier version.
    pub seal: &'a str,
}

/// What a region is to hold.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    /// The region's name.
    pub name: &'a str,
    /// Words behind the name, for a reader; none ends like a seal.
    pub about: &'a str,
    /// The text; blank empties the region.
    pub text: &'a str,
    /// What the text would be had nobody changed a line that stands in it still.
    pub generated: &'a str,
    /// Lines inside that a person changed and that stand in the text, or elsewhere, once the note is written.
    pub kept: &'a [&'a str],
    /// Where the region is put if there is none.
    pub missing: Missing<'a>,
}

impl<'a> Fill<'a> {
    /// The text of a region that holds nothing of a person.
    pub const fn new(name: &'a str, text: &'a str, missing: Missing<'a>) -> Self {
        Self { name, about: "", text, generated: text, kept: &[], missing }
    }
}

/// Where a region is put that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing<'a> {
    /// Nowhere.
    Leave,
    /// At the end, below a heading if one is given.
    Append(Option<&'a str>),
    /// At this offset, where a line begins.
    At(usize),
}

/// How a note gets its region, and what is to be remembered for the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenewedRegion {
    /// The change; empty where all stands there already.
    pub patch: Patch,
    /// The seal that stood there.
    pub old_seal: String,
    /// What is generated now.
    pub generated: GeneratedLines,
}

/// A page as it is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedPage {
    /// Its bytes.
    pub bytes: Vec<u8>,
    regions: Vec<RenewedRegion>,
}

impl ChangedPage {
    /// A page of these bytes, its regions as they are.
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, regions: Vec::new() }
    }

    /// Fills a region, as [`renew_region`] does.
    pub fn fill(&mut self, fill: &Fill<'_>, known: &dyn Fn(&str) -> Option<GeneratedLines>) -> Result<(), EditError> {
        let renewed = renew_region(&Note::parse(self.bytes.clone()), fill, known)?;
        self.bytes = renewed.patch.apply(&self.bytes);
        self.regions.push(renewed);
        Ok(())
    }

    /// What is to be remembered of the regions that were filled.
    pub fn regions(&self) -> &[RenewedRegion] {
        &self.regions
    }
}

/// What the region `name` holds. Error: there is none, or its marks are broken.
pub fn region<'a>(note: &'a Note, name: &str) -> Result<Region<'a>, EditError> {
    let found = find(note, name)?;
    Ok(Region { inside: found.inside.of(note.text()), seal: found.seal })
}

/// Fills a region. What somebody else wrote inside moves below it; `known` gives the lines that belong to a seal. Error:
/// the marks are broken, or what stands inside cannot stand below.
pub fn renew_region(
    note: &Note,
    fill: &Fill<'_>,
    known: &dyn Fn(&str) -> Option<GeneratedLines>,
) -> Result<RenewedRegion, EditError> {
    let generated = GeneratedLines::of(fill.generated);
    let found = match find(note, fill.name) {
        Err(EditError::NoRegion(_)) => {
            let patch = added(note, fill, &generated.seal())?;
            return Ok(RenewedRegion { patch, old_seal: String::new(), generated });
        }
        found => found?,
    };
    let inside = found.inside.of(note.text());
    let old_seal = found.seal.to_owned();
    let seal = generated.seal();
    let stands = GeneratedLines::of(inside);
    if found.seal == seal && stands == GeneratedLines::of(fill.text) && ticks(inside) == ticks(fill.text) {
        return Ok(RenewedRegion { patch: Patch::default(), old_seal, generated });
    }
    let is_ours = stands.is_empty() || found.seal == stands.seal() || found.seal == earlier_seal(inside);
    let theirs = if is_ours {
        String::new()
    } else {
        theirs(inside, &known(found.seal).unwrap_or_else(|| generated.clone()), fill.text, fill.kept)
    };
    if !theirs.is_empty() && note.bytes() != note.text().as_bytes() {
        return Err(EditError::NoText);
    }
    let patch = match replaced(note, &found, fill, &seal, &theirs) {
        // Parted from its neighbours it cannot stand alone: all of it moves.
        Err(EditError::Merge | EditError::Open) if !theirs.is_empty() => {
            replaced(note, &found, fill, &seal, inside.trim_matches(['\n', '\r']))?
        }
        patch => patch?,
    };
    Ok(RenewedRegion { patch, old_seal, generated })
}

fn ticks(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).filter(|line| line.ends_with("%%"));
    lines.filter_map(|line| line.get(..5)).collect()
}

fn begin_mark(fill: &Fill<'_>, seal: &str) -> String {
    let words = ["<!-- cru:begin", fill.name, fill.about, seal, "-->"];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text between blank lines; nothing where it is blank.
fn between(note: &Note, text: &str) -> Result<String, EditError> {
    let eol = note.split().line_end.as_str();
    if text.trim().is_empty() { Ok(String::new()) } else { Ok([eol, &ready(note, text)?, eol, eol].concat()) }
}

/// Puts the region where it is missing.
fn added(note: &Note, fill: &Fill<'_>, seal: &str) -> Result<Patch, EditError> {
    let (text, eol) = (note.text(), note.split().line_end.as_str());
    let (at, heading) = match fill.missing {
        Missing::Leave => return Ok(Patch::default()),
        Missing::Append(heading) => (text.len(), heading),
        Missing::At(at) => (at.min(text.len()), None),
    };
    if note.bytes() != text.as_bytes() {
        return Err(EditError::NoText);
    }
    let above = Span::new(note.split().body_start.min(at), at).of(text);
    let gap = match above {
        above if above.trim_matches(['\u{feff}', '\n', '\r', ' ', '\t']).is_empty() => String::new(),
        above if above.ends_with("\n\n") || above.ends_with("\n\r\n") => String::new(),
        above if above.ends_with('\n') => eol.to_owned(),
        _ => eol.repeat(2),
    };
    let heading = heading.map(|heading| [heading, eol, eol].concat()).unwrap_or_default();
    // What stood at the end without a line end has none at its end now.
    let behind = match text.len() > at {
        true => eol.repeat(2),
        false if gap.len() > eol.len() && !text.ends_with('\n') => String::new(),
        false => eol.to_owned(),
    };
    let inside = between(note, fill.text)?;
    let chunk = [&gap, &heading, &begin_mark(fill, seal), eol, &inside, "<!-- cru:end -->", &behind].concat();
    let patch = Patch::insert(at, chunk);
    let after = parse(note, &patch);
    let old = note.blocks().iter().filter(|block| !matches!(block.kind, BlockKind::Blank));
    let stands = |block: &Block| {
        let start = block.content.start + if block.content.start >= at { after.text().len() - text.len() } else { 0 };
        let here = after.blocks().iter().find(|it| it.content.start == start);
        here.is_some_and(|it| same(note, std::slice::from_ref(block), &after, std::slice::from_ref(it)))
    };
    let is_whole = same_frontmatter(note, &after) && old.into_iter().all(stands) && find(&after, fill.name).is_ok();
    if is_whole { Ok(patch) } else { Err(EditError::Merge) }
}

/// The region with its new text and seal; `below` stands behind it.
fn replaced(note: &Note, found: &Found<'_>, fill: &Fill<'_>, seal: &str, below: &str) -> Result<Patch, EditError> {
    let inside = between(note, fill.text)?;
    let below = if below.trim().is_empty() { String::new() } else { ready(note, below)? };
    let apart: &[[bool; 2]] = if below.is_empty() {
        &[[false, false]]
    } else {
        &[[false, false], [true, false], [false, true], [true, true]]
    };
    let mark = begin_mark(fill, seal);
    let patches = apart.iter().map(|apart| chunk(note, found, &[&mark, &inside, &below], *apart));
    patches.into_iter().find(|patch| is_whole(note, found, fill.name, patch)).ok_or(EditError::Merge)
}

fn chunk(note: &Note, found: &Found<'_>, [mark, inside, below]: &[&str; 3], apart: [bool; 2]) -> Patch {
    let eol = note.split().line_end.as_str();
    let (first, last) = (&note.blocks()[found.begin], &note.blocks()[found.end]);
    let mut chunk = [mark, eol, inside].concat();
    if below.is_empty() {
        return Patch::replace(Span::new(first.content.start, last.content.start), chunk);
    }
    let [above, behind] = apart.map(|apart| if apart { [SEPARATOR, eol, eol].concat() } else { String::new() });
    chunk.push_str(last.content.of(note.text()).trim_end());
    chunk.extend([eol, eol, &above, below]);
    let rest = &note.text()[last.content.end..];
    if !behind.is_empty() {
        chunk.extend([eol, eol, SEPARATOR]);
    }
    // What comes behind stands below a blank line, as it did.
    if rest.split('\n').nth(1).is_some_and(|line| !line.trim().is_empty()) {
        chunk.push_str(eol);
    }
    Patch::replace(Span::new(first.content.start, last.content.end), chunk)
}

/// Whether all that stood around the region does so after the patch, and the region is one.
fn is_whole(note: &Note, found: &Found<'_>, name: &str, patch: &Patch) -> bool {
    let after = parse(note, patch);
    let tail = &note.blocks()[found.end + 1..];
    let Some(from) = after.blocks().len().checked_sub(tail.len()).filter(|&at| at > found.begin) else {
        return false;
    };
    let markers: Vec<Marker<'_>> =
        after.blocks()[found.begin..from].iter().filter_map(|block| marker(&after, block)).collect();
    same_frontmatter(note, &after)
        && same(note, &note.blocks()[..found.begin], &after, &after.blocks()[..found.begin])
        && same(note, tail, &after, &after.blocks()[from..])
        && matches!(markers.as_slice(), [Marker::Begin(own, _), Marker::End] if *own == name)
}

/// Where a region is: the blocks of its markers, what stands between them, and its seal.
struct Found<'a> {
    begin: usize,
    end: usize,
    inside: Span,
    seal: &'a str,
}

fn find<'a>(note: &'a Note, name: &str) -> Result<Found<'a>, EditError> {
    let broken = || EditError::BrokenRegion(name.to_owned());
    let begins = |(at, block): (usize, &Block)| match marker(note, block) {
        Some(Marker::Begin(own, seal)) if own == name => Some((at, seal)),
        _ => None,
    };
    let mut found = note.blocks().iter().enumerate().filter_map(begins);
    let Some((begin, seal)) = found.next() else {
        let is_meant = note.blocks().iter().any(|block| is_mention(note, block, name));
        return Err(if is_meant { broken() } else { EditError::NoRegion(name.to_owned()) });
    };
    if found.next().is_some() {
        return Err(broken());
    }
    let behind =
        note.blocks().iter().enumerate().skip(begin + 1).find_map(|(at, block)| Some((at, marker(note, block)?)));
    let Some((end, Marker::End)) = behind else { return Err(broken()) };
    let inside = Span::new(end_of_line(note, note.blocks()[begin].content.end), note.blocks()[end].content.start);
    Ok(Found { begin, end, inside, seal })
}

/// Whether a line of a block that is no code begins like the first marker of the region.
fn is_mention(note: &Note, block: &Block, name: &str) -> bool {
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix("<!--")?.trim_start().strip_prefix("cru:begin")?;
        Some(rest.split_whitespace().next()?.trim_end_matches("-->") == name)
    };
    let is_code = matches!(block.kind, BlockKind::Code | BlockKind::Fence { .. });
    !is_code && block.content.of(note.text()).lines().any(|line| begins(line) == Some(true))
}

#[derive(Debug, PartialEq, Eq)]
enum Marker<'a> {
    /// Its name and its seal.
    Begin(&'a str, &'a str),
    End,
}

fn marker<'a>(note: &'a Note, block: &Block) -> Option<Marker<'a>> {
    if !matches!(block.kind, BlockKind::Html) {
        return None;
    }
    let line = Some(block.content.of(note.text()).trim()).filter(|text| !text.contains('\n'))?;
    let text = line.strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_seal = |word: &&&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // More words are a person's, and so is what stands behind a comment on its line. A marker stands on one line.
    match words.as_slice() {
        _ if text.contains("-->") => None,
        ["cru:begin", name, about @ ..] if about.len() <= 2 => {
            Some(Marker::Begin(name, about.last().filter(is_seal).copied().unwrap_or_default()))
        }
        ["cru:end"] | ["cru:end", _] => Some(Marker::End),
        _ => None,
    }
}
