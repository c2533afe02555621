//! The tools: the command lines that each asks, and how their values are laid out.

mod before;
mod brief;
mod decisions;
mod log;
mod query;
mod read;
mod search;
mod status;
mod trace;

use serde_json::Value;

pub(super) use decisions::decided;
pub(super) use read::read_one;

use super::answer::Answer;
use super::argument::Arguments;
use crate::base::{Env, Error, Result};
use crate::commands::ask::Caller;

/// Does a call.
pub(super) fn call(name: &str, arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    match name {
        "search" => search::call(arguments, caller),
        "read" => read::call(arguments, caller),
        "before" => before::call(arguments, caller),
        "decisions" => decisions::call(arguments, caller),
        "query" => query::call(arguments, caller),
        "status" => status::call(caller),
        "context" => trace::context(arguments, caller),
        "why" => trace::why(arguments, caller),
        "stale" => trace::stale(arguments, caller),
        "bookmark" => trace::bookmark(arguments, caller),
        "log" => log::call(arguments, caller),
        "brief" => brief::call(arguments, caller),
        _ => Err(Error::usage("there is no such tool")),
    }
}

/// The part of a project's path that is asked for: of the folder that the server works in, where none is named; `None`
/// for all projects.
fn project(named: Option<&str>, env: &Env) -> Option<String> {
    match named {
        Some("*") => None,
        Some(named) => Some(named.to_owned()),
        None => here(env),
    }
}

/// The project of the working folder as notes have it: the nearest folder with a repository, else the folder itself;
/// none in the home folder and at the root.
fn here(env: &Env) -> Option<String> {
    let below = || env.cwd().ancestors().take_while(|folder| Some(*folder) != env.home() && folder.parent().is_some());
    let root = below().find(|folder| folder.join(".git").exists()).or_else(|| below().next())?;
    Some(env.at(root).folder())
}

/// A list of an answer for programs.
fn list(value: &Value, name: &str) -> Vec<Value> {
    value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// A text of a value.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The time of a value to the minute.
fn minute(value: &Value, name: &str) -> Option<String> {
    let time: jiff::Timestamp = text(value, name)?.parse().ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%MZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_project_is_meant() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let deep = home.join("code/api/src");
        std::fs::create_dir_all(&deep).unwrap();
        let env =
            |cwd: &std::path::Path| Env::fixed(jiff::Timestamp::UNIX_EPOCH, cwd, &[("HOME", home.to_str().unwrap())]);
        assert_eq!(project(None, &env(&deep)).as_deref(), Some("~/code/api/src"));
        std::fs::create_dir_all(home.join("code/api/.git")).unwrap();
        assert_eq!(project(None, &env(&deep)).as_deref(), Some("~/code/api"));
        assert_eq!(project(None, &env(home)), None);
        assert_eq!(project(Some("*"), &env(&deep)), None);
        assert_eq!(project(Some("x"), &env(&deep)).as_deref(), Some("x"));
    }
}
