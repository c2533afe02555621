//! The dataset card: a `README.md` that tells loaders what is in a folder of rows, so that they infer nothing.
//!
//! The features are read off a row itself, so the card cannot say something else than the rows do.

use std::fmt::Write as _;

use serde_json::Value;

use crate::export::format::Options;
use crate::rows::row::Table;
use crate::rows::template::ChatTemplate;

/// Stands in every card; a folder whose `README.md` lacks it is somebody else's.
pub const MARK: &str = "<!-- Written by `cru session learn`: the next export into this folder replaces it. -->";

/// One configuration: a table with its files.
#[derive(Clone, Debug)]
pub struct Config {
    /// Name of the configuration.
    pub table: Table,
    /// Names of the splits with their files and numbers of rows.
    pub splits: Vec<(&'static str, String, usize)>,
    /// Any of its rows.
    pub sample: Value,
    /// Tokens of its longest row.
    pub longest: usize,
}

/// The card of a folder with these tables.
pub fn card(configs: &[Config], left_out: &[(String, usize)], options: Options<'_>) -> String {
    let mut card = String::from("---\npretty_name: Cases from agent sessions\nconfigs:\n");
    for (index, config) in configs.iter().enumerate() {
        let default = if index == 0 { "  default: true\n" } else { "" };
        let _ = write!(card, "- config_name: {}\n{default}  data_files:\n", config.table.as_str());
        for (split, file, _) in &config.splits {
            let _ = writeln!(card, "  - split: {split}\n    path: {file}");
        }
    }
    card.push_str("dataset_info:\n");
    for config in configs {
        let _ = writeln!(card, "- config_name: {}\n  features:", config.table.as_str());
        features(&mut card, &config.sample);
    }
    card.push_str("---\n\n# Cases from agent sessions\n\n");
    card.push_str(MARK);
    card.push_str("\n\n| configuration | columns | train | validation | longest row | for |\n| --- | --- | ---: | ---: | ---: | --- |\n");
    for config in configs {
        let rows = |name: &str| config.splits.iter().find(|(split, ..)| *split == name).map_or(0, |(_, _, rows)| *rows);
        let columns: Vec<String> =
            config.sample.as_object().into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
        let _ = writeln!(
            card,
            "| `{}` | {} | {} | {} | {} tokens | {} |",
            config.table.as_str(),
            columns.join(", "),
            rows("train"),
            rows("validation"),
            config.longest,
            config.table.about()
        );
    }
    // OpenAI and its like refuse a column that they do not know.
    let aside = configs.iter().any(|config| config.sample.get("metadata").is_none());
    card.push_str(&if aside { ABOUT.replace(FILTER, ASIDE) } else { ABOUT.to_owned() });
    if configs.iter().any(|config| config.table != Table::Trajectory) {
        card.push_str(JUDGED);
    }
    if options.proposed {
        card.push_str(PROPOSED);
    }
    templates(&mut card, options.template);
    if !left_out.is_empty() {
        card.push_str("\n## Left out\n\n");
        for (reason, count) in left_out {
            let _ = writeln!(card, "- {count}: {reason}");
        }
    }
    card
}

/// The figures are those of docs/learning.md.
const JUDGED: &str = "\n## Who judged it\n\nRows with `metadata.evidence: reading` come of readings that somebody accepted, which is not each of their cases; those with\n`metadata.status: accepted` were accepted by themselves. All others are what the record proves alone: a check passed, or a\ncommand that had failed worked; or a reader of cases found them good. Of cases that nobody has judged readers found two in five\ngood, and one in seven wrong in what it teaches: have them judged before you train (`cru read c:`), or leave them out with\n`--accepted-only`.\n";

const PROPOSED: &str = "\n## Proposals\n\nWritten with `--proposed`: it holds cases that nothing but a rule proposes (`metadata.status: proposed`, `metadata.verified:\nfalse`). Nobody has looked at them.\n";

/// What chat templates lose of these rows.
fn templates(card: &mut String, written: ChatTemplate) {
    card.push_str("\n## Chat templates\n\n");
    if written == ChatTemplate::Any {
        card.push_str("Words beside a call stand in one turn with it. These templates lose something of that; `--template NAME` writes such\nwords as a turn of their own:\n\n");
        for (name, loses) in ChatTemplate::LOSING {
            let _ = writeln!(card, "- `{name}`: {loses}");
        }
    } else {
        let _ = writeln!(
            card,
            "Written with `--template {}`: words beside a call are a turn of their own.",
            written.as_str()
        );
    }
}

/// Where the metadata stands: in the rows, or beside them.
const FILTER: &str = "Filter by `metadata`:";
const ASIDE: &str = "Filter by the metadata, which stands in `*.metadata.jsonl` beside the rows, line for line:";

const ABOUT: &str = r#"
```python
from datasets import load_dataset
rows = load_dataset("path/to/this/folder", "completion", split="train")
```

Every answer stands in a session's record: what solved a failure, what the agent did after a person corrected it, a
stretch of work whose check passed. None is made up, and none is cut; a prompt that was too long has lost its middle,
where it says `[… 12 steps left out …]`. An answer may end with a call: what the tool then said is nobody's to learn.
`[email]`, `[secret:…]` and `/home/user` stand for what was taken out.
Tokens are counted with `o200k_base`; train with a `max_length` that holds the longest row, since trainers cut the end,
which is the answer.

Where the transcript of a session still exists, calls are calls with all their arguments (`metadata.tool_fidelity: full`),
else lines of text (`summary`). `tools` is a list of functions as JSON text: what the session called, with the types of
what it passed; a record holds no descriptions. What tools answered inside an answer is masked by
`assistant_only_loss=True`.

Filter by `metadata`:

| key | meaning |
| --- | --- |
| `case_type` | `puzzle` (something failed), `correction` (a person set the agent right), `demonstration` (it succeeded), `preference` (a plan was refused, another accepted) |
| `evidence`, `reading` | who found it: a `rule` or a `reading` by an agent, with its key |
| `grade` | how sure it is: `accepted` by a person, `judged` good by a reader, of cases or of the session in an accepted reading, `proven` by the record alone, `proposed` by a rule |
| `answer_from` | how the answer is known: a `later success` of what had failed, a `resolution` that the note tells, the `response` to a correction, `check passed`, `approved` by the person; empty where there is no answer |
| `verified` | whether the record itself shows that it worked |
| `tool_fidelity` | `full`: calls with all arguments; `summary`: calls as lines of text; `none`: no calls. For an agent that calls tools, train on `full` |
| `rule` | why it counts as a correction: its `words`, a call `denied` or the agent `interrupted` right before, that it is only `titled` so, or a `reading` |
| `complete` | whether nothing between is left out: of long work only a part is told |
| `corrected_again` | whether the person had to correct the answer too |
| `status`, `edited` | whether a person accepted the case, and wrote a part of it anew |
| `session_id`, `root_session_id` | no root session stands in two splits |
| `dup_group` | rows that are nearly the same; they stand in one split |
| `source` | file, lines and block of the note that says it |
| `redactions` | secrets and personal data that were taken out |
| `content_hash` | changes with any text of the case |
"#;

/// The features of a row in the form of the card's front matter. Messages and what they call have no fixed keys: they
/// are JSON to the loader, which then changes nothing in them.
fn features(card: &mut String, row: &Value) {
    for (name, value) in row.as_object().into_iter().flatten() {
        let kind = match value {
            Value::Array(_) => "list: json",
            Value::Bool(_) => "dtype: bool",
            Value::Object(_) => "dtype: json",
            _ => "dtype: string",
        };
        let _ = writeln!(card, "  - name: {name}\n    {kind}");
    }
}

/// What LLaMA-Factory reads beside the files, for the dialect that it shares with Axolotl.
pub(crate) fn llama_factory(configs: &[Config]) -> String {
    let tags = serde_json::json!({
        "role_tag": "role",
        "content_tag": "content",
        "user_tag": "user",
        "assistant_tag": "assistant",
        "observation_tag": "tool",
        "function_tag": "function_call",
        "system_tag": "system",
    });
    let mut info = serde_json::Map::new();
    for config in configs {
        for (split, file, _) in &config.splits {
            let mut columns = serde_json::json!({ "messages": "messages", "tools": "tools" });
            let ranking = config.table == Table::Preference;
            match config.table {
                Table::Preference => {
                    columns["chosen"] = "chosen".into();
                    columns["rejected"] = "rejected".into();
                }
                Table::Kto => columns["kto_tag"] = "label".into(),
                Table::Sft | Table::Completion | Table::Trajectory => {}
            }
            let mut entry =
                serde_json::json!({ "file_name": file, "formatting": "openai", "columns": columns, "tags": tags });
            if ranking {
                entry["ranking"] = true.into();
            }
            info.insert(format!("{}_{split}", config.table.as_str()), entry);
        }
    }
    serde_json::to_string_pretty(&info).unwrap_or_default() + "\n"
}
