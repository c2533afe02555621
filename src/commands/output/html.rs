//! Pages made of templates: whatever a template prints is escaped, unless it says `|safe` of markup that is made here.

use std::path::Path;

use jiff::tz::TimeZone;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, State, UndefinedBehavior};
use serde::Serialize;
use serde_json::json;

use super::{amount, duration, escape, minute, usd};
use crate::base::text::note_name;
use crate::base::{Error, Result};

/// What all pages begin with: a strict policy for content, so that nothing is fetched, and the colours of both schemes.
const HEAD: (&str, &str) = ("head.html", include_str!("../../../templates/html/head.html"));
pub(in crate::commands) const BASE: &str = include_str!("../../../templates/html/base.css");

/// Where a page stands among the pages of `cru view`.
#[derive(Clone, Serialize)]
pub(in crate::commands) struct PageFrame<'a> {
    /// The way to the first page: `../` for each folder that the page lies in.
    pub(in crate::commands) root: String,
    /// The page of the navigation that it is, or belongs to.
    pub(in crate::commands) here: String,
    /// What the vault is called.
    pub(in crate::commands) vault: String,
    /// What opens the note of the page in the person's own program; empty where it has none.
    pub(in crate::commands) open: String,
    /// Whether a server answers: what files alone cannot do is offered.
    pub(in crate::commands) live: bool,
    /// What of the page is asked for: the part that is so called, or that has the block of that id.
    pub(in crate::commands) at: String,
    /// Whether the page has but some of its parts, and a server the others.
    pub(in crate::commands) in_parts: bool,
    /// The page and the place, from this one, that the target of a link in its note means; `None` where there is none that is shown.
    #[serde(skip)]
    pub(in crate::commands) page: &'a dyn Fn(&str) -> Option<String>,
    /// The same of the path of a file, as the note has it.
    #[serde(skip)]
    pub(in crate::commands) file: &'a dyn Fn(&str) -> Option<String>,
}

impl PageFrame<'_> {
    /// What asks for the part of this page that has a block, in front of the `#` of a link to it.
    pub(in crate::commands) fn to_part(&self, id: &str) -> String {
        if self.in_parts { asks_for(id) } else { String::new() }
    }
}

fn asks_for(id: &str) -> String {
    format!("?at={}", link_to(id))
}

/// Where a block of a note is shown, from the first page; of a long page a server is asked for the part that has it.
pub(in crate::commands) fn place(path: &str, id: Option<&str>, live: bool) -> String {
    let page = link_to(&note_page(path));
    let place = id.map(|id| format!("{}#{}", if live { asks_for(id) } else { String::new() }, link_to(id)));
    page + &place.unwrap_or_default()
}

/// Where the page of a note is, from the first page: `note/sessions/a.html`.
pub(in crate::commands) fn note_page(path: &str) -> String {
    format!("note/{}.html", path.strip_suffix(".md").unwrap_or(path))
}

/// Where the page of a project or a file is, from the first page. A name may hold anything: its letters are there to be
/// read, and its hash tells it from others.
pub(in crate::commands) fn named_page(folder: &str, name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().rev().take(48).collect::<Vec<_>>().into_iter().rev() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let hash = &blake3::hash(name.as_bytes()).to_hex()[..8];
    format!("{folder}/{}-{hash}.html", slug.trim_end_matches('-'))
}

/// A path as a link has it: letters, digits and `-._~/` as they are, every other byte as percent sign and digits.
pub(in crate::commands) fn link_to(path: &str) -> String {
    let mut link = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            link.push(char::from(byte));
        } else {
            link.push_str(&format!("%{byte:02X}"));
        }
    }
    link
}

/// What the pages of `cru view` say of themselves.
pub(in crate::commands) const VIEW: &str = "cru view";

/// What opens a file in Obsidian.
pub(in crate::commands) fn obsidian_link(file: &Path) -> String {
    format!("obsidian://open?path={}", link_to(&file.to_string_lossy()).replace('/', "%2F"))
}

/// A time as programs get it, to the minute in a zone.
fn minute_of(time: &str, zone: &TimeZone) -> String {
    time.parse().map_or_else(|_| time.to_owned(), |time| minute(time, zone))
}

/// A whole number from 0, or the nearest one to what stands there; `None` where that is no number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of numbers that are too large is one too"
)]
fn count(value: &Value) -> Option<u64> {
    u64::try_from(value.clone()).ok().or_else(|| Some(f64::try_from(value.clone()).ok()? as u64))
}

/// Templates of HTML by name.
#[derive(Debug)]
pub(in crate::commands) struct Templates(Environment<'static>);

impl Templates {
    /// Reads templates, each a name and its text; their times are those of `zone`. Error: one is no template.
    pub(in crate::commands) fn new(templates: &[(&'static str, &'static str)], zone: &TimeZone) -> Result<Self> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        environment.set_syntax(syntax.build().map_err(|error| refused("html", &error))?);
        // The escaping of the engine lets control characters pass.
        environment.set_formatter(|out, _, value| {
            let written = match value.as_str() {
                Some(text) if value.is_safe() => out.write_str(text),
                Some(text) => out.write_str(&escape(text)),
                None => out.write_str(&escape(&value.to_string())),
            };
            Ok(written?)
        });
        environment.add_filter("amount", |it: &Value| count(it).map_or_else(|| "–".to_owned(), amount));
        environment
            .add_filter("took", |it: &Value| count(it).map_or_else(|| "–".to_owned(), |ms| duration(ms / 1_000)));
        environment.add_filter("usd", |it: Option<f64>| it.map_or_else(|| "–".to_owned(), usd));
        let zone = zone.clone();
        environment.add_filter("minute", move |it: Option<String>| it.map(|it| minute_of(&it, &zone)));
        environment.add_filter("encoded", |it: String| link_to(&it));
        environment.add_filter("note_page", |path: String| link_to(&note_page(&path)));
        environment.add_filter("stem", |path: String| note_name(&path).to_owned());
        environment
            .add_filter("place", |path: String, id: Option<String>, live: bool| place(&path, id.as_deref(), live));
        environment.add_filter("named_page", |name: String, folder: String| named_page(&folder, &name));
        // Another template, filled in with one value and the frame of the page.
        environment.add_filter("within", |state: &State, it: Value, name: String, frame: Value| {
            let page = state.env().get_template(&name)?;
            page.render(minijinja::context! { it, frame }).map(Value::from_safe_string)
        });
        for (name, text) in templates.iter().chain([&HEAD]) {
            environment.add_template(name, text).map_err(|error| refused(name, &error))?;
        }
        Ok(Self(environment))
    }

    /// The head of a page as markup, to where its contents begin. `style`: the rules of this page alone, which a page with a
    /// frame has in the stylesheet of all; `generator`: the command, where a page that it made may be replaced. Error: the
    /// built-in template cannot be used.
    pub(in crate::commands) fn head(
        &self,
        title: &str,
        style: &str,
        generator: &str,
        frame: Option<&PageFrame<'_>>,
    ) -> Result<String> {
        let generator = frame.map_or(generator, |_| VIEW);
        let values = json!({ "title": title, "base": BASE, "style": style, "generator": generator, "frame": frame });
        self.render(HEAD.0, values)
    }

    /// A template filled in. Error: it names what `values` does not have.
    pub(in crate::commands) fn render(&self, name: &str, values: impl Serialize) -> Result<String> {
        let template = self.0.get_template(name).map_err(|error| refused(name, &error))?;
        template.render(Serde(values)).map_err(|error| refused(name, &error))
    }
}

fn refused(name: &str, error: &minijinja::Error) -> Error {
    Error::internal("use a built-in template", format!("{name}: {error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_escaped_and_what_is_missing_is_an_error() {
        let templates =
            Templates::new(&[("a.html", "{{ it }} {{ it|safe }} {{ 1 }}\n"), ("b.html", "{{ no }}")], &TimeZone::UTC);
        let templates = templates.unwrap();
        let values = std::collections::BTreeMap::from([("it", "<a href='x'>&/\"\u{1b}[31m\u{7}")]);
        let page = templates.render("a.html", &values).unwrap();
        assert_eq!(page, format!("&lt;a href=&#39;x&#39;&gt;&amp;/&quot; {} 1\n", values["it"]));
        assert!(templates.render("b.html", &values).unwrap_err().with_causes().contains("b.html"));
        let head = templates.head("a <b>", "p {}", "", None).unwrap();
        assert!(head.contains("default-src 'none'") && head.contains("<title>a &lt;b&gt;</title>"));
        assert!(head.contains("prefers-color-scheme: dark") && head.contains("p {}") && !head.contains("generator"));
        assert!(Templates::new(&[("c.html", "{% if %}")], &TimeZone::UTC).is_err());
    }

    #[test]
    fn no_number_is_too_large_for_a_page() {
        let text =
            "{{ a|amount }} {{ b|amount }} {{ a|took }} {{ c|amount }} {{ a|usd }} {{ d|amount }} {{ none|amount }}\n";
        let templates = Templates::new(&[("a.html", text)], &TimeZone::UTC).unwrap();
        let values = serde_json::json!({"a": 2.0 * u64::MAX as f64, "b": u64::MAX, "c": -1, "d": "x"});
        let page = templates.render("a.html", &values).unwrap();
        let words: Vec<&str> = page.split(' ').collect();
        assert!(words[0] == words[1] && page.ends_with("– –\n"), "{page}");
    }
}
