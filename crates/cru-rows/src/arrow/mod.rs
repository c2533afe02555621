//! Arrow: schemas, rows to batches, streams in and out.

mod batch;
mod input;
mod run;
mod schema;

pub use batch::{batch, own_batch};
pub use input::{InputColumns, InputRow};
pub use run::{codify, families, fold, learn, scan};
pub use schema::{ENVELOPE, SCAN, schema, table_schema};

use arrow_schema::ArrowError;
use cru_base::Error;

/// An error of a stream: what is wrong with it, or the reader or writer at its other end.
fn failed(action: &'static str) -> impl Fn(ArrowError) -> Error {
    move |error| match error {
        ArrowError::IoError(_, source) => Error::io(action, "the stream", source),
        other => Error::usage(format!("could not {action} the stream: {other}")),
    }
}

#[cfg(test)]
mod tests;
