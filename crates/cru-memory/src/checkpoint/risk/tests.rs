use proptest::prelude::*;

use super::*;

fn risk(command: &str, cwd: &Path) -> Option<Risk> {
    of_command("Bash", command, CallPlace { cwd, home: Some(Path::new("/home/ann")) })
}

fn world() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let files = [
        "data/a.txt",
        "data/.hidden",
        "data/sub/a.txt",
        "src/x.rs",
        "one.log",
        "two.log",
        "app.db",
        "branch/f",
        "a b.txt",
    ];
    for path in files {
        cru_base::files::create(&temp.path().join(path), b"x").unwrap();
    }
    temp
}

/// What is named, and what is written anew behind `>`.
fn told(risk: &Risk, root: &Path) -> String {
    let short = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut words: Vec<String> = risk.named.iter().map(short).collect();
    words.extend(risk.overwritten.iter().map(|path| format!(">{}", short(path))));
    if let Some(worktree) = &risk.worktree {
        let paths: Vec<String> = worktree.paths.iter().map(short).collect();
        let flag = |is: bool, word: &'static str| if is { word } else { "" };
        let flags = [flag(worktree.changed, "c"), flag(worktree.untracked, "u"), flag(worktree.ignored, "i")].concat();
        words.push(format!("git:{flags}({})", paths.join(",")));
    }
    words.extend((!risk.refs.is_empty()).then(|| "refs".to_owned()));
    words.extend(risk.elsewhere.then(|| "elsewhere".to_owned()));
    words.extend((!risk.unknown.is_empty()).then(|| "unknown".to_owned()));
    words.join(" ")
}

#[test]
fn commands_that_take_something_away() {
    let temp = world();
    let rows = [
        ("rm -rf data && git reset --hard && git clean -fdx", "data git:cui() refs"),
        ("cd data && rm a.txt", "data/a.txt"),
        ("rm *.log", "one.log two.log"),
        ("rm */*.txt", "data/a.txt"),
        ("rm data/*", "data/a.txt data/sub"),
        ("rm {one,two}.log", "one.log two.log"),
        ("D=data; rm -rf \"$D\"", "data"),
        ("for f in one two; do rm $f.log; done", "one.log two.log"),
        ("rm -- 'a b.txt'", "a b.txt"),
        ("sudo rm -rf data", "data"),
        ("env X=1 timeout 5 rm one.log", "one.log"),
        ("bash -c 'rm -rf data'", "data"),
        ("find data -name '*.txt' -delete", "data/a.txt data/sub/a.txt"),
        ("find . -name '*.log' -exec rm {} \\;", "one.log two.log"),
        ("find data -type f -print0 | xargs -0 rm", "unknown"),
        ("ls | xargs rm -f", "unknown"),
        ("cd \"$X\" && rm y", "unknown"),
        ("echo > app.db", ">app.db"),
        ("echo x >> app.db", ""),
        ("echo x > new.txt", ""),
        ("cat one.log | tee app.db", ">app.db"),
        ("cp one.log two.log", ">two.log"),
        ("cp -r src data", ""),
        ("mv one.log data/a.txt", ">data/a.txt"),
        ("mv data/a.txt data/sub", ">data/sub/a.txt"),
        ("mv one.log elsewhere.log", ""),
        ("truncate -s 0 app.db", ">app.db"),
        ("dd if=/dev/zero of=app.db", ">app.db"),
        ("sed -i s/a/b/ src/x.rs", ">src/x.rs"),
        ("sed -n 1,5p src/x.rs", ""),
        ("perl -pi -e 's/a/b/' src/x.rs", ">src/x.rs"),
        ("rsync -a --delete src/ data/", "data"),
        ("shred -u app.db", "app.db"),
        ("curl -o app.db https://example.org", ">app.db"),
        ("sqlite3 app.db 'drop table users'", ">app.db"),
        ("echo 'DELETE FROM users;' | sqlite3 app.db", ">app.db"),
        ("sqlite3 app.db 'select 1'", ""),
        ("psql -c 'DROP TABLE users'", "elsewhere"),
        ("docker volume rm x", "elsewhere"),
        ("docker exec web rm -rf data", "elsewhere"),
        ("python3 -c \"import shutil; shutil.rmtree('data')\"", "data"),
        ("python3 - <<'EOF'\nimport os\nos.remove('one.log')\nEOF\n", "one.log"),
        ("python3 -c \"open('app.db', 'w')\"", ">app.db"),
        ("python3 -c \"print(open('app.db').read())\"", ""),
        ("node -e \"require('fs').rmSync('data', {recursive: true})\"", "data"),
        ("git checkout -- src/x.rs", "git:c(src/x.rs)"),
        ("git checkout src/x.rs", "git:c(src/x.rs)"),
        ("git checkout main", ""),
        ("git checkout -- .", "git:c()"),
        ("git restore .", "git:c()"),
        ("git restore --staged .", ""),
        ("git -C src reset --hard", "git:c() refs"),
        ("git stash", "git:c()"),
        ("git stash -u", "git:cu()"),
        ("git stash list", ""),
        ("git stash drop", "refs"),
        ("git branch -D branch", "refs"),
        ("git branch -d branch", ""),
        ("git -C src branch --show-current", ""),
        ("git tag -d v1", "refs"),
        ("git push origin +main", "refs"),
        ("git push --force", "refs"),
        ("git push", ""),
        ("git rebase main", "git:c() refs"),
        ("git rebase --abort", "git:c()"),
        ("git merge --abort", "git:c()"),
        ("git rm -r data", "data"),
        ("git rm --cached one.log", ""),
        ("git worktree remove --force branch", "branch"),
        ("git clean -n", ""),
        ("git reflog expire --expire=now --all && git gc --prune=now", "refs"),
        ("git update-ref -d refs/heads/x", "refs"),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: one.log\n*** End Patch\nEOF\n", "one.log"),
        ("pwsh -c 'Remove-Item -Recurse data'", "data"),
        ("rm /tmp/x.log", ""),
        ("rm -f not-there", ""),
        ("cargo test 2>/dev/null", ""),
        ("echo rm -rf data", ""),
        ("git commit -am x", ""),
    ];
    let mut wrong = Vec::new();
    for (command, expected) in rows {
        let is = risk(command, temp.path()).map(|risk| told(&risk, temp.path())).unwrap_or_default();
        // A path that is the working folder itself has no name.
        if is != expected {
            wrong.push(format!("{command}\n    is       {is}\n    expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(risk("rm  -rf   data", temp.path()).unwrap().title, "before `rm -rf data`");
    assert_eq!(risk("git -C src reset --hard", temp.path()).unwrap().folder, Some(temp.path().join("src")));
}

#[test]
fn tools_that_take_something_away() {
    let temp = world();
    let place = CallPlace { cwd: temp.path(), home: None };
    let watched = |path: &Path| path.starts_with("src");
    let call = |tool: &str, input: Value| {
        of_call(tool, input.as_object().unwrap(), place, &watched)
            .map(|risk| told(&risk, temp.path()))
            .unwrap_or_default()
    };
    let path = |path: &str| serde_json::json!({ "file_path": path });
    assert_eq!(call("delete_file", path("app.db")), "app.db");
    assert_eq!(call("Edit", path("src/x.rs")), "src/x.rs");
    assert_eq!(call("Edit", path("app.db")), "");
    assert_eq!(call("Read", path("src/x.rs")), "");
    assert_eq!(call("Write", path("app.db")), ">app.db");
    assert_eq!(call("Write", path("new.txt")), "");
    assert_eq!(call("mcp__fs__delete_file", serde_json::json!({ "path": "app.db" })), "app.db");
    assert_eq!(call("mcp__github__delete_repository", serde_json::json!({ "owner": "x" })), "elsewhere");
    assert_eq!(call("mcp__fs__write_file", serde_json::json!({ "path": "app.db" })), ">app.db");
    assert_eq!(call("move_file", serde_json::json!({ "source": "one.log", "destination": "app.db" })), ">app.db");
    assert_eq!(call("mcp__fs__read_file", serde_json::json!({ "path": "app.db" })), "");
    let patch = "*** Begin Patch\n*** Delete File: one.log\n*** Add File: two.log\n+x\n*** End Patch\n";
    assert_eq!(call("apply_patch", serde_json::json!({ "input": patch })), "one.log >two.log");
}

proptest! {
    #[test]
    fn total(command in "\\PC{0,60}|(rm|git clean|find|cd|&&|;|\\$\\(|\\*|\\.\\.|/| |-rf|\\[|\\{|,|\\}|\\$\\{?X\\}?|X=\\$X){0,20}") {
        let _ = risk(&command, Path::new("/nowhere/at/all"));
    }
}
