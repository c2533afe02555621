//! Which files a shell command certainly wrote: literal `>`, `>>` and `tee` targets.
//!
//! A small scanner of words and operators that knows quotes, here-documents and substitutions well enough to leave out
//! whatever it is not sure of: targets with variables, globs or `~user`, relative targets after a `cd`, and anything
//! inside `$(…)`, a function or a condition that may not have run.

/// One word or operator.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A word; `None` where its value is not literal.
    Word(Option<String>),
    /// `>`, `>>`, `>|`, `&>`, `&>>`, with a plain file descriptor or none.
    Redirect,
    /// `>&`, `<`, `<&`, `<>`, `<<<`: the next word is no file that is written.
    Aside,
    /// The end of a simple command.
    Next(Next),
    /// Something that makes the rest unsure: a loop, a condition, a group, an unclosed quote.
    Unsure,
}

/// What joins a simple command to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// `|`: both run.
    Pipe,
    /// `&&`: the next runs only after success.
    And,
    /// `||`: the next runs only after failure.
    Or,
    /// `;`, `&`, newline: the next runs, and how this one ended is not known from the whole.
    End,
}

/// The files that `command` wrote, given that it succeeded. Relative paths are relative to where it ran.
pub(super) fn written(command: &str) -> Vec<String> {
    const MAX: usize = 64 << 10;
    // Longer commands are generated text in a here-document; nothing is claimed of them.
    if command.len() > MAX || !(command.contains('>') || command.contains("tee")) {
        return Vec::new();
    }
    let mut scanner = Scanner { chars: command.chars().collect(), at: 0, heredocs: Vec::new() };
    let mut run = Run::default();
    while let Some(token) = scanner.token() {
        match token {
            Token::Unsure => {
                // How the part before ends up is no longer known.
                run.conditional.clear();
                break;
            }
            Token::Next(next) => run.next(next),
            Token::Redirect => run.expects = Some(true),
            Token::Aside => run.expects = Some(false),
            Token::Word(word) => run.word(word),
        }
    }
    run.files.append(&mut run.conditional);
    run.files
}

/// Where the reading of a command stands.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "five facts that hold or do not, independent of each other")]
struct Run {
    /// Words of the simple command so far.
    word: usize,
    /// Whether it is `tee`.
    tee: bool,
    /// Whether the next word is the target of a redirection, and one that writes.
    expects: Option<bool>,
    /// Whether the working directory is still the one the command was started in.
    here: bool,
    /// Whether a compound command began, of which parts may not run.
    compound: bool,
    /// After `||`: runs only if something failed.
    or: bool,
    /// After `&&`: ran if the list succeeded.
    and: bool,
    /// Files written for certain.
    files: Vec<String>,
    /// Files written if the list that is being read succeeded.
    conditional: Vec<String>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            word: 0,
            tee: false,
            expects: None,
            here: true,
            compound: false,
            or: false,
            and: false,
            files: Vec::new(),
            conditional: Vec::new(),
        }
    }
}

impl Run {
    fn next(&mut self, next: Next) {
        self.word = 0;
        self.tee = false;
        match next {
            Next::Pipe => {}
            Next::And => self.and = true,
            Next::Or => {
                self.or = true;
                self.conditional.clear();
            }
            Next::End => {
                self.conditional.clear();
                self.or = false;
                self.and = false;
            }
        }
    }

    fn word(&mut self, word: Option<String>) {
        if let Some(writes) = self.expects.take() {
            if writes {
                self.claim(word);
            }
            return;
        }
        let first = self.word == 0;
        // An assignment before a command is not the command.
        if first && word.as_deref().is_some_and(is_assignment) {
            return;
        }
        self.word += 1;
        match word.as_deref() {
            Some("cd" | "pushd" | "popd" | "eval" | "exec" | "source" | ".") if first => self.here = false,
            Some("tee") if first => self.tee = true,
            Some("sudo" | "time" | "command") if first => self.word = 0,
            Some("if" | "while" | "until" | "for" | "case" | "select" | "function" | "{" | "!" | "[[") if first => {
                self.compound = true;
            }
            Some(option) if self.tee && option.starts_with('-') => {}
            _ if self.tee && !first => self.claim(word),
            _ => {}
        }
    }

    fn claim(&mut self, word: Option<String>) {
        let Some(path) = word.filter(|path| !path.is_empty() && !self.compound && !self.or) else { return };
        let absolute = path.starts_with('/') || path.starts_with("~/");
        if path.starts_with("/dev/") || path.starts_with("/proc/") || !(absolute || self.here) {
            return;
        }
        if !self.files.contains(&path) && !self.conditional.contains(&path) {
            if self.and { &mut self.conditional } else { &mut self.files }.push(path);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    /// Delimiters of here-documents whose bodies begin after this line.
    heredocs: Vec<(String, bool)>,
}

impl Scanner {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn token(&mut self) -> Option<Token> {
        loop {
            match self.peek()? {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
        Some(match self.peek()? {
            '\n' => {
                self.at += 1;
                self.bodies();
                Token::Next(Next::End)
            }
            ';' => {
                self.at += 1;
                if self.eat(';') { Token::Unsure } else { Token::Next(Next::End) }
            }
            '|' => {
                self.at += 1;
                if self.eat('|') {
                    Token::Next(Next::Or)
                } else {
                    self.eat('&');
                    Token::Next(Next::Pipe)
                }
            }
            '&' => {
                self.at += 1;
                if self.eat('>') {
                    self.eat('>');
                    Token::Redirect
                } else {
                    Token::Next(if self.eat('&') { Next::And } else { Next::End })
                }
            }
            '(' | ')' => Token::Unsure,
            '>' => {
                self.at += 1;
                self.output()
            }
            '<' => {
                self.at += 1;
                self.input()
            }
            digit if digit.is_ascii_digit() && self.is_descriptor() => {
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.at += 1;
                }
                if self.eat('>') {
                    self.output()
                } else {
                    self.eat('<');
                    self.input()
                }
            }
            _ => self.read_word(),
        })
    }

    /// Whether digits are followed directly by a redirection.
    fn is_descriptor(&self) -> bool {
        let rest = self.chars[self.at..].iter().find(|c| !c.is_ascii_digit());
        matches!(rest, Some('<' | '>'))
    }

    fn output(&mut self) -> Token {
        if self.eat('&') || self.eat('(') {
            return Token::Aside;
        }
        let _ = self.eat('>') || self.eat('|');
        Token::Redirect
    }

    fn input(&mut self) -> Token {
        if !self.eat('<') {
            return if self.eat('(') { Token::Unsure } else { self.aside() };
        }
        if self.eat('<') {
            return Token::Aside;
        }
        let indented = self.eat('-');
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        match self.read_word() {
            // The delimiter is taken literally, whatever stands in it.
            Token::Word(Some(delimiter)) => {
                self.heredocs.push((delimiter, indented));
                self.token().unwrap_or(Token::Next(Next::End))
            }
            _ => Token::Unsure,
        }
    }

    fn aside(&mut self) -> Token {
        let _ = self.eat('&') || self.eat('>');
        Token::Aside
    }

    /// Passes over the bodies of the here-documents that the line before opened.
    fn bodies(&mut self) {
        for (delimiter, indented) in std::mem::take(&mut self.heredocs) {
            while self.at < self.chars.len() {
                let end =
                    self.chars[self.at..].iter().position(|&c| c == '\n').map_or(self.chars.len(), |n| self.at + n);
                let line: String = self.chars[self.at..end].iter().collect();
                self.at = (end + 1).min(self.chars.len());
                let line = if indented { line.trim_start_matches('\t') } else { &line };
                if line.trim_end_matches('\r') == delimiter {
                    break;
                }
            }
        }
    }

    fn read_word(&mut self) -> Token {
        let mut word = String::new();
        let mut literal = true;
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    self.at += 1;
                    loop {
                        match self.peek() {
                            None => return Token::Unsure,
                            Some('\'') => break,
                            Some(c) => word.push(c),
                        }
                        self.at += 1;
                    }
                    self.at += 1;
                }
                '"' => match self.double_quoted(&mut word) {
                    Some(plain) => literal &= plain,
                    None => return Token::Unsure,
                },
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') | None => {}
                        Some(c) => word.push(c),
                    }
                    self.at += 1;
                }
                '$' | '`' => {
                    literal = false;
                    if !self.substitution() {
                        return Token::Unsure;
                    }
                }
                '*' | '?' | '[' | '{' | '}' => {
                    // A lone brace opens a group; elsewhere these are patterns.
                    literal &= self.at == start && matches!(c, '{' | '}');
                    word.push(c);
                    self.at += 1;
                }
                '~' if self.at == start && !matches!(self.chars.get(self.at + 1), None | Some('/' | ' ' | '\n')) => {
                    literal = false;
                    self.at += 1;
                }
                c => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        Token::Word(literal.then_some(word))
    }

    /// The inside of `"…"`; `Some(false)` where it holds a substitution, `None` where it is not closed.
    fn double_quoted(&mut self, word: &mut String) -> Option<bool> {
        self.at += 1;
        let mut literal = true;
        loop {
            match self.peek()? {
                '"' => {
                    self.at += 1;
                    return Some(literal);
                }
                '\\' => {
                    self.at += 1;
                    match self.peek()? {
                        c @ ('"' | '\\' | '$' | '`') => word.push(c),
                        '\n' => {}
                        c => word.extend(['\\', c]),
                    }
                    self.at += 1;
                }
                '$' | '`' => {
                    literal = false;
                    if !self.substitution() {
                        return None;
                    }
                }
                c => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
    }

    /// Passes over `$name`, `${…}`, `$(…)` or `` `…` ``; `false` where it is not closed. What stands inside may hold
    /// quotes and here-documents of its own: only brackets outside of quotes are counted.
    fn substitution(&mut self) -> bool {
        let (open, close) = match (self.peek(), self.chars.get(self.at + 1)) {
            (Some('`'), _) => {
                self.at += 1;
                while let Some(c) = self.peek() {
                    self.at += 1 + usize::from(c == '\\');
                    if c == '`' {
                        return true;
                    }
                }
                return false;
            }
            (Some('$'), Some('(')) => ('(', ')'),
            (Some('$'), Some('{')) => ('{', '}'),
            _ => {
                self.at += 1;
                return true;
            }
        };
        self.at += 2;
        let mut depth = 1_u32;
        let mut single = false;
        let mut double = false;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\\' if !single => self.at += 1,
                '\'' if !double => single = !single,
                '"' if !single => double = !double,
                c if c == open && !single && !double => depth += 1,
                c if c == close && !single && !double => {
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, files: &[&str]) {
        assert_eq!(written(command), files, "{command}");
    }

    #[test]
    fn literal_targets() {
        check("echo hi > out.txt", &["out.txt"]);
        check("echo hi >>logs/a.log 2>&1", &["logs/a.log"]);
        check("make &> build.log && cat build.log", &["build.log"]);
        check("ls | tee -a one.txt two.txt | wc -l", &["one.txt", "two.txt"]);
        check("echo 'a > b' > 'my file'", &["my file"]);
        check("LANG=C sort x >| y", &["y"]);
        check("run 2> err.txt 1> out.txt", &["err.txt", "out.txt"]);
        check("cd /tmp && echo x > /tmp/y", &["/tmp/y"]);
    }

    #[test]
    fn here_documents() {
        check("cat > a.txt <<'EOF'\nb > c\n$x tee d\nEOF\necho z > e.txt", &["a.txt", "e.txt"]);
        check("cat <<-END > a.txt\n\tx > y\n\tEND\n", &["a.txt"]);
        check("cat <<EOF\nnever closed > x", &[]);
    }

    #[test]
    fn nothing_that_is_unsure() {
        check("cargo test 2>&1 | tail -5", &[]);
        check("find . > /dev/null 2>/dev/null", &[]);
        check("echo x > $OUT; echo y > \"$DIR/z\"", &[]);
        check("echo x > *.txt", &[]);
        check("cd sub && echo x > out.txt", &[]);
        check("test -f a || echo x > a", &[]);
        check("(cd x; echo > y)", &[]);
        check("if true; then echo > y; fi", &[]);
        check("git commit -m \"$(cat <<'EOF'\na -> b\nEOF\n)\"", &[]);
        check("echo \"a > b\"", &[]);
        check("echo 'open > x", &[]);
        check("diff <(a) <(b) > c", &[]);
        check("awk '{ if ($1 > 3) print }' data", &[]);
        check("echo hi # > comment", &[]);
        check("test -f a && echo x > b; echo done", &[]);
        check("test -f a && echo x > b", &["b"]);
        check("rm x || true; echo y > z", &["z"]);
        check("cat <<< word > kept", &["kept"]);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(command in "[ a-z>|&;$(){}'\"\\\\<\\n`#~*=0-9-]{0,80}") {
            let _ = written(&command);
        }
    }
}
