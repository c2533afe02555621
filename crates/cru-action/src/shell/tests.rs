use proptest::prelude::*;

use super::*;

/// Each command as `operator text`, with its hiding.
fn told(text: &str) -> Vec<String> {
    let script = Script::read(text);
    let one = |command: &SimpleCommand<'_>| {
        let hidden = command.hidden.map_or_else(String::new, |hidden| format!(" [{hidden:?}]"));
        format!("{} {}{hidden}", command.operator.as_str(), &text[command.range.clone()]).trim().to_owned()
    };
    script.commands.iter().map(one).collect()
}

fn words(text: &str) -> Vec<String> {
    let script = Script::read(text);
    script.commands.iter().flat_map(|command| &command.words).map(|word| word.text.to_string()).collect()
}

#[test]
fn operators() {
    assert_eq!(
        told("cd x && cargo test 2>&1 | tail -5; echo 'a && b' &"),
        ["cd x [Sequence]", "&& cargo test 2>&1 [Pipe]", "| tail -5 [Sequence]", "; echo 'a && b' [Background]"]
    );
    assert_eq!(told("a\n\nb # c; d\n# don't\ne"), ["a [Sequence]", "; b [Sequence]", "; e"]);
    assert_eq!(told("a &&\n  b \\\n --c"), ["a", "&& b \\\n --c"]);
    assert_eq!(told("a &> x; b |& c"), ["a &> x [Sequence]", "; b [Pipe]", "| c"]);
    assert_eq!(told(" ; | "), Vec::<String>::new());
}

#[test]
fn words_without_quotes() {
    assert_eq!(
        words(r#"echo "a b" 'c'"d" e\ f "g\"h" $'i' "" x="y z""#),
        ["echo", "a b", "cd", "e f", "g\"h", "i", "", "x=y z"]
    );
    assert_eq!(words("A=1 B='2 3' run x=1"), ["run", "x=1"]);
    assert_eq!(words("arr=(a b c); ls {} [ {a,b}"), ["ls", "{}", "[", "{a,b}"]);
    let script = Script::read("'it is' \"whole\"");
    assert!(script.commands[0].words.iter().all(|word| matches!(word.text, Cow::Borrowed(_))));
}

#[test]
fn here_documents() {
    let text = "cat > a.txt <<'EOF' && ls\nb > c; $(x)\nEOF\npwd";
    assert_eq!(told(text), ["cat > a.txt <<'EOF' [Sequence]", "&& ls [Sequence]", "; pwd"]);
    let script = Script::read(text);
    assert_eq!(script.commands[0].redirections[1].body.clone().map(|body| &text[body]), Some("b > c; $(x)\n"));
    let text = "git commit -m \"$(cat <<'EOF'\nSay \"no\"; b\nEOF\n)\" && git push";
    assert_eq!(told(text), [&text[..text.len() - 12], "cat <<'EOF' [Substitution]", "&& git push"]);
    assert_eq!(told("cat <<-A <<B\n\tx\n\tA\ny\nB\nls"), ["cat <<-A <<B [Sequence]", "; ls"]);
    assert!(!Script::read("cat <<EOF\nnever closed").complete);
}

#[test]
fn compounds() {
    assert_eq!(told("for f in *.rs; do cargo test $f; done > log"), ["cargo test $f [Loop]", "> log"]);
    assert_eq!(
        told("if ls a; then cargo test; else echo b; fi; pwd"),
        ["ls a [Condition]", "cargo test [Condition]", "echo b [Condition]", "; pwd"]
    );
    assert_eq!(told("case $x in a|b) ls;; *) pwd;; esac && id"), ["ls [Condition]", "pwd [Condition]", "&& id"]);
    assert_eq!(told("f() { ls; }; f"), ["ls [Function]", "; f"]);
    assert_eq!(told("(cd x && make) && { a; b; }"), ["cd x", "&& make", "&& a [Sequence]", "; b"]);
    assert_eq!(told("[[ -f a && b < c ]] && ls"), ["[[ -f a && b < c ]]", "&& ls"]);
    assert_eq!(told("((i++)); while read -r x; do echo $x; done < f"), ["; read -r x", "echo $x [Loop]", "< f"]);
    assert_eq!(told("diff <(ls a) <(ls b)"), ["diff <(ls a) <(ls b)", "ls a [Substitution]", "ls b [Substitution]"]);
    assert_eq!(told("echo `ls` $((1+2)) ${x:-y}"), ["echo `ls` $((1+2)) ${x:-y}", "ls [Substitution]"]);
}

#[test]
fn what_an_exit_status_says() {
    assert_eq!(told("cargo test || true"), ["cargo test [Or]", "|| true [Or]"]);
    assert_eq!(told("cargo test || exit 1"), ["cargo test", "|| exit 1 [Or]"]);
    assert_eq!(told("cargo test || { echo no; exit 1; }"), ["cargo test", "|| echo no [Sequence]", "; exit 1 [Or]"]);
    assert_eq!(told("set -o pipefail; cargo test | tail")[1], "; cargo test");
    assert_eq!(told("set -e\ncargo test\nls")[1], "; cargo test");
    assert_eq!(told("! cargo test"), ["cargo test [Negated]"]);
    assert_eq!(told("cargo test | tail; exit ${PIPESTATUS[0]}")[0], "cargo test");
    let status = |text| Script::read(text).status;
    assert_eq!(status("cd a && cargo test | tail"), Some(2));
    assert_eq!(status("cargo test; exit $?"), Some(0));
    assert_eq!(status("cargo test &"), None);
    assert_eq!(status("(ls; cargo test)"), Some(1));
}

#[test]
fn other_shells_degrade() {
    let script =
        Script::read_as("Get-Content C:\\a\\b.txt | Select-Object -First 5; cargo test 2>$null", Dialect::PowerShell);
    let texts: Vec<Vec<&str>> =
        script.commands.iter().map(|it| it.words.iter().map(|word| word.text.as_ref()).collect()).collect();
    assert_eq!(
        texts,
        [vec!["Get-Content", "C:\\a\\b.txt"], vec!["Select-Object", "-First", "5"], vec!["cargo", "test"]]
    );
    let script = Script::read_as("if ($x) { rm a }", Dialect::PowerShell);
    assert!(!script.complete);
    let script = Script::read_as("dir a\\b & type c", Dialect::Cmd);
    assert_eq!(script.commands.len(), 2);
}

#[test]
fn paths_of_windows_keep_their_backslashes() {
    assert_eq!(words(r"cd c:\Apps\Lamp d:\a\ b c\d"), ["cd", r"c:\Apps\Lamp", r"d:\a b", "cd"]);
}

fn check_ranges(text: &str, dialect: Dialect) {
    let script = Script::read_as(text, dialect);
    let mut before = 0;
    for command in &script.commands {
        assert!(command.range.start >= before && command.range.end <= text.len(), "{text:?}");
        assert!(text.get(command.range.clone()).is_some(), "{text:?}");
        before = command.range.start;
        for word in command.words.iter().chain(&command.assignments) {
            assert!(text.get(word.range.clone()).is_some(), "{text:?}");
            assert!(word.range.start >= command.range.start && word.range.end <= command.range.end, "{text:?}");
        }
        for redirection in &command.redirections {
            let body = redirection.body.clone().unwrap_or(0..0);
            assert!(text.get(redirection.target.range.clone()).is_some() && text.get(body).is_some(), "{text:?}");
        }
    }
    assert!(script.status.is_none_or(|at| at < script.commands.len()), "{text:?}");
}

proptest! {
    #[test]
    fn any_text_is_read(text in "[ a-z>|&;$(){}'\"\\\\<\\n`#~*=!0-9é-]{0,120}") {
        check_ranges(&text, Dialect::Posix);
        check_ranges(&text, Dialect::PowerShell);
        check_ranges(&text, Dialect::Cmd);
    }

    #[test]
    fn any_tokens_are_read(tokens in prop::collection::vec(prop::sample::select(vec![
        "if", "then", "fi", "do", "done", "for", "x", "in", "case", "esac", ";;", "(", ")", "{", "}", "\n", ";", "&&",
        "||", "|", "<<EOF", "EOF\n", "EOF", "$(", "`", "\"", "'", "ls", "f()", "function", "[[", "]]", "((", "))",
        ">", "2>&1", "a=(", "\\", "é", "while", "else", "elif", "!", "<(", "${", "@'\n", "'@",
    ]), 0..40), glue in prop::sample::select(vec![" ", ""])) {
        let text = tokens.join(glue);
        check_ranges(&text, Dialect::Posix);
        check_ranges(&text, Dialect::PowerShell);
    }
}

/// Texts of 128 KiB that nest or repeat: a quadratic reader takes minutes.
#[test]
fn cost_is_linear() {
    let started = std::time::Instant::now();
    for part in [
        "(",
        "$(",
        "`",
        "{ ",
        "if a; then ",
        "case x in a) ",
        "f() ",
        "<<A ",
        "\"$(",
        "a && ",
        "a || ",
        "a | ",
        "a; ",
        "${",
        "<(",
        "x=(",
        "[[ ",
        "! ",
        "for x in a; do ",
        "'",
        "\\",
        "a\n",
        "exit $?; ",
        "$((",
        "cat <<A\nA\n",
        "a\"$x\"",
        "function ",
        "9",
        "a[",
        "\"`",
    ] {
        let text = part.repeat((1 << 17) / part.len());
        check_ranges(&text, Dialect::Posix);
        check_ranges(&text, Dialect::PowerShell);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
