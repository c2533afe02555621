//! What waits for a person: one line each, with an id that stays while the matter stays.

use serde::Serialize;

/// So many are shown; the others wait until these are dealt with.
pub const MOST: usize = 20;

/// Hexadecimal digits of an id.
pub(super) const DIGITS: usize = 8;

cru_base::words! {
    /// What an item is about, what costs most when it waits first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ReviewKind {
        /// Transcripts that their host will delete.
        Transcripts = "transcripts",
        /// A copy of a note that a sync service left.
        Copy = "copy",
        /// A `[!conflict]` callout.
        Conflict = "conflict",
        /// Something that is kept rests on what has changed.
        Drifted = "drifted",
        /// A session was closed with writes that no check has seen.
        Unproven = "unproven",
        /// A lesson is proposed.
        Lesson = "lesson",
        /// A reading is proposed.
        Reading = "reading",
        /// A recipe is proposed.
        Recipe = "recipe",
        /// Cases of `cru learn` that nobody has decided about.
        Cases = "cases",
        /// A question is open for a week.
        Question = "question",
        /// A bookmark leads nowhere.
        Bookmark = "bookmark",
    }
}

impl ReviewKind {
    /// Whether a person decides about a proposal; anything else is only settled.
    pub const fn is_proposal(self) -> bool {
        matches!(self, Self::Lesson | Self::Reading | Self::Recipe)
    }
}

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewItem {
    /// `r-9f2c11ab`.
    pub id: String,
    /// What it is about.
    pub kind: ReviewKind,
    /// In words, one line.
    pub text: String,
    /// What to look at, as it stands in a link; empty where there is nothing.
    pub link: String,
    /// What a command calls it: the id of a lesson, the name of a reading.
    #[serde(skip)]
    pub subject: String,
    /// What it costs to wait, among items of its kind.
    #[serde(skip)]
    pub weight: f64,
}

impl ReviewItem {
    /// An item. What `subject` names, and the `state` it is in, make the id: the same matter has the same id on every
    /// machine, and another one once it is another matter.
    pub fn new(kind: ReviewKind, subject: &str, state: &str, text: &str, link: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [kind.as_str(), subject, state] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let id = format!("r-{}", &hasher.finalize().to_hex()[..DIGITS]);
        let text = one_line(text);
        Self { id, kind, text, link: one_line(link), subject: subject.to_owned(), weight: 0.0 }
    }

    /// The same with a weight.
    #[must_use]
    pub fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Its words in a list: `lesson: Use pnpm, not npm — [[x#^u-05]]`.
    pub fn words(&self) -> String {
        let link = if self.link.is_empty() { String::new() } else { format!(" — [[{}]]", self.link) };
        format!("{}: {}{link}", self.kind.as_str(), self.text)
    }
}

/// The items in order, what costs most first, with at most [`MOST`]; and how many more wait.
pub fn ordered(mut items: Vec<ReviewItem>) -> (Vec<ReviewItem>, usize) {
    items.sort_by(|a, b| {
        (a.kind.cmp(&b.kind))
            .then(b.weight.total_cmp(&a.weight))
            .then_with(|| a.text.cmp(&b.text))
            .then_with(|| a.id.cmp(&b.id))
    });
    items.dedup_by(|a, b| a.id == b.id);
    let more = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    (items, more)
}

/// A text as it can stand in a line of a list: no line ends, and nothing that would be read as a mark of the page.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("%%", "% %").replace("<!--", "<! --");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).chain(std::iter::once('…')).collect()
}
