//! The lines of an output that say how a run went.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::lines::{clean, ranges, without_task_prefix};
use super::runners::{KnownLine, Meaning, RUNNERS, RunnerIndex};

/// Bytes at the start of an output of which every line is read.
const START: usize = 16 * 1024;
/// The same at its end, where the summary stands.
const END: usize = 64 * 1024;
/// Work spent on what lies between them: lines whose form is compared.
const COMPARED_BETWEEN: usize = 20_000;
/// Lines that may stand between the two lines of a pair.
const PAIR_DISTANCE: usize = 12;

/// A line that says something.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) meaning: Meaning,
    pub(super) runner: RunnerIndex,
    /// Whether the line counts something above zero.
    pub(super) counted: bool,
    pub(super) range: Range<usize>,
}

/// What an output says.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// In the order of the output.
    pub(super) found: Vec<Finding>,
    /// The first line that is neither known nor empty.
    pub(super) other: Option<Range<usize>>,
    /// The last line with which a task runner says what it runs: `$ tsc --noEmit`, `> tsc --noEmit`.
    pub(super) banner: Option<Range<usize>>,
}

/// Reads `output`; `counts` says of which runners the lines count.
pub(super) fn scan(output: &str, counts: &dyn Fn(RunnerIndex) -> bool) -> Findings {
    let mut scanner =
        Scanner { output, counts, findings: Findings::default(), leads: Vec::new(), line: 0, compared: 0 };
    if output.len() <= START + END {
        scanner.read(0..output.len());
        return scanner.findings;
    }
    let after = |at: usize| memchr::memchr(b'\n', &output.as_bytes()[at..]).map_or(output.len(), |end| at + end + 1);
    let (start, end) = (after(START), after(output.len() - END));
    scanner.read(0..start);
    if start < end {
        scanner.skim(start..end);
    }
    scanner.read(start.max(end)..output.len());
    scanner.findings
}

struct Scanner<'a> {
    output: &'a str,
    counts: &'a dyn Fn(RunnerIndex) -> bool,
    findings: Findings,
    /// Leads of pairs that wait for their second line: the pair and the line's number.
    leads: Vec<(u16, usize)>,
    line: usize,
    compared: usize,
}

impl Scanner<'_> {
    /// Every line of `range`.
    fn read(&mut self, range: Range<usize>) {
        let output = self.output;
        let Some(literals) = &RUNNERS.literals else { return };
        for range in ranges(output, range) {
            let cleaned = clean(&output.as_bytes()[range.clone()]);
            if cleaned.is_empty() {
                continue;
            }
            self.line += 1;
            let mut known = self.known(&cleaned, literals, None);
            if known.is_empty()
                && let Some(rest) = without_task_prefix(&cleaned)
            {
                known = self.known(rest, literals, None);
                if known.is_empty()
                    && let Some(rest) = without_task_prefix(rest)
                {
                    known = self.known(rest, literals, None);
                }
            }
            if known.is_empty() && self.findings.other.is_none() && cleaned.iter().any(u8::is_ascii_alphanumeric) {
                self.findings.other = Some(range.clone());
            }
            let is_noise = known.iter().all(|entry| entry.meaning == Meaning::Noise);
            if is_noise && (cleaned.starts_with(b"$ ") || cleaned.starts_with(b"> ")) {
                self.findings.banner = Some(range.clone());
            }
            self.add(&known, &range);
        }
    }

    /// The lines of `range` that tell of a failure.
    fn skim(&mut self, range: Range<usize>) {
        let output = self.output;
        let Some(failures) = &RUNNERS.failures else { return };
        // What is not read may be anything.
        self.findings.other.get_or_insert(range.start..range.start);
        self.leads.clear();
        self.compared = 0;
        let bytes = output.as_bytes();
        let mut start = range.start;
        while start < range.end && self.compared <= COMPARED_BETWEEN {
            // Bytes between them that are searched at once.
            let least = (start + (64 * 1024)).min(range.end);
            let end = memchr::memchr(b'\n', &bytes[least..range.end]).map_or(range.end, |end| least + end + 1);
            let block = start..end;
            start = end;
            if memchr::memchr(0x1b, &bytes[block.clone()]).is_some() {
                for line in ranges(output, block) {
                    self.skim_line(failures, &line);
                }
                continue;
            }
            // Without colour codes the block is searched as one, and only lines with a hit are looked at.
            let mut done = block.start;
            for hit in failures.find_overlapping_iter(&bytes[block.clone()]) {
                let at = block.start + hit.start();
                if at < done {
                    continue;
                }
                let from = memchr::memrchr2(b'\n', b'\r', &bytes[block.start..at])
                    .map_or(block.start, |end| block.start + end + 1);
                let to = memchr::memchr2(b'\n', b'\r', &bytes[at..block.end]).map_or(block.end, |end| at + end);
                self.skim_line(failures, &(from..to));
                done = to;
            }
        }
    }

    fn skim_line(&mut self, failures: &AhoCorasick, range: &Range<usize>) {
        if self.compared > COMPARED_BETWEEN {
            return;
        }
        let output = self.output;
        let cleaned = clean(&output.as_bytes()[range.clone()]);
        let mut known = self.known(&cleaned, failures, Some(&RUNNERS.failure_lines));
        if known.is_empty()
            && let Some(rest) = without_task_prefix(&cleaned)
        {
            known = self.known(rest, failures, Some(&RUNNERS.failure_lines));
        }
        self.add(&known, range);
    }

    /// The known lines that `line` is one of, of each runner the strongest.
    fn known(&mut self, line: &[u8], literals: &AhoCorasick, places: Option<&[u16]>) -> Vec<&'static KnownLine> {
        let mut tried: Vec<usize> = Vec::new();
        let mut known: Vec<&'static KnownLine> = Vec::new();
        for hit in literals.find_overlapping_iter(line) {
            let index = hit.pattern().as_usize();
            if tried.contains(&index) {
                continue;
            }
            tried.push(index);
            let place =
                places.map_or(index, |places| places.get(index).map_or(usize::MAX, |place| usize::from(*place)));
            let Some(entry) = RUNNERS.lines.get(place) else { continue };
            if !entry.pattern.may_match(line) || !(self.counts)(entry.runner) {
                continue;
            }
            self.compared += 1;
            if entry.pattern.matches(line) {
                known.push(entry);
            }
        }
        let all = known.clone();
        let rank = |entry: &KnownLine| entry.meaning.rank();
        known.retain(|entry| !all.iter().any(|other| other.runner == entry.runner && rank(other) < rank(entry)));
        known
    }

    fn add(&mut self, known: &[&KnownLine], range: &Range<usize>) {
        let mut noted: Vec<(RunnerIndex, Meaning)> = Vec::new();
        for entry in known {
            let mut meaning = entry.meaning;
            let mut counted = entry.pattern.is_counted();
            match meaning {
                Meaning::Lead(pair) => {
                    self.leads.retain(|(other, _)| *other != pair);
                    self.leads.push((pair, self.line));
                    continue;
                }
                Meaning::Close(pair) => {
                    let is_led =
                        self.leads.iter().any(|(lead, line)| *lead == pair && self.line - line <= PAIR_DISTANCE);
                    if !is_led {
                        continue;
                    }
                    self.leads.retain(|(lead, _)| *lead != pair);
                    (meaning, counted) = (Meaning::Passed, true);
                }
                _ => {}
            }
            if !noted.contains(&(entry.runner, meaning)) {
                noted.push((entry.runner, meaning));
                self.findings.found.push(Finding { meaning, runner: entry.runner, counted, range: range.clone() });
            }
        }
    }
}
