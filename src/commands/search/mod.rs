//! `cru search`.

mod advice;
mod excerpt;
mod open;
mod output;
mod passage;
mod told;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rayon::prelude::*;

use crate::base::text::plural;
use crate::base::{Error, Lines, Result};
use crate::commands::output::most;
use crate::commands::pick;
use crate::commands::reach::Withheld;
use crate::commands::{Context, Output, Raw, Reach, language, reading};
use crate::index::search::{AnyWord, Hit, Marker, Order, Search, SearchOptions, any_word, in_different_blocks};
use crate::index::{NoteKey, Query, Snapshot, kept};
use crate::session::public;
use crate::sync::evidence::Transcripts;
use crate::vault::{Catalog, Vault, VaultPath};

use output::{FoundHits, HitGroup, HitLine, MatchKind, PathListing, TranscriptLine};
use passage::Passage;

const EXAMPLES: &str = "\
Examples:
  cru search 'refresh token -test'
  cru search 'is:decision cache after:30d'
  cru search '\"no such file\" tool:bash is:failed' -C 2
  cru search 'file:src/auth.rs agent:coder' --sort time
  cru search 'panic status=failed tokens>100000'
  cru search login --open";

/// Hits of one session in a list of the most relevant ones, unless there are no others.
const PER_SESSION: usize = 3;

/// Find words in all sessions
///
/// Words must all stand in one block: a phase's heading, a step, a decision, a paragraph. Where no block holds all of
/// them, sessions that hold any are listed, marked `(any word)`; --any asks for that at once. Where a word and a
/// field hold in different blocks of a session, it is marked `(different blocks)`. "…" is an exact phrase,
/// auth* a prefix, auth~ allows for a slip; AND, OR, NOT, -word and (…) combine. Names of code are found by their parts:
/// src/auth.rs, fooBar, error[E0308].
///
/// Fields restrict: is:failed, tool:bash, tokens>100000, model~opus. is: takes a kind (is:decision), a mark (is:failed,
/// is:correction, is:open) or a status (is:active). kind:lesson, reading, bookmark, project, case, workflow and summary find the
/// notes of that kind, too.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", language::rules()))]
pub struct Args {
    /// The query; quote it for the shell
    #[arg(required_unless_present = "interactive", value_name = "QUERY")]
    query: Vec<String>,
    /// Only the paths of the notes
    #[arg(long, conflicts_with_all = ["count", "open"])]
    files: bool,
    /// Only the number of hits
    #[arg(long, conflicts_with = "open")]
    count: bool,
    /// Hits to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Lines around each hit
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,
    /// Order; sessions that hold any of the words come by relevance
    #[arg(long, value_enum, default_value = "relevance", value_name = "KEY")]
    sort: SearchSort,
    /// Pick a hit on the terminal: type to search; its session is shown, resumed or edited
    #[arg(short, long)]
    interactive: bool,
    /// Any of the words: sessions as wholes, with the best passage of each
    #[arg(long, conflicts_with_all = ["sort", "count"])]
    any: bool,
    /// Open a hit, the first unless a number says another, in `$VISUAL` or `$EDITOR`; or in `obsidian`
    #[arg(long, value_name = "N|obsidian", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    open: Option<open::OpenPlace>,
}

/// What to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SearchSort {
    /// The best first
    Relevance,
    /// The newest first
    Time,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if args.interactive {
        return pick::run(Some(args.query.join(" ")), cx);
    }
    let text = args.query.join(" ");
    let query = Query::parse(&text, &reading::now(cx)).map_err(|error| error.into_usage(&text))?;
    let vault = reading::vault(cx)?;
    let kinds = kept::asked(&query);
    let snapshot = if kinds.is_empty() { reading::snapshot(&vault, cx)? } else { with_notes(&kinds, &vault, cx)? };
    let limit = most(args.limit);
    let by_time = args.sort == SearchSort::Time;
    let options = SearchOptions {
        order: if by_time { Order::Time } else { Order::Relevance },
        limit: if args.count { 1 } else { limit.max(args.open.as_ref().map_or(1, |place| place.number)) },
        per_session: match () {
            () if args.files => 1,
            () if by_time || limit == usize::MAX => usize::MAX,
            () => PER_SESSION,
        },
        here: Some(cx.env.folder()),
    };
    let search = Search::new(&snapshot, &query, &options);
    let strict = if args.any { Vec::new() } else { search.hits()? };
    if args.count {
        let totals = if strict.is_empty() {
            in_different_blocks(&snapshot, &query, &options)?.totals
        } else {
            search.totals()?
        };
        return Ok(Box::new(output::HitCount(totals)));
    }
    // Words that stand together in the output of a tool alone may do so by accident.
    let is_told = strict.iter().any(|hit| hit.evidence.is_none());
    let is_any = args.any || (query.words().len() > 1 && query.is_plain() && !is_told && !by_time);
    let is_nowhere = strict.is_empty() && !args.any;
    let is_any = is_any || (strict.is_empty() && query.words().len() > 1);
    let mut matched = if is_any { MatchKind::AnyWord } else { MatchKind::OneBlock };
    let AnyWord { mut hits, mut totals } = match () {
        () if is_any => any_word(&snapshot, &query, &options)?,
        () if strict.is_empty() => AnyWord::default(),
        () => AnyWord { hits: strict, totals: search.totals()? },
    };
    if hits.is_empty() {
        AnyWord { hits, totals } = in_different_blocks(&snapshot, &query, &options)?;
        matched = MatchKind::DifferentBlocks;
    }
    if hits.is_empty() {
        advice::give(&snapshot, &query, &options, cx)?;
    } else if matched == MatchKind::AnyWord {
        if is_nowhere {
            cx.ui.note("no block has all of these words; these have some of them");
        }
        advice::nowhere(&snapshot, &query, &options, cx)?;
    }
    let marker = Marker::new(&query);
    let mut found = FoundHits { query: text, matched, totals, groups: Vec::new(), now: cx.env.now() };
    let mut places: HashMap<NoteKey, usize> = HashMap::new();
    let notes = if args.files { HashMap::new() } else { notes_of(&hits, &snapshot, &vault) };
    for hit in &hits {
        let Some(row) = snapshot.session(hit.key) else { continue };
        let place = *places.entry(hit.key).or_insert_with(|| {
            found.groups.push(HitGroup::of(row));
            found.groups.len() - 1
        });
        if args.files {
            continue;
        }
        let Some((text, lines)) = notes.get(&hit.key) else { continue };
        let passage = Passage::of(text, lines, hit, &marker, args.context);
        found.groups[place].hits.push(HitLine {
            number: 0,
            kind: hit.kind.clone(),
            passage,
            time: hit.time.or(row.started),
            score: hit.score,
            told: hit.evidence.and_then(|line| TranscriptLine::of(row, line, hit.source.clone())),
        });
    }
    if args.files {
        return Ok(Box::new(PathListing { totals, paths: found.groups.into_iter().map(|group| group.path).collect() }));
    }
    found.count();
    told::quote(&mut found, &snapshot, &Transcripts::of(&vault, cx.env), &marker);
    if let Some(place) = &args.open {
        return match found.hit(place.number) {
            Some((path, line)) => place.open(&vault.root().join(path), line, cx),
            None if hits.is_empty() => Ok(Box::new(Raw { name: "open", text: String::new() })),
            None => Err(Error::no(format!("there is no hit {}", place.number))
                .with_hint(format!("the query has {}", plural(found.shown() as u64, "hit")))),
        };
    }
    let shown = found.shown() as u64;
    if shown > 0 && shown < totals.hits {
        let sessions = plural(totals.sessions, "session");
        let all = if matched == MatchKind::OneBlock {
            format!("{} in {sessions}", plural(totals.hits, "hit"))
        } else {
            sessions
        };
        cx.ui.note(&format!("{shown} of {all}; all of them: -n 0"));
    }
    Ok(Box::new(found))
}

/// All sessions, and beside them the notes of kinds that the query names.
fn with_notes(kinds: &[&'static str], vault: &Vault, cx: &Context<'_>) -> Result<Arc<Snapshot>> {
    let mut snapshot = reading::snapshot_with(vault, cx, false, false)?;
    let walk = snapshot.walk().clone();
    let withheld = (cx.global.reach != Reach::All)
        .then(|| Withheld::of(&Catalog::of(vault, walk.clone()), vault, cx.global.reach));
    let is_withheld = withheld.as_ref().map(|withheld| move |text: &str| withheld.is_told_of(text));
    let is_withheld = is_withheld.as_ref().map(|is| is as &kept::IsWithheld<'_>);
    let notes = walk.notes.par_iter().filter_map(|(path, _)| kept::read(vault, path, kinds, is_withheld)).collect();
    snapshot.add_notes(notes)?;
    Ok(Arc::new(snapshot))
}

/// The notes that hits stand in as they are now, what may not be shown blanked; a note that went away meanwhile is empty.
fn notes_of(hits: &[Hit], snapshot: &Snapshot, vault: &Vault) -> HashMap<NoteKey, (String, Lines)> {
    let mut keys: Vec<NoteKey> = hits.iter().map(|hit| hit.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let read = |key| {
        let path = VaultPath::new(&snapshot.session(key)?.path);
        let bytes = path.and_then(|path| Some(vault.read(&path).ok()?.into_owned()));
        let text = public::blanked(bytes.unwrap_or_default());
        let lines = Lines::of(&text);
        Some((key, (text, lines)))
    };
    keys.into_par_iter().filter_map(read).collect()
}

/// `3 h ago`; a date where that is long ago.
fn age(now: Timestamp, time: Timestamp, zone: &TimeZone) -> String {
    let day = || time.to_zoned(zone.clone()).date().to_string();
    match now.duration_since(time).as_secs() {
        ..0 => day(),
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        seconds @ 86_400..7_776_000 => format!("{} d ago", seconds / 86_400),
        _ => day(),
    }
}
