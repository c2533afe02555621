use std::collections::HashSet;

use super::*;

/// Class, kind and key of a command of plain words, wrappers taken off.
fn told(command: &str) -> (String, String) {
    let action = crate::Action::of("Bash", command);
    let found = action.commands.iter().max_by_key(|command| command.class).unwrap();
    let class = found.check.map_or(found.class.name(), CheckKind::name);
    (class.to_owned(), found.key())
}

#[test]
fn the_table_is_sound() {
    toml::from_str::<ProgramFile>(include_str!("../../data/programs.toml")).unwrap();
    let mut seen = HashSet::new();
    let mut twice = Vec::new();
    for program in &TABLE.programs {
        for class in program.row.rules.keys() {
            assert!(Effect::named(class) != Effect::default(), "{}: {class}", program.name);
        }
        if let Some(class) = &program.row.default {
            assert!(class == "unknown" || Effect::named(class) != Effect::default(), "{}: {class}", program.name);
        }
        let names = program.row.names.split_ascii_whitespace().chain(program.row.same.split_ascii_whitespace());
        for name in names.chain([program.name]) {
            if !seen.insert(name) {
                twice.push(name);
            }
        }
        program.rules();
    }
    assert!(twice.is_empty(), "{twice:?}");
    assert!(TABLE.stems.len() > 50);
}

#[test]
fn classes() {
    let mut wrong = Vec::new();
    for (command, class, key) in [
        ("ls -la", "look", "ls"),
        ("git -C dir log --oneline", "git-look", "git log"),
        ("git branch", "git-look", "git branch"),
        ("git branch --list x", "git-look", "git branch --list"),
        ("git branch new", "git-change", "git branch"),
        ("git checkout -- a.rs", "destroy", "git checkout --"),
        ("git -c user.name=x commit -m 'a b'", "git-change", "git commit"),
        ("git push --dry-run", "git-look", "git push --dry-run"),
        ("git config user.name", "git-look", "git config"),
        ("git config user.name x", "git-change", "git config"),
        ("sudo timeout 60 cargo +nightly test -p auth", "test", "cargo test"),
        ("cargo t", "test", "cargo test"),
        ("RUST_LOG=debug cargo run", "run", "cargo run"),
        ("cargo fmt", "change", "cargo fmt"),
        ("cargo fmt --all -- --check", "format", "cargo fmt --check"),
        ("cargo clippy --all-targets -- -D warnings", "lint", "cargo clippy"),
        ("cargo clippy --fix", "change", "cargo clippy --fix"),
        ("npm test", "test", "npm test"),
        ("npm t", "test", "npm test"),
        ("npm run test", "test", "npm test"),
        ("npm run test:unit", "test", "npm run test:unit"),
        ("npm --prefix web run lint", "lint", "npm run lint"),
        ("npm run lint:fix", "change", "npm run lint:fix"),
        ("npm run lint -- --fix", "change", "npm run lint"),
        ("npm run format:check", "format", "npm run format:check"),
        ("npm run format", "change", "npm run format"),
        ("npm run dev", "run", "npm run dev"),
        ("npm run typecheck", "type", "npm run typecheck"),
        ("pnpm --filter x build", "build", "pnpm run build"),
        ("pnpm -r test", "test", "pnpm test"),
        ("yarn lint", "lint", "yarn run lint"),
        ("yarn", "install", "yarn"),
        ("bun test", "test", "bun test"),
        ("npx tsc --noEmit", "type", "tsc"),
        ("corepack pnpm run test", "test", "pnpm test"),
        ("corepack enable", "install", "corepack"),
        ("terse git commit -m x", "git-change", "git commit"),
        ("./terse cargo test -p auth", "test", "cargo test"),
        ("terse git", "unknown", "terse"),
        ("terse build/cargo test", "unknown", "terse"),
        ("npx -y prettier@3 --check .", "format", "prettier --check"),
        ("prettier --write .", "change", "prettier --write"),
        ("node_modules/.bin/eslint src", "lint", "eslint"),
        ("node --test", "test", "node --test"),
        ("uv run pytest -q", "test", "pytest"),
        ("python3 -m pytest tests", "test", "pytest"),
        ("python -m json.tool x.json", "look", "json.tool"),
        ("python tests/test_a.py", "test", "python tests/test_a.py"),
        ("pytest --collect-only", "look", "pytest --collect-only"),
        ("poetry run mypy src", "type", "mypy"),
        ("bundle exec rspec", "test", "rspec"),
        ("./gradlew build", "build", "gradle build"),
        ("./gradlew :app:testDebugUnitTest", "test", "gradle :app:testDebugUnitTest"),
        ("mvn -q clean verify", "check", "mvn clean verify"),
        ("go vet ./...", "lint", "go vet"),
        ("go -C api test ./...", "test", "go test"),
        ("make -C api test-unit", "test", "make test-unit"),
        ("make", "build", "make"),
        ("just check", "check", "just check"),
        ("mise run test:ci", "test", "mise run test:ci"),
        ("mise exec node@20 -- npm test", "test", "npm test"),
        ("docker compose run --rm api pytest", "test", "pytest"),
        ("docker ps", "look", "docker ps"),
        ("direnv exec . cargo test", "test", "cargo test"),
        ("nix develop -c cargo test", "test", "cargo test"),
        ("bash -lc 'cd x && cargo test'", "test", "cargo test"),
        ("powershell -NoProfile -Command \"cargo test\"", "test", "cargo test"),
        ("cmd /c npm test", "test", "npm test"),
        ("xargs -0 cargo test", "test", "cargo test"),
        ("./scripts/run-tests.sh", "test", "run-tests.sh"),
        ("./target/debug/tool x", "run", "tool"),
        ("sed -n 1,5p x", "look", "sed"),
        ("sed -i.bak s/a/b/ x", "change", "sed"),
        ("perl -pi -e s/a/b/ x", "change", "perl"),
        ("find . -name x -delete", "destroy", "find -delete"),
        ("sort -o a a", "change", "sort -o"),
        ("echo hi > out.txt", "change", "echo"),
        ("ls | tee list.txt", "change", "tee"),
        ("grep '=>' x 2>/dev/null", "look", "grep"),
        ("cat > /tmp/notes.md", "look", "cat"),
        ("rm -rf /tmp/x", "look", "rm"),
        ("rm -rf build", "destroy", "rm"),
        ("curl -s https://example.org", "network", "curl"),
        ("gh pr view 3 --json title", "network", "gh pr view"),
        ("gh api repos/a/b/pulls/1/merge -X PUT", "network", "gh api -X"),
        ("gh api graphql -f query='{ viewer { login } }'", "network", "gh api graphql -f"),
        ("tmp=$(mktemp -d)", "look", "mktemp"),
        ("terraform plan", "check", "terraform plan"),
        ("kubectl delete pod x", "destroy", "kubectl delete"),
        ("tar tzf x.tgz", "look", "tar tzf"),
        ("npm ci", "install", "npm ci"),
        ("command -v tool", "look", "command"),
        ("tool --help", "look", "tool"),
        ("tool push", "unknown", "tool"),
        ("$TOOL push", "unknown", ""),
        ("PYTHONPATH=. .venv/bin/python -m mypy .", "type", "mypy"),
    ] {
        let found = told(command);
        if found != (class.to_owned(), key.to_owned()) {
            wrong.push(format!("{command}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
