use proptest::prelude::*;

use super::*;

#[test]
fn the_whole_call() {
    for (tool, args, class, reads_only) in [
        ("Bash", "cd x && git log | head", Class::GitLook, true),
        ("Bash", "cargo test; git status", Class::Check, false),
        ("Bash", "cargo fmt && cargo test", Class::Change, false),
        ("Bash", "git add . && git commit -m x && rm -rf y", Class::Destroy, false),
        ("Bash", "ls > files.txt", Class::Change, false),
        ("Bash", "ls 2>/dev/null", Class::Look, true),
        ("Bash", "echo $(rm x)", Class::Destroy, false),
        ("Bash", "echo `rm x`", Class::Destroy, false),
        ("Bash", "ls & pwd", Class::Look, false),
        ("Bash", "ls 'open", Class::Look, false),
        ("Bash", "unheard-of x", Class::Unknown, false),
        ("Bash", "gh pr view 1", Class::Network, true),
        ("Bash", "gh api graphql -f query='{ viewer { login } }'", Class::Network, true),
        ("Bash", "gh api graphql -f query='mutation { x }'", Class::Network, false),
        ("Bash", "curl -s https://example.org/health", Class::Network, true),
        ("Bash", "curl -o data.csv https://example.org/data.csv", Class::Network, false),
        ("Bash", "uniq a b", Class::Change, false),
        ("Bash", "", Class::Unknown, false),
        ("Execute", "cargo test", Class::Check, false),
        ("Shell", "docker ps", Class::Look, true),
        ("shell", r#"["bash","-lc","make test"]"#, Class::Check, false),
        ("Read", "src/a.rs", Class::Look, true),
        ("Edit", "src/a.rs", Class::Change, false),
        ("WebFetch", "https://example.org", Class::Network, true),
        ("mcp__db__frob", "{}", Class::Unknown, false),
    ] {
        let action = Action::of(tool, args);
        assert_eq!((action.class(), action.is_read_only()), (class, reads_only), "{tool} {args}");
    }
}

#[test]
fn checks_and_what_hides_them() {
    let told = |args: &str| -> Vec<(String, Option<Hidden>)> {
        Action::of("Bash", args).checks().map(|check| (check.key(), check.hidden())).collect()
    };
    assert_eq!(told("cd x && cargo test"), [("cargo test".to_owned(), None)]);
    assert_eq!(told("cargo test 2>&1 | tail -3"), [("cargo test".to_owned(), Some(Hidden::Pipe))]);
    assert_eq!(
        told("npm run lint && npm test || true"),
        [("npm run lint".to_owned(), Some(Hidden::Or)), ("npm test".to_owned(), Some(Hidden::Or))]
    );
    assert_eq!(told("bash -c 'pytest -q | tail'"), [("pytest".to_owned(), Some(Hidden::Pipe))]);
    assert_eq!(told("bash -c \"pytest \\\"a\\\"\" | cat"), [("pytest".to_owned(), Some(Hidden::Pipe))]);
    let action = Action::of("Bash", "npx tsc --noEmit | grep -i pump");
    assert_eq!(action.status.map(|at| action.text(&action.commands[at])), Some("grep -i pump"));
}

#[test]
fn other_languages_claim_nothing() {
    let action = Action::of("PowerShell", "cargo test; $rows = (Get-Content a).Count; \"rows: $rows\"");
    let told: Vec<_> = action.commands.iter().map(|command| (command.program.as_ref(), command.class)).collect();
    assert_eq!(told, [("cargo", Class::Check), ("", Class::Unknown), ("", Class::Unknown)]);
    assert!(!action.complete && !action.is_read_only());
}

#[test]
fn git_and_patches() {
    assert!(Action::of("Bash", "cd a && git -C b commit -m x && git push").pushes());
    for (pushes, command) in [
        (true, "git push origin HEAD:main refs/notes/ai"),
        (true, "git push -u origin +topic"),
        (true, "git push origin refs/tags/v1"),
        (true, "git push origin refs/remotes/upstream/main:refs/heads/main"),
        (true, "git push --tags origin :old"),
        (true, "git push -o ci.skip origin"),
        (true, "git push origin :"),
        (false, "git push -o ci.skip origin refs/notes/ai"),
        (false, "git push origin refs/notes/ai"),
        (false, "git push origin :old"),
        (false, "git push --delete origin old"),
    ] {
        assert_eq!(Action::of("Bash", command).pushes(), pushes, "{command}");
    }
    assert!(Action::of("Bash", "git -c a=b commit -m x").commits());
    assert!(!Action::of("Bash", "echo 'git commit'; git commit --dry-run").commits());
    assert!(Action::of("Bash", "gh pr create -t x").publishes());
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let text = format!("cd sub && apply_patch <<'EOF'\n{patch}\nEOF");
    assert_eq!(Action::of("shell", &text).only_patch(), Some(patch));
    assert_eq!(Action::of("shell", &format!("cat <<'EOF'\n{patch}\nEOF")).only_patch(), None);
}

#[test]
fn files_that_are_written() {
    let told = |args: &str| -> Vec<String> {
        let action = Action::of("Bash", args);
        action.writes().iter().filter(|write| write.certain).map(|write| write.path.clone()).collect()
    };
    for (command, files) in [
        ("echo hi >>logs/a.log 2>&1", &["logs/a.log"][..]),
        ("make &> build.log && cat build.log", &["build.log"]),
        ("ls | tee -a one.txt two.txt | wc -l", &["one.txt", "two.txt"]),
        ("echo 'a > b' > 'my file'", &["my file"]),
        ("cd /tmp && echo x > /tmp/y", &["/tmp/y"]),
        ("cat > a.txt <<'EOF'\nb > c\n$x tee d\nEOF\necho z > e.txt", &["a.txt", "e.txt"]),
        ("echo x > $OUT; echo y > \"$DIR/z\"; echo x > *.txt", &[]),
        ("cd sub && echo x > out.txt", &[]),
        ("test -f a || echo x > a", &[]),
        ("if true; then echo > y; fi", &[]),
        ("git commit -m \"$(cat <<'EOF'\na -> b\nEOF\n)\"", &[]),
        ("test -f a && echo x > b; echo done", &[]),
        ("test -f a && echo x > b", &["b"]),
        ("echo 'open > x", &[]),
        ("cd /a && make >/tmp/x 2>/tmp/y || true && cat /tmp/x", &[]),
        ("test -f a && ls | tee b; echo done", &[]),
        ("test -f a || ls | tee b", &[]),
        ("set -e; test -f a && echo x > b; echo done", &[]),
        ("test -f a || bash -c 'echo x > b.txt'", &[]),
        ("cd sub && bash -c 'echo x > c.txt'", &[]),
        ("bash -c 'echo x > d.txt'", &["d.txt"]),
        ("make > a 2>&1 || true; echo x | sort && echo y > b", &["a", "b"]),
    ] {
        assert_eq!(told(command), files, "{command}");
    }
}

#[test]
fn files_that_are_printed() {
    let told = |args: &str| -> Vec<(String, Lines)> {
        let action = Action::of("Bash", args);
        action.reads().iter().map(|read| (read.path.clone(), read.lines)).collect()
    };
    for (command, path, lines) in [
        ("cat src/a.rs", "src/a.rs", Lines::From(1, None)),
        ("sed -n '10,25p' src/a.rs", "src/a.rs", Lines::From(10, Some(25))),
        ("nl -ba 'a b' | sed -n '10,20p'", "a b", Lines::From(10, Some(20))),
        ("sed -n '10,200p' f | head -50", "f", Lines::From(10, Some(59))),
        ("head -n 5 f", "f", Lines::From(1, Some(5))),
        ("tail -n +7 f", "f", Lines::From(7, None)),
        ("tail -3 f", "f", Lines::Last(3)),
    ] {
        assert_eq!(told(command), [(path.to_owned(), lines)], "{command}");
    }
    for command in ["cat a b", "cat *.rs", "cat a | grep x", "sed s/a/b/ f", "cat $X", "cat a > b", "head -c 5 f"] {
        assert_eq!(told(command), [], "{command}");
    }
}

proptest! {
    #[test]
    fn any_call_is_read(args in "[ a-z>|&;$(){}'\"\\\\<\\n`#~*=!0-9é-]{0,80}") {
        for tool in ["Bash", "PowerShell", "Edit"] {
            let action = Action::of(tool, &args);
            for command in &action.commands {
                assert!(args.get(command.range.clone()).is_some());
                let _ = (command.key(), command.is_named_look());
            }
            let _ = (action.class(), action.is_read_only(), action.commits(), action.patch_text());
        }
    }

    #[test]
    fn any_words_are_read(words in prop::collection::vec(prop::sample::select(vec![
        "sudo", "env", "A=1", "npx", "bash", "-lc", "-c", "'bash -c \"ls\"'", "cargo", "test", "--", "git", "-C", "x",
        "commit", "npm", "run", "lint", "timeout", "60", "uv", "docker", "compose", "exec", "python", "-m", "pytest", "é",
        "xargs", "eval", "cmd", "/c", "|", "&&", "nix", "make", "mise",
    ]), 0..14)) {
        let args = words.join(" ");
        let action = Action::of("Bash", &args);
        let _ = (action.class(), action.checks().count());
    }
}

/// Calls of 64 KiB that nest or repeat: a quadratic reader takes minutes.
#[test]
fn cost_is_linear() {
    let started = std::time::Instant::now();
    let count = std::cell::Cell::new(0);
    let numbered = |part: &str| {
        count.set(count.get() + 1);
        format!("{part}{} ", count.get())
    };
    for part in
        ["bash -c '", "eval ", "sudo ", "env A=1 ", "> f", "tee f", "git -C ", "make a-", "cat a; ", "xargs ", "npx "]
    {
        let mut args = String::new();
        while args.len() < 1 << 16 {
            args.push_str(&numbered(part));
        }
        for text in [args.clone(), args.replace(' ', "\n"), part.repeat(args.len() / part.len())] {
            let _ = Action::of("Bash", &text).is_read_only();
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn the_program_behind_a_wrapper_counts() {
    let wrappers = [
        "rtk",
        "sudo",
        "sudo -u dev",
        "doas",
        "time",
        "nice -n 5",
        "nohup",
        "env X=1",
        "env -u A B=2",
        "timeout 60",
        "uv run",
        "uv run --",
        "uvx --from x",
        "poetry run",
        "pipenv run",
        "pdm run",
        "hatch run",
        "rye run",
        "pixi run",
        "conda run -n x",
        "mamba run -n x",
        "micromamba run -n x",
        "npx",
        "npx --no-install",
        "bunx",
        "bun x",
        "pnpm exec",
        "pnpm dlx",
        "yarn exec",
        "yarn dlx",
        "npm exec --",
        "mise exec --",
        "mise x --",
        "asdf exec",
        "direnv exec .",
        "devbox run --",
        "nix develop -c",
        "nix develop --command",
        "nix shell nixpkgs#x -c",
        "bundle exec",
        "rbenv exec",
        "pyenv exec",
        "nodenv exec",
        "fnm exec --",
        "volta run",
        "dotenv --",
        "dotenvx run --",
        "op run --",
        "doppler run --",
        "infisical run --",
        "aws-vault exec prod --",
        "cross-env X=1",
        "xvfb-run -a",
        "stdbuf -oL",
        "watchexec --",
        "flatpak-spawn --host",
        "distrobox enter x --",
        "toolbox run",
        "devcontainer exec --workspace-folder .",
        "caffeinate -i",
        "ionice -c 3",
        "chronic",
        "command",
        "exec",
        "strace -f -o out",
    ];
    let keys: Vec<String> = wrappers
        .iter()
        .map(|wrapper| {
            let text = format!("{wrapper} pytest -q");
            let action = Action::of("Bash", &text);
            let last = action.commands.last().map(Command::key).unwrap_or_default();
            format!("{wrapper} = {last}")
        })
        .filter(|line| !line.ends_with("= pytest"))
        .collect();
    assert_eq!(keys, [""; 0]);
}

#[test]
fn what_mends_files_is_no_check() {
    let fixers = [
        "eslint --fix .",
        "npx eslint --fix .",
        "ruff check --fix",
        "ruff check --fix-only .",
        "ruff check . --fix",
        "cargo clippy --fix",
        "cargo fmt",
        "prettier --write .",
        "prettier -w .",
        "biome check --write",
        "biome check --apply .",
        "stylelint --fix a.css",
        "rubocop -a",
        "rubocop -A",
        "rubocop --autocorrect",
        "golangci-lint run --fix",
        "shfmt -w a.sh",
        "swiftlint --fix",
        "swiftformat .",
        "ktlint -F",
        "ktlint --format",
        "php-cs-fixer fix",
        "standardrb --fix",
        "dart fix --apply",
        "markdownlint --fix a.md",
        "markdownlint-cli2 --fix a.md",
        "typos -w",
        "codespell -w",
        "black .",
        "isort .",
        "gofmt -w .",
        "goimports -w .",
        "end-of-file-fixer a",
        "trailing-whitespace-fixer a",
        "mixed-line-ending --fix=lf a",
        "pretty-format-json --autofix a",
        "oxlint --fix",
        "deno fmt",
        "terraform fmt",
        "mix format",
        "next lint --fix",
        "standard --fix",
        "xo --fix",
        "sqlfluff fix",
        "djlint --reformat .",
        "taplo fmt",
        "buf format -w",
        "pint",
        "ansible-lint --fix",
        "yamlfix a.yml",
        "clang-format -i a.c",
        "clang-tidy --fix a.c",
        "autoflake -i a.py",
        "pyupgrade a.py",
        "vendor/bin/phpcbf",
        "rector process",
    ];
    let checks: Vec<&str> = fixers.into_iter().filter(|text| Action::of("Bash", text).is_check()).collect();
    assert_eq!(checks, [""; 0]);
    let unknown: Vec<&str> =
        fixers.into_iter().filter(|text| Action::of("Bash", text).commands[0].class != Class::Change).collect();
    assert_eq!(unknown, [""; 0]);
}

/// "Nothing found" is an answer of the program whose status is that of the call.
#[test]
fn some_statuses_are_answers() {
    for (command, answers) in [
        ("grep -rn x src", true),
        ("cargo build 2>&1 | grep error", true),
        ("npx tsc --noEmit | rg 'src/a'", true),
        ("git -C /x diff --exit-code", true),
        ("git diff --quiet -- a.c", true),
        ("test -f a && [ -d b ]", true),
        ("command -v deno", true),
        ("diff -u a b", true),
        ("git diff a b", false),
        ("git push", false),
        ("grep x a | xargs rm", false),
        ("cargo test", false),
        ("command rm x", false),
        ("type a.txt", false),
        ("ls x", false),
    ] {
        assert_eq!(Action::of("Bash", command).answers(1), answers, "{command}");
        assert!(!Action::of("Bash", command).answers(2), "{command}");
    }
    assert!(!Action::of("Read", "grep").answers(1));
}

/// What a script does besides what its name says is not known.
#[test]
fn what_only_a_name_of_a_file_says() {
    for (command, by_file) in [
        ("./scripts/check-all.sh", true),
        ("python3 tests/test_pump.py", true),
        ("cargo test", false),
        ("./gradlew test", false),
        ("npm run check", false),
        ("python3 -m pytest tests/test_pump.py", false),
    ] {
        let action = Action::of("Bash", command);
        assert!(action.is_check(), "{command}");
        assert_eq!(action.commands[0].by_file, by_file, "{command}");
    }
}
