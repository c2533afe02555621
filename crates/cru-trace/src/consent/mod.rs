//! Whether a command that stands in a note may run again, and who has to agree.
//!
//! A note may come from anyone, so the rule is a list of what is understood, and never one of what is dangerous: a command
//! of which any part is not understood is left to a person. What may run is asked for on a terminal; without one it runs
//! only where a pattern of the user's own configuration matches each of its commands.

mod folder;
mod known;
mod script;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use cru_action::shell::{Hidden, Nesting, Script, SimpleCommand, Word};
use cru_action::{Action, Class};

use folder::CommandFolder;
use known::known;

/// Bytes of the longest command that is looked at.
const LONGEST: usize = 64 << 10;

/// Levels of `sh -c` that are looked into.
const MOST_SHELLS: usize = 3;

/// Who has to agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It is never run for anybody; why.
    ByHand(String),
    /// A person on a terminal.
    Ask,
    /// Nobody: the user's configuration allows each of its commands.
    Allowed,
}

/// `[run] allow` of the user's configuration: patterns of whole commands, in which `*` stands for any text.
#[derive(Clone, Debug, Default)]
pub struct ConsentRules {
    allow: Vec<String>,
}

impl ConsentRules {
    /// Of these patterns. Those of a vault have no say.
    pub fn new(allow: &[String]) -> Self {
        Self { allow: allow.iter().map(|pattern| pattern.trim().to_owned()).filter(|it| !it.is_empty()).collect() }
    }

    /// Who has to agree before the text is given to a shell in the folder of its project. `project` are the names of
    /// that folder: as the note has it, and as it is on this machine.
    pub fn decide(&self, text: &str, project: &[&str]) -> Consent {
        match self.check(text, &mut CommandFolder::new(project), 0) {
            Err(why) => Consent::ByHand(why.into_owned()),
            Ok(true) => Consent::Allowed,
            Ok(false) => Consent::Ask,
        }
    }

    /// Whether all of a text is allowed; why it is by hand.
    fn check(&self, text: &str, folder: &mut CommandFolder<'_>, depth: usize) -> Result<bool, Cow<'static, str>> {
        if text.len() > LONGEST {
            return Err("too long to be looked at".into());
        }
        if text.trim().is_empty() {
            return Err("there is no command".into());
        }
        if text.chars().any(is_hidden) {
            return Err("it holds characters that cannot be seen or look like others".into());
        }
        if ["$(", "`", "<(", ">(", "()", "${", "<<<"].iter().any(|mark| text.contains(mark)) {
            return Err("it runs or fills in what its text does not tell".into());
        }
        let script = Script::read(text);
        if !script.complete || script.commands.is_empty() {
            return Err("it is not understood".into());
        }
        let mut allowed = true;
        for simple in &script.commands {
            allowed &= self.simple(&script, simple, folder, depth)?;
        }
        Ok(allowed)
    }

    fn simple(
        &self,
        script: &Script<'_>,
        simple: &SimpleCommand<'_>,
        folder: &mut CommandFolder<'_>,
        depth: usize,
    ) -> Result<bool, Cow<'static, str>> {
        if matches!(simple.nesting, Nesting::Function | Nesting::Substitution) {
            return Err("it defines commands of its own".into());
        }
        if simple.hidden == Some(Hidden::Background) {
            return Err("it goes on in the background".into());
        }
        if let Some(word) = simple.assignments.iter().find(|word| !is_plain_assignment(word)) {
            return Err(format!("it sets {}", name_of(&word.text)).into());
        }
        let text = script.text.get(simple.range.clone()).unwrap_or_default();
        let body = |range: &std::ops::Range<usize>| script.text.get(range.clone()).unwrap_or_default();
        if simple.redirections.iter().filter_map(|it| it.body.as_ref()).any(|it| body(it).contains('$')) {
            return Err("it fills in what its text does not tell".into());
        }
        let mut writes = false;
        for redirection in &simple.redirections {
            let target = &redirection.target;
            if redirection.body.is_some() || target.text.chars().all(|c| c.is_ascii_digit() || c == '-') {
                continue;
            }
            if !target.is_literal() {
                return Err("it names files by variables".into());
            }
            let is_device = matches!(&*target.text, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin");
            if redirection.is_write() && is_own_of_git(&target.text) {
                return Err("it changes git's own files".into());
            }
            if !is_device && !folder.holds(&target.text) {
                return Err(format!("{} is outside of the project", target.text).into());
            }
            writes |= redirection.is_write() && !is_device;
        }
        let Some(first) = simple.words.first() else {
            // Nothing but assignments and redirections.
            return Ok(!writes);
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-/[".contains(&byte);
        if !first.is_literal() || !first.text.bytes().all(is_name) {
            return Err("the name of a program is not plain text".into());
        }
        if known().builtins.iter().any(|name| *name == first.text) {
            return Err(format!("`{}` changes what the commands behind it do", first.text).into());
        }
        let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
        if matches!(words[0], "cd" | "pushd" | "popd") {
            return if words[0] == "cd" && words.len() == 2 && simple.words[1].is_literal() && folder.enter(words[1]) {
                Ok(true)
            } else {
                Err("it leaves the folder of the project".into())
            };
        }
        if let Some(inner) = shell_text(simple) {
            if depth >= MOST_SHELLS {
                return Err("it is not understood".into());
            }
            let mut inside = folder.clone();
            return Ok(self.check(inner, &mut inside, depth + 1)? && !writes);
        }
        options(simple, &words)?;
        let class = class(text, &words)?;
        paths(simple, class, folder)?;
        let is_allowed = !writes && self.allows(text, simple) || self.allows_whole(text);
        match class {
            Class::Look | Class::GitLook | Class::Check | Class::Change => Ok(is_allowed),
            Class::Run if is_allowed => Ok(true),
            Class::Run => Err("it runs a program of which nothing more is known; `[run] allow` can name it".into()),
            class => Err(format!("class {}", class.name()).into()),
        }
    }

    /// Whether a pattern that writes files, `sort *.csv > *.csv`, matches a command with its redirections.
    fn allows_whole(&self, text: &str) -> bool {
        self.allow.iter().any(|pattern| pattern.contains('>') && matches(pattern, text.trim()))
    }

    /// Whether a pattern matches a command, without variables before it and redirections.
    fn allows(&self, text: &str, simple: &SimpleCommand<'_>) -> bool {
        let start = simple.words.first().map_or(0, |word| word.range.start).saturating_sub(simple.range.start);
        let end = simple.words.last().map_or(0, |word| word.range.end).saturating_sub(simple.range.start);
        let command = text.get(start..end).unwrap_or_default();
        !command.is_empty() && self.allow.iter().any(|pattern| matches(pattern, command))
    }
}

/// The class of a simple command. What it runs by way of another program is taken for what it is only behind a program
/// that changes nothing about it.
fn class(text: &str, words: &[&str]) -> Result<Class, Cow<'static, str>> {
    let action = Action::of("Bash", text);
    let [command] = action.commands.as_slice() else { return Err("it is not understood".into()) };
    if !action.complete {
        return Err("it is not understood".into());
    }
    let is_itself = command.words.first().is_some_and(|word| *word == words[0]);
    if !is_itself && !known().wrappers.iter().any(|name| *name == words[0]) {
        return Err(format!("`{}` runs another program", words[0]).into());
    }
    let inner = command.words.first().map_or("", |word| word.as_ref());
    if known().builtins.iter().any(|name| *name == inner) {
        return Err(format!("`{inner}` changes what the commands behind it do").into());
    }
    if !is_itself && known().shells.iter().any(|name| *name == inner) {
        return Err("it is not understood".into());
    }
    // A program of the repository may have any name.
    let is_path = words[0].contains('/') || inner.contains('/');
    if known().machine.iter().any(|name| *name == inner || *name == words[0] || *name == command.program) {
        return Err(format!("`{inner}` changes the machine and not the project").into());
    }
    if !script::is_harmless(&command.words) {
        return Err(format!("`{inner}` is given a text that may do anything").into());
    }
    let redirects = command.diverts_output && command.class == Class::Change;
    let changes = redirects && Action::of("Bash", &words.join(" ")).class() == Class::Look
        || known().changes.iter().any(|name| *name == command.program);
    match command.class {
        Class::Look | Class::GitLook | Class::Check | Class::Change if is_path => Ok(Class::Run),
        Class::Change if !changes => Ok(Class::Run),
        class => Ok(class),
    }
}

/// `sh -c TEXT`: the text.
fn shell_text<'s>(simple: &'s SimpleCommand<'_>) -> Option<&'s str> {
    let [shell, option, text] = simple.words.as_slice() else { return None };
    let is_shell = known().shells.iter().any(|name| *name == shell.text);
    let is_option = matches!(&*option.text, "-c" | "-ec" | "-lc" | "-euc");
    (is_shell && is_option && text.is_literal()).then_some(&*text.text)
}

/// Refuses options whose value is a program or a file that is written.
fn options(simple: &SimpleCommand<'_>, words: &[&str]) -> Result<(), Cow<'static, str>> {
    let short = |word: &str| {
        words.iter().any(|program| {
            let own = known().program_options.get(*program);
            own.is_some_and(|own| own.iter().any(|option| word.starts_with(option.as_str())))
        })
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        let name = word.split('=').next().unwrap_or(word);
        if known().options.iter().any(|option| *option == name) || word.starts_with('-') && short(word) {
            return Err(format!("`{name}` may run another program or write a file").into());
        }
        let is_variable = word.contains('=') && !word.starts_with('-') && name.bytes().all(is_variable_byte);
        let sets = matches!(words[0], "make" | "gmake" | "env" | "just") && is_variable;
        if sets && !simple.words.get(at).is_some_and(is_plain_assignment) {
            return Err(format!("it sets {name}").into());
        }
    }
    Ok(())
}

/// Refuses what names something outside of the project; of commands that change something also what is not written out.
fn paths(simple: &SimpleCommand<'_>, class: Class, folder: &CommandFolder<'_>) -> Result<(), Cow<'static, str>> {
    for word in simple.words.iter().skip(1) {
        if word.expands && class != Class::Look {
            return Err("it names files by variables".into());
        }
        let text = &*word.text;
        if is_own_of_git(text) {
            return Err("it names git's own files".into());
        }
        let value = text.strip_prefix('-').map_or(text, |rest| rest.split_once('=').map_or("", |(_, value)| value));
        if value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..") || text.contains("/../") {
            let is_device = matches!(value, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr");
            if !is_device && !folder.holds(value) && !is_pattern_of_search(simple, value) {
                return Err(format!("{value} is outside of the project").into());
            }
        }
        // A short option with its value.
        if text.starts_with('-') && (text.contains("/..") || text.get(2..).is_some_and(|it| it.starts_with(['/', '~'])))
        {
            return Err(format!("{text} is outside of the project").into());
        }
    }
    Ok(())
}

/// Whether a path leads into git's own folder, where hooks and settings stand.
fn is_own_of_git(path: &str) -> bool {
    path.split(['/', '=']).any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether a word of `sed` or `awk` is a pattern, `/start/,/end/p`, and no path.
fn is_pattern_of_search(simple: &SimpleCommand<'_>, value: &str) -> bool {
    let program = simple.words.first().map_or("", |word| &*word.text);
    matches!(program, "sed" | "awk") && value.starts_with('/') && value.matches('/').count() >= 2 && {
        let first_plain = simple.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        first_plain.is_some_and(|word| word.text == value)
    }
}

/// Whether a pattern matches all of a text; `*` stands for any text, anything else for itself.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    false
}

/// Characters that a person does not see, or takes for a blank.
fn is_hidden(c: char) -> bool {
    let of_format = matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}'
        | '\u{e0000}'..='\u{e0fff}');
    of_format || c.is_control() && !matches!(c, '\n' | '\t') || c.is_whitespace() && !c.is_ascii()
}

/// `CI=1`: a variable that changes what no program does, with a plain value.
fn is_plain_assignment(word: &Word<'_>) -> bool {
    let name = name_of(&word.text);
    word.is_literal() && known().variables.iter().any(|known| *known == name)
}

fn name_of(text: &str) -> &str {
    text.split(['=', '+']).next().unwrap_or(text)
}

const fn is_variable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
