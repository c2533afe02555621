//! Streams in, streams out.

use std::sync::Arc;

use arrow_array::{BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use crate::table::RowTable;

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn objects(rows: &[(i64, &str, &str)]) -> RecordBatch {
    RecordBatch::try_from_iter([
        ("family", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))) as _),
        ("uri", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.1))) as _),
        ("bytes", Arc::new(BinaryArray::from_iter_values(rows.iter().map(|row| row.2))) as _),
    ])
    .unwrap()
}

fn read(bytes: &[u8]) -> Vec<RecordBatch> {
    StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect()
}

const LINES: &str = "{\"type\":\"user\",\"sessionId\":\"s1\",\"uuid\":\"u1\",\"timestamp\":\"2026-11-20T10:00:00Z\",\
\"cwd\":\"/home/me/api\",\"message\":{\"role\":\"user\",\"content\":\"Run the tests\"}}\n\
{\"type\":\"assistant\",\"sessionId\":\"s1\",\"uuid\":\"u2\",\"timestamp\":\"2026-11-20T10:00:05Z\",\
\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[{\"type\":\"text\",\"text\":\"All pass.\"}]}}\n";

#[test]
fn tables_come_in_envelopes_or_alone() {
    let (head, tail) = LINES.split_at(100);
    let input =
        stream(&[objects(&[(5, "a/s1.jsonl", head)]), objects(&[(5, "a/s1.jsonl", tail), (6, "a/x.txt", "?")])]);
    let mut output = Vec::new();
    super::fold(input.as_slice(), &mut output, None).unwrap();
    let mut tables = Vec::new();
    for batch in read(&output) {
        let names = batch.column(0).as_any().downcast_ref::<StringArray>().unwrap();
        let packed = batch.column(2).as_any().downcast_ref::<BinaryArray>().unwrap();
        for at in 0..batch.num_rows() {
            let rows: usize = read(packed.value(at)).iter().map(RecordBatch::num_rows).sum();
            tables.push((names.value(at).to_owned(), rows));
        }
    }
    assert!(
        tables.contains(&("sessions".to_owned(), 1)) && tables.contains(&("accounting".to_owned(), 2)),
        "{tables:?}"
    );
    for table in RowTable::ALL {
        let mut output = Vec::new();
        super::fold(input.as_slice(), &mut output, Some(table)).unwrap();
        let rows: usize = read(&output).iter().map(RecordBatch::num_rows).sum();
        let wanted = tables.iter().filter(|(name, _)| name == table.as_str()).map(|(_, rows)| *rows).sum::<usize>();
        assert_eq!(rows, wanted, "{}", table.as_str());
        assert_eq!(*StreamReader::try_new(output.as_slice(), None).unwrap().schema(), super::table_schema(table));
    }
}

#[test]
fn scan_and_families_belong_together() {
    let input = stream(&[objects(&[(0, "a/s1.jsonl", LINES), (0, "b/copy.jsonl", LINES), (0, "c", "")])]);
    let mut scanned = Vec::new();
    super::scan(input.as_slice(), &mut scanned).unwrap();
    assert_eq!(read(&scanned)[0].num_rows(), 3);
    let mut joined = Vec::new();
    super::families(scanned.as_slice(), &mut joined).unwrap();
    let batch = &read(&joined)[0];
    let families = batch.column(1).as_any().downcast_ref::<Int64Array>().unwrap();
    assert!(families.value(0) == families.value(1) && families.value(1) != families.value(2));
}

#[test]
fn streams_that_are_wrong_are_errors() {
    let error = |input: &[u8]| super::fold(input, Vec::new(), None).unwrap_err().to_string();
    let torn = stream(&[objects(&[(1, "a", ""), (2, "b", ""), (1, "c", "")])]);
    assert!(error(&torn).contains("family 1 do not follow one another"));
    let other = RecordBatch::try_from_iter([("uri", Arc::new(Int64Array::from(vec![1])) as _)]).unwrap();
    assert!(error(&stream(&[other])).contains("no column `family`"));
    assert!(error(b"no stream").contains("stream"));
    assert!(error(b"").contains("stream"));
}
