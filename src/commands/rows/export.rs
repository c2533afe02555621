//! `cru export parquet`.

use std::path::PathBuf;

use crate::base::text::{plural, sanitise, thousands};
use crate::base::{Error, Result};
use crate::commands::session::filter::time;
use crate::commands::{Context, Output, View, reading};
use crate::import::{IMPORTERS, places};
use cru_rows::parquet::{Exported, export};

/// In which form.
#[derive(Debug, clap::Subcommand)]
pub enum ExportCommand {
    Parquet(ParquetArgs),
}

/// Write sessions as Parquet files
///
/// `DuckDB`, Polars and Spark read them. Reads transcripts and no vault: `DIR/v1/<table>/day=…/bucket=…/`, thirteen tables with the schemas of `cru rows fold`.
/// Secrets are masked. An object that cannot be read is a row of the table `accounting`.
#[derive(Debug, clap::Args)]
pub struct ParquetArgs {
    /// The folder to write into; it has no tables yet
    folder: PathBuf,
    /// Transcripts, or folders of them; else those of every agent on this machine
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only families of sessions that went on at or after: `2026-11-01`, `2026-11-01T09:00Z`, `7d`, `12h`, `today`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
}

impl ExportCommand {
    pub(in crate::commands) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        let Self::Parquet(args) = self;
        let since = args.since.as_deref().map(|text| time("--since", text, false, &reading::now(cx))).transpose()?;
        let paths = if args.paths.is_empty() {
            let all = IMPORTERS.iter().flat_map(|importer| places::of(importer, cx.env));
            all.filter(|path| path.exists()).collect()
        } else {
            args.paths.iter().map(|path| cx.absolute(path)).collect::<Vec<PathBuf>>()
        };
        if paths.is_empty() {
            return Err(
                Error::no("no transcripts of any agent on this machine").with_hint("name files or folders behind DIR")
            );
        }
        Ok(Box::new(ExportReport(export(&paths, &cx.absolute(&args.folder), since)?)))
    }
}

#[derive(Debug)]
struct ExportReport(Exported);

impl Output for ExportReport {
    fn text(&self, _: &View) -> String {
        let it = &self.0;
        let mut text = format!(
            "{} in {}, {} written\n",
            plural(it.objects as u64, "object"),
            if it.families == 1 {
                "1 family".to_owned()
            } else {
                format!("{} families", thousands(it.families as u64))
            },
            plural(it.files as u64, "file")
        );
        for (table, rows) in &it.rows {
            text.push_str(&format!("{:>12}  {table}\n", thousands(*rows as u64)));
        }
        for (uri, reason) in &it.failed {
            text.push_str(&format!("not read: {}  {}\n", sanitise(uri), sanitise(reason)));
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let it = &self.0;
        let rows: serde_json::Map<String, serde_json::Value> =
            it.rows.iter().map(|(table, rows)| ((*table).to_owned(), (*rows).into())).collect();
        let failed: Vec<serde_json::Value> =
            it.failed.iter().map(|(uri, reason)| serde_json::json!({ "uri": uri, "reason": reason })).collect();
        Ok(serde_json::json!({
            "schema": 1, "objects": it.objects, "families": it.families, "files": it.files, "rows": rows, "failed": failed,
        }))
    }
}
