//! The filters of templates. What they make is counted before it is made.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::value::{Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State, filters};

/// Their names.
pub(crate) const FILTERS: &[&str] = &[
    "capitalize",
    "default",
    "d",
    "first",
    "indent",
    "join",
    "last",
    "length",
    "count",
    "lower",
    "replace",
    "title",
    "trim",
    "upper",
    "yaml",
];

/// The names of tests, those of the engine.
pub(crate) const TESTS: &[&str] =
    &["defined", "undefined", "none", "true", "false", "string", "number", "sequence", "mapping", "odd", "even"];

/// Makes a text of another.
pub(crate) type TextFilter = fn(&str) -> String;

/// Bytes that filters may still make.
#[derive(Debug, Default)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    pub(crate) const fn of(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    fn spend(&self, bytes: usize) -> Result<(), Error> {
        let less = |left: u64| left.checked_sub(bytes as u64);
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        spent.map(drop).map_err(|_| {
            Error::new(ErrorKind::InvalidOperation, "its filters make more text than those of a template may")
        })
    }
}

/// Adds them; all that they make is taken from one budget.
pub(crate) fn add(environment: &mut Environment<'_>, yaml: Option<TextFilter>, budget: &Arc<Budget>) {
    // The length of a text at most triples with its case.
    let texts: &[(&str, TextFilter)] = &[
        ("upper", |text| text.to_uppercase()),
        ("lower", |text| text.to_lowercase()),
        ("capitalize", |text| {
            let mut chars = text.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase()
            })
        }),
        ("title", |text| {
            let mut starts = true;
            let mut out = String::with_capacity(text.len());
            for c in text.chars() {
                if starts {
                    out.extend(c.to_uppercase());
                } else {
                    out.extend(c.to_lowercase());
                }
                starts = c.is_whitespace() || matches!(c, '-' | '(' | '{' | '[' | '<');
            }
            out
        }),
        ("trim", |text| text.trim().to_owned()),
    ];
    for (name, filter) in texts {
        let (budget, filter) = (Arc::clone(budget), *filter);
        environment.add_filter(*name, move |text: &str| {
            budget.spend(3 * text.len())?;
            Ok::<_, Error>(filter(text))
        });
    }
    let own = Arc::clone(budget);
    if let Some(yaml) = yaml {
        environment.add_filter("yaml", move |text: &str| {
            own.spend(6 * text.len() + 2)?;
            Ok::<_, Error>(yaml(text))
        });
    }
    let own = Arc::clone(budget);
    environment.add_filter("replace", move |text: &str, from: &str, to: &str| {
        let found = text.matches(from).count();
        own.spend(text.len().saturating_add(found.saturating_mul(to.len())))?;
        Ok::<_, Error>(text.replace(from, to))
    });
    let own = Arc::clone(budget);
    environment.add_filter("indent", move |text: &str, width: usize| {
        // The widest indent.
        let width = width.min(64);
        own.spend(text.len() + text.matches('\n').count() * width)?;
        Ok::<_, Error>(text.replace('\n', &format!("\n{}", " ".repeat(width))))
    });
    let own = Arc::clone(budget);
    environment.add_filter("join", move |values: &Value, between: Option<&str>| {
        let between = between.unwrap_or_default();
        let mut out = String::new();
        for (at, value) in values.try_iter()?.enumerate() {
            let before = out.len();
            if at > 0 {
                out.push_str(between);
            }
            let _ = write!(out, "{value}");
            own.spend(out.len() - before)?;
        }
        Ok::<_, Error>(out)
    });
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    for name in ["length", "count"] {
        environment.add_filter(name, |value: &Value| filters::length(value));
    }
}

fn default(state: &State<'_, '_>, value: &Value, arguments: Rest<Value>) -> Result<Value, Error> {
    filters::default(state, value, arguments)
}
