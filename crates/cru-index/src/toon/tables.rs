//! Some tables of a record, without the work for the others.
//!
//! Most questions are about one table, and the steps' is by far the longest; the session's own row stands in the file of rows as
//! well. A record is text of known form: `session:`, then a head line of each table in order, each followed by indented rows,
//! one a line. So what nobody asked for is cut out before decoding. Nothing is understood of tables here that strict decoding would
//! not understand alike: where a line of them is not what it should be, all of the record is decoded, and refused where it has to be.

use super::decode;
use crate::record::{Record, SessionRow, Table};
use cru_base::Result;

/// The record that `encode` was given, with the rows of `tables` alone. `session` is its session's row.
pub fn decode_tables(text: &str, session: &SessionRow, tables: &[Table]) -> Result<Record> {
    let some = cut(text, tables).and_then(|part| decode::<Record>(&part).ok());
    let record = some.map_or_else(|| decode(text).map(|record: Record| record.only(tables)), Ok)?;
    Ok(Record { session: session.clone(), ..record })
}

/// The text of a record's tables, with no rows but those of `tables`; `None` where it is not as `encode` writes it.
fn cut(text: &str, tables: &[Table]) -> Option<String> {
    let text = text.strip_prefix("session:\n")?;
    let mut rest = &text[rows(text).0..];
    let mut out = String::new();
    for table in Table::ALL {
        // A record ends without a line end.
        let (head, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let count = count(head, table)?;
        let (bytes, found) = rows(behind);
        if found != count {
            return None;
        }
        let (own, behind) = behind.split_at(bytes);
        let is_wanted = count == 0 || tables.contains(&table);
        let parts = if is_wanted { [head, "\n", own] } else { [table.name(), ": []\n", ""] };
        out.extend(parts);
        rest = behind;
    }
    out.truncate(out.trim_end_matches('\n').len());
    rest.is_empty().then_some(out)
}

/// Bytes and number of the indented lines that `text` begins with.
fn rows(text: &str) -> (usize, usize) {
    let (mut bytes, mut count) = (0, 0);
    while text[bytes..].starts_with("  ") {
        let end = memchr::memchr(b'\n', &text.as_bytes()[bytes..]);
        bytes = end.map_or(text.len(), |end| bytes + end + 1);
        count += 1;
    }
    (bytes, count)
}

/// How many rows a table's head line tells of: `steps[3]{id,phase}:`, `steps: []`.
fn count(head: &str, table: Table) -> Option<usize> {
    let rest = head.strip_prefix(table.name())?;
    if rest == ": []" {
        return Some(0);
    }
    let (count, columns) = rest.strip_prefix('[')?.split_once(']')?;
    let is_head = columns.starts_with('{') && columns.ends_with("}:");
    count.parse().ok().filter(|_| is_head)
}

#[cfg(test)]
mod tests {
    use super::super::encode;
    use super::*;
    use crate::record::{PhaseRow, StepRow, TaskRow};

    /// Of every text that may look like a line of a record.
    fn record() -> Record {
        let texts = [
            "",
            "a\nb",
            "steps[2]{id}:",
            "tasks[0]:",
            "  - x",
            "\"q\\\"",
            "a,b: c",
            "é 日本",
            "\n\n",
            "# no",
            "\u{85}",
        ];
        let mut record = Record::default();
        for text in texts.map(str::to_owned) {
            record.session.title.push_str(&text);
            record.phases.push(PhaseRow { id: text.clone(), ..PhaseRow::default() });
            record.steps.push(StepRow { args: text.clone(), result: Some(text.clone()), ..StepRow::default() });
            record.tasks.push(TaskRow { content: text, ..TaskRow::default() });
        }
        record
    }

    /// What `encode` writes behind the row of the session.
    fn tables(record: &Record) -> String {
        let text = encode(record).unwrap();
        text[text.find("\nphases").unwrap() + 1..].to_owned()
    }

    #[test]
    fn what_nobody_asked_for_is_cut_out() {
        let record = record();
        let text = encode(&record).unwrap();
        assert_eq!(cut(&text, &Table::ALL), Some(tables(&record)));
        for table in Table::ALL {
            let only = record.clone().only(&[table]);
            assert_eq!(cut(&text, &[table]).unwrap(), tables(&only), "{}", table.name());
            assert_eq!(decode_tables(&text, &record.session, &[table]).unwrap(), only, "{}", table.name());
        }
        let none = Record::default();
        assert_eq!(cut(&encode(&none).unwrap(), &[]), Some(tables(&none)));
    }

    #[test]
    fn what_is_not_as_it_was_written_is_not_cut() {
        let text = encode(&record()).unwrap();
        let wrong = [
            text.replace("tasks[11]", "tasks[12]"),
            text.replace("\ntasks[", "\n\ntasks["),
            text.replace("\nerrors: []", ""),
            text.replace("\nerrors: []", "\nerrors:"),
            text.replace("\nerrors: []", "\nerrors: [] x"),
            text.replace("\nerrors: []", "\nmistakes: []"),
            text.replace("\nerrors: []", "\nuser: []"),
            format!("{text}\nmore: 1"),
            format!("a: 1\n{text}"),
            text[..text.len() / 2].to_owned(),
        ];
        for wrong in wrong {
            assert_ne!(wrong, text);
            assert_eq!(cut(&wrong, &[Table::Steps]), None, "{wrong}");
            // And what cannot be decoded whole cannot be in part.
            assert_eq!(
                decode_tables(&wrong, &SessionRow::default(), &[]).is_ok(),
                decode::<Record>(&wrong).is_ok(),
                "{wrong}"
            );
        }
    }
}
