//! What a reader of cases says of one: whether anybody should learn from it.
//!
//! It stands in the frontmatter of the case's note, and is none of what makes a note a person's: where the note is written
//! anew, it is asked again.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use cru_base::text;

cru_base::words! {
    /// A verdict on a case.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CaseVerdict {
        /// Who learns from it becomes better.
        Good = "good",
        /// Not wrong, and of little use.
        Weak = "weak",
        /// It would teach something wrong.
        Harmful = "harmful",
    }
}

/// The key of the verdict in the frontmatter.
pub const JUDGED: &str = "judged";

/// The key of who gave it.
pub const JUDGE: &str = "judge";

/// The key of the reason.
pub const WHY: &str = "judge_says";

/// Characters of a reason that are kept.
const LONGEST: usize = 600;

/// A verdict on one of the cases that were asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseJudgement {
    /// The place of the case among those.
    pub case: usize,
    /// The verdict.
    pub verdict: CaseVerdict,
    /// The reason, in one line.
    pub why: String,
}

/// Reads the verdicts on cases with these ids. Those that are left out are not judged. Error: what is wrong, a line each.
pub fn read(answer: &Value, ids: &[&str]) -> Result<Vec<CaseJudgement>, Vec<String>> {
    let Some(verdicts) = answer.get("verdicts").and_then(Value::as_array) else {
        return Err(vec![
            "no `verdicts`; answer with {\"verdicts\": [{\"case\": …, \"verdict\": …, \"why\": …}]}".to_owned(),
        ]);
    };
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let (mut judged, mut errors) = (Vec::new(), Vec::new());
    let mut seen = vec![false; ids.len()];
    for (at, it) in verdicts.iter().enumerate() {
        let word = |key: &str| it.get(key).and_then(Value::as_str).unwrap_or_default();
        let shown = text::truncate(&text::one_line(word("case")), 60).into_owned();
        let Some(case) = places.get(word("case")).copied() else {
            errors.push(format!("verdicts[{at}].case: `{shown}` is none of the cases"));
            continue;
        };
        let Some(verdict) = CaseVerdict::parse(word("verdict").trim()) else {
            errors.push(format!("verdicts[{at}].verdict: must be good, weak or harmful"));
            continue;
        };
        if std::mem::replace(&mut seen[case], true) {
            errors.push(format!("verdicts[{at}].case: `{shown}` is judged twice"));
            continue;
        }
        let why = text::truncate(&text::fold_whitespace(&text::sanitise(word("why"))), LONGEST).into_owned();
        judged.push(CaseJudgement { case, verdict, why });
    }
    if errors.is_empty() { Ok(judged) } else { Err(errors) }
}

/// A note without its verdict.
pub fn without_verdict(text: &str) -> Cow<'_, str> {
    let is_verdict = |line: &str| {
        [JUDGED, JUDGE, WHY].iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
    };
    let Some(front) = text.find("\n---").filter(|_| text.starts_with("---")) else { return Cow::Borrowed(text) };
    let (front, rest) = text.split_at(front + 1);
    if !front.lines().any(is_verdict) {
        return Cow::Borrowed(text);
    }
    // A value may go on in indented lines.
    let mut goes = false;
    let is_left = |line: &&str| {
        goes = is_verdict(line) || goes && (line.starts_with([' ', '\t']) || line.trim().is_empty());
        !goes
    };
    Cow::Owned(front.split_inclusive('\n').filter(is_left).chain([rest]).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn verdicts_are_read_and_odd_ones_named() {
        let verdict = |case: &str, verdict: &str| json!({ "case": case, "verdict": verdict, "why": "so\n it is" });
        let of = |verdicts: Vec<Value>| read(&json!({ "verdicts": verdicts }), &["a-1", "b-2"]);
        let good = CaseJudgement { case: 1, verdict: CaseVerdict::Good, why: "so it is".to_owned() };
        assert_eq!(of(vec![verdict("b-2", "good")]), Ok(vec![good]));
        assert_eq!(of(vec![]), Ok(vec![]));
        let errors =
            of(vec![verdict("c-3", "good"), verdict("a-1", "fine"), verdict("b-2", "weak"), verdict("b-2", "weak")]);
        assert_eq!(
            errors.unwrap_err(),
            [
                "verdicts[0].case: `c-3` is none of the cases",
                "verdicts[1].verdict: must be good, weak or harmful",
                "verdicts[3].case: `b-2` is judged twice",
            ]
        );
        assert!(read(&json!([]), &[]).is_err());
    }

    #[test]
    fn a_verdict_is_none_of_the_note() {
        let note = "---\ncase_id: a-1\nrendered: 1\n---\n# T\n\njudged: yes\n";
        let judged = note.replace("rendered: 1\n", "rendered: 1\njudged: weak\njudge: x\njudge_says: \"a: b\"\n");
        assert_eq!(without_verdict(&judged), note);
        let folded = judged.replace("judge: x\n", "judge: |-\n  x\n\n  status: accepted\n");
        assert_eq!(without_verdict(&folded), note);
        assert_eq!(without_verdict("no frontmatter\njudged: x\n"), "no frontmatter\njudged: x\n");
    }
}
