//! `cru rows`: streams of rows for an engine that spreads work over many machines, and `cru export`.

pub(super) mod export;

use std::io::{self, Read, Write};

use super::output::Pipe;
use super::{Output, View};
use crate::base::Result;
use cru_rows::arrow;
use cru_rows::table::RowTable;

/// A verb that reads an Arrow IPC stream from stdin and writes one to stdout.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub enum RowsCommand {
    /// Tell of each object which keys it shares with others: in `{uri, bytes}`
    ///
    /// Out: `uri, size, hash, prefix_hash, status, host, session, parent, keys, first_time, last_time, reason`. A large
    /// object may come in several rows that follow one another.
    Scan,
    /// Join objects that share a key: in `{uri, keys}`, out `{uri, family}`
    Families,
    /// Make the rows of all tables of whole families: in `{family, uri, bytes}`
    ///
    /// The rows of a family follow one another. Out: `{table, rows, ipc}`, where `ipc` is a stream of rows of that table; with
    /// --table its rows alone. What cannot be read is a row of the table `accounting`.
    Fold {
        /// The rows of this table alone
        #[arg(long, value_name = "TABLE", value_parser = table)]
        table: Option<RowTable>,
    },
    /// Make workflows of clusters of sessions: in `{cluster, session_uid, note}`
    ///
    /// The rows of a cluster follow one another. Out: `cluster, sessions, left_out, title, steps, workflow, diagnostics`. Of a
    /// cluster of more than 200 sessions the first 200 count.
    Codify,
    /// Make the table of cases anew: in `{family, session_uid, host, note}`
    Learn,
}

fn table(name: &str) -> std::result::Result<RowTable, String> {
    let names = || RowTable::ALL.map(RowTable::name).join(", ");
    RowTable::parse(name).ok_or_else(|| format!("the tables are {}", names()))
}

impl RowsCommand {
    pub(super) fn run(self) -> Box<dyn Output> {
        Box::new(RowStream(self))
    }
}

/// What reads and writes when it is printed.
#[derive(Debug)]
struct RowStream(RowsCommand);

impl RowStream {
    fn copy(&self, input: &mut dyn Read, output: &mut dyn Write) -> Result<()> {
        let input = io::BufReader::with_capacity(1 << 20, input);
        match self.0 {
            RowsCommand::Scan => arrow::scan(input, output),
            RowsCommand::Families => arrow::families(input, output),
            RowsCommand::Fold { table } => arrow::fold(input, output, table),
            RowsCommand::Codify => arrow::codify(input, output),
            RowsCommand::Learn => arrow::learn(input, output),
        }
    }
}

impl Output for RowStream {
    fn text(&self, _: &View) -> String {
        String::new()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::Value::Null)
    }

    fn pipe(&self) -> Option<Pipe<'_>> {
        Some(Box::new(|input, output| self.copy(input, output)))
    }
}
