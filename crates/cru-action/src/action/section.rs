//! The parts of a call's output between the lines that its own text prints: `echo "=== build ==="`.

use std::collections::HashMap;
use std::ops::Range;

use super::{Action, Command};
use crate::shell::{Nesting, Operator};

/// Commands with what they printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Indices into [`Action::commands`].
    pub commands: Range<usize>,
    /// Bytes of the output.
    pub output: Range<usize>,
    /// The `echo` that ends it, where it runs only if what stands before it went well.
    pub proves: Option<usize>,
}

/// The sections of a call, in order; one where no printed line parts its output. Linear in text and output.
pub(super) fn sections(action: &Action<'_>, output: &str) -> Vec<Section> {
    let whole = || vec![Section { commands: 0..action.commands.len(), output: 0..output.len(), proves: None }];
    let echoes: Vec<(usize, String)> =
        action.commands.iter().enumerate().filter_map(|(at, command)| Some((at, printed(command)?))).collect();
    if echoes.is_empty() {
        return whole();
    }
    // Where each line is printed by the text, and where it stands in the output.
    let mut places: HashMap<&str, (usize, Vec<Range<usize>>)> = HashMap::new();
    for (_, text) in &echoes {
        places.entry(text).or_default().0 += 1;
    }
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        // One that stands there twice parts nothing.
        if let Some((_, found)) = places.get_mut(line.trim()).filter(|(_, found)| found.len() < 2) {
            found.push(range);
        }
    }
    let mut sections: Vec<Section> = Vec::new();
    let (mut command, mut from) = (0, 0);
    for (echo, text) in &echoes {
        let Some((1, found)) = places.get(text.as_str()) else { continue };
        let [line] = found.as_slice() else { continue };
        // Printed in another order: then nothing is known of what stands between.
        if line.start < from {
            return whole();
        }
        let proves = action.commands.get(*echo).filter(|it| it.operator == Operator::And).map(|_| *echo);
        sections.push(Section { commands: command..*echo, output: from..line.start, proves });
        (command, from) = (*echo + 1, line.end);
    }
    sections.push(Section { commands: command..action.commands.len(), output: from..output.len(), proves: None });
    sections
}

/// The line that a command prints and nothing else: an `echo` of plain words.
fn printed(command: &Command<'_>) -> Option<String> {
    let plain = command.program == "echo"
        && command.nesting == Nesting::Top
        && command.pipe.len == 1
        && !command.diverts_output
        && matches!(command.operator, Operator::First | Operator::Sequence | Operator::And);
    let words = command.words.get(1..).filter(|_| plain)?;
    let text = words.join(" ");
    let expands =
        text.contains(['$', '`', '\\', '\n']) || text.starts_with('-') && text[1..].starts_with(['n', 'e', 'E']);
    // Letters and digits of a line that is known again.
    let tells = text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    (tells && !expands).then(|| text.trim().to_owned())
}
