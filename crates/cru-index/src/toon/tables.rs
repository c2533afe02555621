//! Some tables of a record, without the work for the others.
//!
//! Most questions are about one table, and the steps' is by far the longest. A record is text of known form: `session:`,
//! then a head line of each table in order, each followed by indented rows, one a line. So what nobody asked for is cut
//! out before decoding. Nothing is understood here that strict decoding would not understand alike: where a line is not
//! what it should be, all of the record is decoded, and refused where it has to be.

use super::decode;
use crate::record::{Record, Table};
use cru_base::Result;

/// The record that `encode` was given, with the rows of `tables` alone.
pub fn decode_tables(text: &str, tables: &[Table]) -> Result<Record> {
    match cut(text, tables).and_then(|part| decode(&part).ok()) {
        Some(record) => Ok(record),
        None => decode(text).map(|record: Record| record.only(tables)),
    }
}

/// The text of a record with no rows but those of `tables`; `None` where it is not as `encode` writes it.
fn cut(text: &str, tables: &[Table]) -> Option<String> {
    let mut lines = text.split_inclusive('\n').peekable();
    if lines.next()? != "session:\n" {
        return None;
    }
    let (mut at, mut from, mut out) = ("session:\n".len(), 0, String::new());
    at += rows(&mut lines).0;
    for table in Table::ALL {
        let head = lines.next()?;
        let count = count(head, table)?;
        let (bytes, found) = rows(&mut lines);
        if found != count {
            return None;
        }
        let end = at + head.len() + bytes;
        if count > 0 && !tables.contains(&table) {
            out.push_str(text.get(from..at)?);
            out.push_str(table.name());
            out.push_str(": []\n");
            from = end;
        }
        at = end;
    }
    out.push_str(text.get(from..)?);
    // A record ends without a line end.
    let whole = out.trim_end_matches('\n').len();
    out.truncate(whole);
    lines.next().is_none().then_some(out)
}

/// Bytes and number of the indented lines that come next.
fn rows<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> (usize, usize) {
    let (mut bytes, mut count) = (0, 0);
    while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
        bytes += line.len();
        count += 1;
    }
    (bytes, count)
}

/// How many rows a table's head line tells of: `steps[3]{id,phase}:`, `steps: []`.
fn count(head: &str, table: Table) -> Option<usize> {
    let rest = head.trim_end_matches('\n').strip_prefix(table.name())?;
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

    #[test]
    fn what_nobody_asked_for_is_cut_out() {
        let text = encode(&record()).unwrap();
        assert_eq!(cut(&text, &Table::ALL).as_deref(), Some(text.as_str()));
        for table in Table::ALL {
            let part = cut(&text, &[table]).unwrap();
            assert_eq!(part, encode(&record().only(&[table])).unwrap(), "{}", table.name());
            assert!(part.len() < text.len());
        }
        assert_eq!(cut(&encode(&Record::default()).unwrap(), &[]), Some(encode(&Record::default()).unwrap()));
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
            assert_eq!(decode_tables(&wrong, &[]).is_ok(), decode::<Record>(&wrong).is_ok(), "{wrong}");
        }
    }
}
