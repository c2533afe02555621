//! When two calls are the same command: the one rule for "the same command passes later".

use super::{Action, Command};
use crate::class::Class;
use crate::shell::{Operator, Script, Word};
use crate::tool::ToolKind;

impl Action<'_> {
    /// What two calls have in common that are literally the same command: assignments, programs, subcommands, arguments and
    /// here-documents of all their commands. The order of the words of one command, quotes that change nothing,
    /// redirections, and what only reads the output of another command (`| tail -5`) do not count. `None` where the text is not understood as a whole, or empty.
    pub fn identity(&self) -> Option<String> {
        if self.kind != ToolKind::Shell {
            let args = self.args.split_whitespace().collect::<Vec<_>>().join(" ");
            return (!args.is_empty()).then_some(args);
        }
        let filters = |command: &&Command<'_>| command.operator == Operator::Pipe && command.class == Class::Look;
        let commands = self.commands.iter().filter(|command| !filters(command));
        let parts: Vec<String> = commands.map(|command| self.identity_of(command)).collect();
        (self.complete && !parts.is_empty()).then(|| parts.join("\n"))
    }

    /// As [`Action::identity`], of one command of the call.
    pub fn identity_of(&self, command: &Command<'_>) -> String {
        let text = self.text(command);
        let script = Script::read(text);
        let mut words: Vec<String> = match script.commands.as_slice() {
            [only] => only.assignments.iter().chain(&only.words).map(|word| unquoted(word, text)).collect(),
            _ => self.plain_text(command).split(' ').map(str::to_owned).collect(),
        };
        words.sort_unstable();
        let bodies = command.bodies.iter().filter_map(|body| self.args.get(body.clone()));
        std::iter::once(words.join(" ")).chain(bodies.map(str::to_owned)).collect::<Vec<_>>().join("\n")
    }
}

/// A word without its quotes, where these change nothing.
fn unquoted(word: &Word<'_>, text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~:@+=,%".contains(c);
    if word.is_literal() && !word.text.is_empty() && word.text.chars().all(is_plain) {
        return word.text.clone().into_owned();
    }
    text.get(word.range.clone()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command() {
        let identity = |text: &'static str| Action::of("Bash", text).identity();
        for (a, b) in [
            ("npm test -- --run a b", "npm test -- a --run b"),
            ("cargo test 2>&1 | tail -5", "cargo test"),
            ("cd web && bun run lint 2>&1 | head", "cd web && bun run lint"),
            ("A=1 make", "A=1 make > log"),
            ("go test ./spi -run \"TestA\" -v", "go test -v ./spi -run TestA"),
        ] {
            assert!(identity(a).is_some(), "{a}");
            assert_eq!(identity(a), identity(b), "{a} / {b}");
        }
        for (a, b) in [
            ("tool validate x", "tool eval run x"),
            ("A=1 make", "A=2 make"),
            ("A=1 make", "make"),
            ("bun run lint", "bun run lint:fix"),
            ("bun run lint", "bun run lint:fix && bun run lint"),
            ("cat <<X | sh\na\nX", "cat <<X | sh\nb\nX"),
            ("cargo test a", "cargo test b"),
            ("ls '*.rs'", "ls *.rs"),
            ("echo '$A'", "echo \"$A\""),
        ] {
            assert_ne!(identity(a), identity(b), "{a} / {b}");
        }
        assert_eq!(identity(""), None);
        assert_eq!(Action::of("mcp__x__click", "{ \"a\": 1 }").identity().as_deref(), Some("{ \"a\": 1 }"));
    }
}
