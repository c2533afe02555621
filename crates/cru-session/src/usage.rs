//! The `[!usage]` callout: tokens by model, as a table that people read and `cru` reads back.
//!
//! Cache reads stand apart from the other counts, because `tokens_used` does not hold them.

use std::fmt::Write as _;

use super::event::Usage;
use cru_base::text::{plural, thousands};

/// Kind of the callout.
pub const KIND: &str = "usage";

/// A count that no record tells.
const UNKNOWN: &str = "unknown";

const HEAD: &str = "| Model | Input | Output | Cache write | Cache read |";
/// The column of tokens among the cache writes that are kept for an hour; only where there are any.
const HOUR: &str = " Of it for 1 h |";

/// The column of searches of the web, behind that of the hour; only where there are any.
const SEARCHES: &str = " Web searches |";

/// What stands before the name of a model that was asked in a way with a price of its own: quickly, or in the United
/// States alone; of both, in this order.
pub const SERVED: [&str; 2] = ["fast/", "us/"];

/// The model, however it was asked.
pub fn plain_model(model: &str) -> &str {
    SERVED.iter().fold(model, |model, served| model.strip_prefix(served).unwrap_or(model))
}

const RULE: &str = "| --- | ---: | ---: | ---: | ---: |";

/// The callout's title: `48,210 tokens`; `34,000 output tokens` where the input is unknown.
pub fn title(rows: &[(String, Usage)]) -> String {
    let total = total(rows);
    total.known().map_or_else(|| plural(total.output, "output token"), |used| plural(used, "token"))
}

/// The callout's body: a table with a row for each model.
pub fn table(rows: &[(String, Usage)]) -> String {
    let has_searches = rows.iter().any(|(_, usage)| usage.web_searches > 0);
    let has_hour = has_searches || rows.iter().any(|(_, usage)| usage.cache_write_1h > 0);
    let (hour, searches) = (if has_hour { HOUR } else { "" }, if has_searches { SEARCHES } else { "" });
    let rule = " ---: |".repeat(usize::from(has_hour) + usize::from(has_searches));
    let mut text = format!("{HEAD}{hour}{searches}\n{RULE}{rule}");
    for (model, usage) in rows {
        let count = |count: u64| if usage.only_output { UNKNOWN.to_owned() } else { thousands(count) };
        let counts = [count(usage.input), thousands(usage.output), count(usage.cache_write), count(usage.cache_read)];
        let _ = write!(text, "\n| {} | {} |", model.replace(['|', '\n'], " "), counts.join(" | "));
        if has_hour {
            let _ = write!(text, " {} |", thousands(usage.cache_write_1h));
        }
        if has_searches {
            let _ = write!(text, " {} |", thousands(usage.web_searches));
        }
    }
    text
}

/// Reads the table back; rows that are none are left out.
pub fn read(body: &str) -> Vec<(String, Usage)> {
    body.lines().filter_map(row).collect()
}

/// Whether a line is one that [`table`] writes.
pub fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(HEAD.split(" |").next().unwrap_or(HEAD)) || line.starts_with("| --- |") || row(line).is_some()
}

/// Whether a callout of a note is as [`title`] and [`table`] write it: no remark beside it, no row taken out.
pub fn is_generated(callout: &str) -> bool {
    let mut lines = callout.lines().map(|line| line.trim_start_matches('>').trim());
    let head = lines.next().unwrap_or_default();
    let body = lines.collect::<Vec<_>>().join("\n");
    let rows = read(&body);
    head.ends_with(&title(&rows)) && body.trim_end() == table(&rows)
}

/// All models together.
pub fn total(rows: &[(String, Usage)]) -> Usage {
    let mut sum = Usage::default();
    for (_, usage) in rows {
        sum.add(*usage);
    }
    sum
}

fn row(line: &str) -> Option<(String, Usage)> {
    let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = line.split('|').map(str::trim);
    let model = cells.next()?.to_owned();
    let mut only_output = false;
    let mut count = || match cells.next()? {
        UNKNOWN => {
            only_output = true;
            Some(0)
        }
        cell => cell.replace([',', ' '], "").parse::<u64>().ok(),
    };
    let (input, output, cache_write, cache_read) = (count()?, count()?, count()?, count()?);
    let cache_write_1h = count().unwrap_or(0).min(cache_write);
    let web_searches = count().unwrap_or(0);
    let usage = Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches, only_output };
    Some((model, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let rows = vec![
            (
                "claude-opus-4-5".to_owned(),
                Usage { input: 1200, output: 34_000, cache_write: 5, cache_read: 1_000_000, ..Usage::default() },
            ),
            (
                "claude-haiku-4-5".to_owned(),
                Usage { input: 1, output: 2, cache_write: 3, cache_read: 4, ..Usage::default() },
            ),
        ];
        insta::assert_snapshot!(table(&rows), @r"
        | Model | Input | Output | Cache write | Cache read |
        | --- | ---: | ---: | ---: | ---: |
        | claude-opus-4-5 | 1,200 | 34,000 | 5 | 1,000,000 |
        | claude-haiku-4-5 | 1 | 2 | 3 | 4 |
        ");
        assert_eq!(read(&table(&rows)), rows);
        assert_eq!(title(&rows), "35,211 tokens");
        let mut hour = rows.clone();
        hour[0].1.cache_write_1h = 4;
        assert!(table(&hour).ends_with(
            "| Cache read | Of it for 1 h |\n| --- | ---: | ---: | ---: | ---: | ---: |\n\
             | claude-opus-4-5 | 1,200 | 34,000 | 5 | 1,000,000 | 4 |\n| claude-haiku-4-5 | 1 | 2 | 3 | 4 | 0 |"
        ));
        assert_eq!(read(&table(&hour)), hour);
        let mut searches = rows.clone();
        searches[1].1.web_searches = 12;
        assert!(table(&searches).ends_with("| claude-haiku-4-5 | 1 | 2 | 3 | 4 | 0 | 12 |"));
        assert_eq!(read(&table(&searches)), searches);
        assert_eq!(plain_model("fast/us/claude-opus-5"), "claude-opus-5");
        assert_eq!(plain_model("us/fast"), "fast");
        let rows = vec![("gpt".to_owned(), Usage { output: 1_500, only_output: true, ..Usage::default() })];
        assert!(table(&rows).ends_with("| gpt | unknown | 1,500 | unknown | unknown |"));
        assert_eq!((read(&table(&rows)), title(&rows).as_str()), (rows.clone(), "1,500 output tokens"));
        assert_eq!(total(&rows).known(), None);
    }
}
