//! Columns of a batch that came in, found by their names.

use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, LargeBinaryArray, LargeStringArray, ListArray, RecordBatch, StringArray,
};

use cru_base::{Error, Result};

/// The columns of a batch that a verb asks for.
#[derive(Debug)]
pub struct InputColumns {
    columns: Vec<(&'static str, ArrayRef)>,
    rows: usize,
}

/// One row of them.
#[derive(Clone, Copy, Debug)]
pub struct InputRow<'a> {
    columns: &'a InputColumns,
    row: usize,
}

impl InputColumns {
    /// Finds them. Usage error: a column that is not there, or that is of another type than each verb can read.
    pub fn of(batch: &RecordBatch, names: &[&'static str]) -> Result<Self> {
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let column = batch.column_by_name(name).ok_or_else(|| {
                Error::usage(format!("the stream has no column `{name}`"))
                    .with_hint(format!("it needs {}", names.join(", ")))
            })?;
            let any = column.as_any();
            let is_known = any.is::<StringArray>()
                || any.is::<LargeStringArray>()
                || any.is::<BinaryArray>()
                || any.is::<LargeBinaryArray>()
                || any.is::<Int64Array>()
                || any.is::<ListArray>();
            if !is_known {
                return Err(Error::usage(format!("column `{name}` is of type {}", column.data_type()))
                    .with_hint("columns are utf8, binary, int64 or lists of utf8"));
            }
            columns.push((*name, column.clone()));
        }
        Ok(Self { columns, rows: batch.num_rows() })
    }

    /// The rows in their order.
    pub fn rows(&self) -> impl Iterator<Item = InputRow<'_>> {
        (0..self.rows).map(|row| InputRow { columns: self, row })
    }

    fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }
}

impl<'a> InputRow<'a> {
    fn there(self, name: &str) -> Option<&'a ArrayRef> {
        self.columns.column(name).filter(|column| self.row < column.len() && column.is_valid(self.row))
    }

    /// A text; `None` for null and for another type.
    pub fn text(self, name: &str) -> Option<&'a str> {
        let any = self.there(name)?.as_any();
        let short = any.downcast_ref::<StringArray>().map(|array| array.value(self.row));
        short.or_else(|| any.downcast_ref::<LargeStringArray>().map(|array| array.value(self.row)))
    }

    /// Bytes; also those of a text.
    pub fn bytes(self, name: &str) -> Option<&'a [u8]> {
        let any = self.there(name)?.as_any();
        let short = any.downcast_ref::<BinaryArray>().map(|array| array.value(self.row));
        let long = || any.downcast_ref::<LargeBinaryArray>().map(|array| array.value(self.row));
        short.or_else(long).or_else(|| self.text(name).map(str::as_bytes))
    }

    /// A number.
    pub fn int(self, name: &str) -> Option<i64> {
        self.there(name)?.as_any().downcast_ref::<Int64Array>().map(|array| array.value(self.row))
    }

    /// The texts of a list.
    pub fn texts(self, name: &str) -> Vec<String> {
        let list = self.there(name).and_then(|it| it.as_any().downcast_ref::<ListArray>());
        let Some(values) = list.map(|list| list.value(self.row)) else { return Vec::new() };
        let Some(texts) = values.as_any().downcast_ref::<StringArray>() else { return Vec::new() };
        texts.iter().flatten().map(str::to_owned).collect()
    }
}
