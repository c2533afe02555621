//! What holds for a whole session, put together from its nodes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::node::field;
use crate::file::value::{dollars, filled, number, objects, strings, usage};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::event::{EventKind, SessionFact};

/// Sums and sets over nodes, in the order of their first mention.
#[derive(Debug, Default)]
pub(super) struct Totals {
    tokens: u64,
    has_models: bool,
    lists: Vec<(&'static str, Vec<String>)>,
    known: BTreeSet<(&'static str, String)>,
}

/// Properties that are lists: their names in a note and in a node.
const LISTS: &[(&str, &str, &str)] = &[
    ("topics", "semantic", "topics"),
    ("related_projects", "semantic", "relatedProjects"),
    ("concepts", "semantic", "concepts"),
    ("languages", "classification", "language"),
    ("frameworks", "classification", "frameworks"),
    ("machine", "source", "computer"),
];

impl Totals {
    /// Takes in a node and tells what it used. `record` is its record's number.
    pub(super) fn add(&mut self, node: &Value, record: u64, place: &Place, out: &mut Out<'_>) {
        for (property, section, name) in LISTS {
            for word in strings(field(node, section, name)) {
                let word = place.tilde(word);
                let word = word.as_ref();
                if self.known.insert((property, word.to_owned())) {
                    match self.lists.iter_mut().find(|(known, _)| known == property) {
                        Some((_, words)) => words.push(word.to_owned()),
                        None => self.lists.push((property, vec![word.to_owned()])),
                    }
                }
            }
        }
        out.facts(strings(field(node, "semantic", "tags")).into_iter().map(|tag| SessionFact::Tag(tag.into())));
        let mut costs = 0.0;
        for (index, used) in objects(field(node, "observations", "modelsUsed")).enumerate() {
            let model = filled(used, "model").unwrap_or("unknown");
            let model = match filled(used, "provider") {
                Some(provider) if !model.contains('/') => format!("{provider}/{model}"),
                _ => model.to_owned(),
            };
            let usage = usage(used, ["tokensInput", "tokensOutput", "cacheRead", "cacheWrite"]);
            self.has_models = true;
            out.quiet(EventKind::Usage { message: format!("{record}.{index}").into(), model: model.into(), usage });
            costs += dollars(used, "cost").unwrap_or(0.0);
        }
        let metadata = &node["metadata"];
        let whole = dollars(metadata, "cost").or_else(|| dollars(node, "cost"));
        out.facts(if costs > 0.0 { Some(costs) } else { whole }.map(SessionFact::Cost));
        let tokens = number(metadata, "tokensUsed").or_else(|| number(node, "tokensUsed"));
        self.tokens = self.tokens.saturating_add(tokens.unwrap_or(0));
    }

    /// Tells what was put together.
    pub(super) fn close(self, out: &mut Out<'_>) {
        out.facts(Some(self.tokens).filter(|tokens| *tokens > 0 && !self.has_models).map(SessionFact::Tokens));
        for (property, words) in self.lists {
            let alone = property == "machine" && words.len() == 1;
            let value = if alone { Value::from(words.concat()) } else { Value::from(words) };
            out.facts([SessionFact::Property { key: property.into(), value }]);
        }
    }
}
