//! Pages made of templates: whatever a template prints is escaped, unless it says `|safe` of markup that is made here.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::escape;
use crate::base::{Error, Result};

/// What all pages begin with: a strict policy for content, so that nothing is fetched, and the colours of both schemes.
const HEAD: (&str, &str) = ("head.html", include_str!("../../../templates/html/head.html"));
const BASE: &str = include_str!("../../../templates/html/base.css");

/// Templates of HTML by name.
#[derive(Debug)]
pub(in crate::commands) struct Templates(Environment<'static>);

impl Templates {
    /// Reads templates, each a name and its text. Error: one is no template.
    pub(in crate::commands) fn new(templates: &[(&'static str, &'static str)]) -> Result<Self> {
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
        for (name, text) in templates.iter().chain([&HEAD]) {
            environment.add_template(name, text).map_err(|error| refused(name, &error))?;
        }
        Ok(Self(environment))
    }

    /// The head of a page as markup. `style`: the rules of this page alone; `generator`: the command, where a page that it
    /// made may be replaced. Error: the built-in template cannot be used.
    pub(in crate::commands) fn head(&self, title: &str, style: &str, generator: &str) -> Result<String> {
        let values = BTreeMap::from([("title", title), ("base", BASE), ("style", style), ("generator", generator)]);
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
        let templates = Templates::new(&[("a.html", "{{ it }} {{ it|safe }} {{ 1 }}\n"), ("b.html", "{{ no }}")]);
        let templates = templates.unwrap();
        let values = BTreeMap::from([("it", "<a href='x'>&/\"\u{1b}[31m\u{7}")]);
        let page = templates.render("a.html", &values).unwrap();
        assert_eq!(page, format!("&lt;a href=&#39;x&#39;&gt;&amp;/&quot; {} 1\n", values["it"]));
        assert!(templates.render("b.html", &values).unwrap_err().with_causes().contains("b.html"));
        let head = templates.head("a <b>", "p {}", "").unwrap();
        assert!(head.contains("default-src 'none'") && head.contains("<title>a &lt;b&gt;</title>"));
        assert!(head.contains("prefers-color-scheme: dark") && head.contains("p {}") && !head.contains("generator"));
        assert!(Templates::new(&[("c.html", "{% if %}")]).is_err());
    }
}
