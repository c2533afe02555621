//! Templates that a vault may bring: filled in within bounds of work and memory.
//!
//! A vault may come from anyone, so what a template may do is a list: print values, choose by them, go through lists, and a
//! few filters. Nothing in that list makes a value longer than what it was given, but for filters, which are counted; so
//! memory is bounded by what goes in, work by the fuel of the engine, and both do not depend on the machine.

mod allowed;
mod filters;

use std::io;
use std::sync::Arc;

use cru_base::{Error, Result};
use minijinja::value::{DynObject, Serde, Value};
use minijinja::{Environment, ErrorKind};
use serde::Serialize;

use filters::{Budget, TextFilter};

/// Bytes of the largest template.
pub const LARGEST: u64 = 64 << 10;

/// Steps of the engine, beside those for each value that a template is given.
const FUEL: u64 = 50_000;

/// Steps for each value.
const FUEL_OF_VALUE: u64 = 200;

/// Bytes that a template prints, beside those of its values.
const PRINTED: u64 = 256 << 10;

/// A template that was read.
#[derive(Clone, Copy, Debug)]
pub struct Template<'t> {
    name: &'t str,
    text: &'t str,
    yaml: Option<TextFilter>,
}

impl<'t> Template<'t> {
    /// Reads one; `name` is what errors call it.
    ///
    /// Errors: it is no template, or holds what templates may not do.
    pub fn read(name: &'t str, text: &'t str) -> Result<Self> {
        let template = Self { name, text, yaml: None };
        template.environment(&Arc::default())?;
        Ok(template)
    }

    /// With a filter `yaml`, which writes a text as a scalar.
    #[must_use]
    pub fn with_yaml(self, yaml: fn(&str) -> String) -> Self {
        Self { yaml: Some(yaml), ..self }
    }

    /// Filled in.
    ///
    /// Errors: it cannot be rendered, or takes more steps or prints more than it may.
    pub fn render(&self, values: impl Serialize) -> Result<String> {
        let values = Value::from(Serde(values));
        let weight = Weight::of(&values, 0);
        let budget = Arc::new(Budget::of(PRINTED + 2 * weight.bytes));
        let mut environment = self.environment(&budget)?;
        // Bytes that are looked at in all steps together: one step may compare whole values.
        let most = (1 << 36) / (1 + weight.longest);
        environment.set_fuel(Some((FUEL + FUEL_OF_VALUE * weight.values).min(most).max(1_000)));
        let mut printed = Printed { bytes: Vec::new(), left: PRINTED + 2 * weight.bytes };
        let template = environment.get_template(self.name).map_err(|error| self.refused(&error))?;
        let done = template.render_captured_to(values, &mut printed);
        done.map_err(|error| self.refused(&error))?;
        String::from_utf8(printed.bytes).map_err(|_| Error::usage(format!("the template {} prints no text", self.name)))
    }

    fn environment(&self, budget: &Arc<Budget>) -> Result<Environment<'t>> {
        if self.text.len() as u64 > LARGEST {
            return Err(self.fault("", &format!("it is longer than {LARGEST} bytes")));
        }
        if let Err((line, why)) = allowed::check(self.text).map_err(allowed::Fault::at_line) {
            return Err(self.fault(&line.map(|line| format!(":{line}")).unwrap_or_default(), &why));
        }
        let mut environment = Environment::new();
        filters::add(&mut environment, self.yaml, budget);
        environment.add_template(self.name, self.text).map_err(|error| self.refused(&error))?;
        Ok(environment)
    }

    fn refused(&self, error: &minijinja::Error) -> Error {
        let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
        match error.kind() {
            ErrorKind::OutOfFuel => self.fault(&line, "it takes more steps than a template may"),
            ErrorKind::WriteFailure => self.fault(&line, "it prints more than a template may"),
            kind => {
                let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
                self.fault(&line, &format!("{kind}{detail}"))
            }
        }
    }

    fn fault(&self, line: &str, why: &str) -> Error {
        Error::usage(format!("could not use the template {}{line}: {why}", self.name))
            .with_hint("mend it, or remove it to use the built-in one")
    }
}

/// What a template is given.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    bytes: u64,
    values: u64,
    longest: u64,
}

impl Weight {
    fn of(value: &Value, depth: usize) -> Self {
        let mut weight = Self { values: 1, ..Self::default() };
        if let Some(text) = value.as_str() {
            weight.bytes = text.len() as u64;
            weight.longest = weight.bytes;
        } else if depth < 16
            && let Some(items) = value.as_object().and_then(DynObject::try_iter)
        {
            for key in items {
                // Of a map the keys come, of a list the items.
                let item = value.get_item(&key).ok().filter(|item| !item.is_undefined() && key.as_str().is_some());
                let own = Self::of(&item.unwrap_or(key), depth + 1);
                weight.bytes += own.bytes;
                weight.values += own.values;
                weight.longest = weight.longest.max(own.longest);
            }
        }
        weight
    }
}

/// What was printed, up to a limit.
struct Printed {
    bytes: Vec<u8>,
    left: u64,
}

impl io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn fill(text: &str) -> Result<String> {
        let body = "line of the body\n".repeat(2_000);
        let values = BTreeMap::from([("title", "Title"), ("body", body.as_str()), ("none", "")]);
        Template::read("templates/a.md", text)?.render(values)
    }

    #[test]
    fn what_templates_do() {
        for (text, wanted) in [
            ("a {{ title }} b", "a Title b"),
            ("{{ title | upper }} {{ title | lower | title }}", "TITLE Title"),
            ("{{ none | default('x', true) }}{{ missing | default('y') }}", "xy"),
            ("{% if title == 'Title' and not none %}yes{% elif none %}no{% else %}no{% endif %}", "yes"),
            ("{% for c in 'abc' %}{{ loop.index }}{{ c }},{% endfor %}", "1a,2b,3c,"),
            ("{% set name = title %}{{ name | replace('T', 'tt') }}", "ttitle"),
            ("{{ 'x' if title is defined else 'y' }}{# no #}{% raw %}{{ x }}{% endraw %}", "x{{ x }}"),
            ("{{ 'a\nb' | indent(2) }}{{ title | length }}{{ title | first }}{{ title | last }}", "a\n  b5Te"),
            ("{% with t = title %}{{ t | trim }}{% endwith %}", "Title"),
        ] {
            assert_eq!(fill(text).unwrap(), wanted, "{text}");
        }
    }

    /// Each would take hours, or more memory than there is.
    #[test]
    fn what_templates_may_not_do() {
        let long = format!("{{{{ title{} }}}}", ".a".repeat(20_000));
        let elif = format!("{{% if none %}}{}{{% endif %}}", "{% elif none %}x".repeat(2_000));
        let deep = format!("{}{}", "{% if title %}".repeat(3_000), "{% endif %}".repeat(3_000));
        let nots = format!("{{{{ {} title }}}}", "not ".repeat(10_000));
        let many = format!("{}{{{{ x }}}}", "{% set x = title | replace('t', body) %}".repeat(1_000));
        let loops = "{% for a in body %}{% for b in body %}{% for c in body %}{% endfor %}{% endfor %}{% endfor %}";
        for text in [
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            loops,
            "{% for a in body %}{% for b in body %}{{ body }}{% endfor %}{% endfor %}",
            "{% for a in body %}{% for b in body %}{% if body == body %}{% endif %}{% endfor %}{% endfor %}",
            "{% for a in body if body == body %}{% for b in body %}{% endfor %}{% endfor %}",
            "{% set x = body ~ body %}{{ x }}",
            "{{ body + body }}",
            "{{ 'x' * 100000000 }}",
            "{{ [body] * 100000000 }}",
            "{{ 'x' * (9 ** 9) }}",
            "{% set x = [title, title] %}{% set x = [x, x] %}{{ x }}",
            "{{ body | replace('', body) }}",
            "{{ body | replace('l', body) | replace('l', body) }}",
            "{{ body | join(body) }}",
            "{{ '%1000000000d' | format(1) }}",
            "{{ range(100000) | list }}",
            "{{ body | batch(1000000000) }}",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{% include 'templates/a.md' %}",
            "{% extends 'templates/a.md' %}",
            "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            "{% set x %}{{ body }}{% endset %}{{ x }}",
            "{% filter upper %}{{ body }}{% endfilter %}",
            "{{ loop.changed(body) }}",
            "{{ body[1:] }}",
            "{{ debug() }}",
            "{{ body | pprint }}",
            "{{ {'a': body} }}",
            "{% autoescape true %}{{ body }}{% endautoescape %}",
            "{{ 'a' in body }}",
            &long,
            &elif,
            &deep,
            &nots,
            &many,
            &"x".repeat(100_000),
        ] {
            let short = text.chars().take(80).collect::<String>();
            let Err(error) = fill(text) else { panic!("{short}") };
            let error = error.to_string();
            assert!(error.starts_with("could not use the template templates/a.md"), "{short}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        assert!(fill("{{ body | indent(1000000000) }}").unwrap().len() < 200_000, "as wide as it may be");
        let error = fill("a\n{{ title ~ 'x' }}").unwrap_err().to_string();
        assert_eq!(
            error,
            "could not use the template templates/a.md:2: a template of a vault may not join or compute values"
        );
        let error = fill("{% for a in body %}{% for b in body %}{% endfor %}{% endfor %}").unwrap_err().to_string();
        assert!(error.contains("it takes more steps than a template may"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "([{][{%#]|[%}#][}]|for|in|if|set|end|body|title|[|.~*+(),'\"= -]|[a-z]{1,3}){0,24}") {
            let _ = fill(&text);
        }
    }
}
