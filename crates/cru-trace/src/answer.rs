//! Where the anchors of many claims stand: each file is read once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::cache::AnswerCache;
use crate::files::{FileState, ReadFiles};
use crate::text::{SearchedText, Sighting, Spot};
use crate::verdict::{ClaimVerdict, UnknownReason};

/// What is asked of a file.
#[derive(Clone, Debug)]
pub struct Question {
    /// The folder of the project.
    pub root: PathBuf,
    /// The file in it, names joined by `/`.
    pub path: String,
    /// What of it.
    pub spot: Spot,
    /// The lines, where their text is known.
    pub text: Option<Vec<String>>,
}

/// The answers, in the order of the questions. A file that has not changed since an answer was kept is not read.
pub fn answers(
    questions: &[Question],
    files: &dyn ReadFiles,
    cache: &mut AnswerCache,
    now: Timestamp,
) -> Vec<ClaimVerdict> {
    let mut by_file: BTreeMap<(&Path, &str), Vec<usize>> = BTreeMap::new();
    for (at, question) in questions.iter().enumerate() {
        by_file.entry((&question.root, &question.path)).or_default().push(at);
    }
    let mut all = vec![ClaimVerdict::Gone; questions.len()];
    for ((root, path), asked) in by_file {
        let name = root.join(path).to_string_lossy().into_owned();
        let stamp = files.stamp(root, path);
        let kept = |at: &usize| {
            let question = &questions[*at];
            let sighting = cache.answer(&name, stamp?, &question.spot)?;
            // How many lines are left is not kept.
            (sighting != Sighting::Missing || question.text.is_none()).then(|| verdict(sighting, &question.spot, None))
        };
        let known: Vec<Option<ClaimVerdict>> = asked.iter().map(kept).collect();
        let missing = known.iter().any(Option::is_none);
        for (at, verdict) in asked.iter().zip(known) {
            if let Some(verdict) = verdict {
                all[*at] = verdict;
            }
        }
        if !missing {
            continue;
        }
        match files.read(root, path) {
            FileState::Bytes(bytes) => {
                let text = SearchedText::of(&bytes);
                for at in asked {
                    let Question { spot, text: lines, .. } = &questions[at];
                    let sighting = text.find(spot, lines.as_deref());
                    if let Some(stamp) = stamp {
                        cache.keep(&name, stamp, spot, sighting, now);
                    }
                    let left = lines.as_deref().filter(|_| sighting == Sighting::Missing).map(|lines| text.left(lines));
                    all[at] = verdict(sighting, spot, left);
                }
            }
            FileState::Unknown(reason) => asked.iter().for_each(|at| all[*at] = ClaimVerdict::unknown(reason)),
            FileState::Gone => renamed(root, path, &asked, questions, files, &mut all),
        }
    }
    all
}

/// The file is gone: its lines may stand in the one it was renamed to.
fn renamed(
    root: &Path,
    path: &str,
    asked: &[usize],
    questions: &[Question],
    files: &dyn ReadFiles,
    all: &mut [ClaimVerdict],
) {
    let Some(new) = files.renamed(root, path) else { return };
    let FileState::Bytes(bytes) = files.read(root, &new) else { return };
    let text = SearchedText::of(&bytes);
    for at in asked {
        let Question { spot, text: lines, .. } = &questions[*at];
        let line = match (text.find(spot, lines.as_deref()), spot) {
            (Sighting::InPlace, Spot::Lines { first: Some(first), .. }) => *first,
            (Sighting::InPlace, _) => 1,
            (Sighting::At(line), _) => line,
            _ => continue,
        };
        all[*at] = ClaimVerdict::Moved { file: Some(new.clone()), line };
    }
}

fn verdict(sighting: Sighting, spot: &Spot, left: Option<u64>) -> ClaimVerdict {
    let of = match spot {
        Spot::Whole(_) => 0,
        Spot::Lines { count, .. } => *count,
    };
    match sighting {
        Sighting::InPlace => ClaimVerdict::Holds,
        Sighting::At(line) => ClaimVerdict::Moved { file: None, line },
        Sighting::Missing => ClaimVerdict::Drifted { left, of },
        Sighting::TooMuchWork => ClaimVerdict::unknown(UnknownReason::TooMuchWork),
    }
}
