use super::table::FILE;
use super::*;
use crate::Action;

#[test]
fn the_table_can_be_read() {
    let file: Result<super::table::LossFile, _> = toml::from_str(include_str!("../../data/losses.toml"));
    assert!(file.is_ok(), "{file:?}");
    assert!(FILE.loss.len() > 20);
}

fn losses(text: &str) -> Vec<Loss> {
    let action = Action::of("Bash", text);
    action.losses().into_iter().map(|(_, loss)| loss).collect()
}

#[test]
fn words_that_are_lost() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(losses("rm -rf a -- -b"), [Loss::Removed(words(&["a", "-b"]))]);
    assert_eq!(losses("cp -t dir a b"), [Loss::Onto(words(&["a", "b", "dir"]))]);
    assert_eq!(losses("x > a 2> b 2>&1 >> c"), [Loss::Overwritten(words(&["a", "b"]))]);
    for script in ["s/a/b/", "'' s/a/b/", "-e s/a/b/", "--expression=s/a/b/", "-f script.sed"] {
        assert_eq!(losses(&format!("sed -i {script} a b")), [Loss::Overwritten(words(&["a", "b"]))], "{script}");
    }
    assert_eq!(losses("dd if=a of=b"), [Loss::Overwritten(words(&["b"]))]);
    assert_eq!(losses("curl -ofile https://x"), [Loss::Overwritten(words(&["file"]))]);
    assert_eq!(losses("rsync -a --delete a/ host:b/"), []);
    assert_eq!(losses("git worktree remove -f ../w"), [Loss::Removed(words(&["../w"]))]);
    assert_eq!(losses("kubectl delete pod x"), [Loss::Elsewhere]);
    assert_eq!(losses("curl -sSLo file https://x"), [Loss::Overwritten(words(&["file"]))]);
    for text in ["bash <<'EOF'\nrm -rf a\nEOF\n", "sh -s <<EOF\nrm -rf a\nEOF\n", "bash -euo pipefail -c 'rm -rf a'"] {
        assert!(losses(text).contains(&Loss::Removed(words(&["a"]))), "{text}: {:?}", losses(text));
    }
    for text in ["echo 'rm -rf a' | sh", "grep -rl x src | xargs sed -i s/a/b/", "ls | xargs -n1 perl -pi -e s/a/b/"] {
        assert!(losses(text).contains(&Loss::Anything), "{text}: {:?}", losses(text));
    }
    for text in ["python3 -c \"p = Path('n.txt'); p.write_text('')\"", "python3 -c \"f='n.txt'; open(f, 'w')\""] {
        let all = losses(text);
        assert!(matches!(&all[..], [Loss::Overwritten(files)] if files.contains(&"n.txt".to_owned())), "{all:?}");
    }
    let cleaned = losses("git clean -fdx -e node_modules");
    assert!(matches!(&cleaned[..], [Loss::Worktree(it)] if it.paths.is_empty() && it.ignored), "{cleaned:?}");
    for harmless in [
        "bash x.sh",
        "cat x.sh | bash -n",
        "find . | xargs grep x",
        "git stash pop",
        "git push -u origin main",
        "cp -n a b",
        "tee -a x",
        "docker ps",
        "sort x",
        "git gc",
        "find . -name x",
    ] {
        assert_eq!(losses(harmless), [], "{harmless}");
    }
}

#[test]
fn paths_that_are_named_as_changed() {
    for (text, wanted) in [
        ("cd docs && sed -i s/a/b/ n.md", &["/p/api/docs/n.md"][..]),
        ("npx prettier --write ./src/a.ts > log", &["/p/api/log", "/p/api/src/a.ts"]),
        ("git -C web checkout -- a.ts > log", &["/p/api/log", "/p/api/web/a.ts/"]),
        ("cat a >> b", &["/p/api/b"]),
        ("cat a | tee -a ../b", &["/p/b"]),
        ("cp a.md b/c.md docs", &["/p/api/docs", "/p/api/docs/a.md/", "/p/api/docs/c.md/"]),
        ("cp -n a b", &["/p/api/b", "/p/api/b/a/"]),
        ("mv a b", &["/p/api/a/", "/p/api/b", "/p/api/b/a/"]),
        ("rsync -a --delete x/ y/", &["/p/api/y/"]),
        ("rm -r dist", &["/p/api/dist/"]),
        ("(cd a && touch x); touch y ~/z", &["/p/api/a/x", "/p/api/y", "~/z"]),
        ("cd $DIR && touch x", &[]),
        ("python main.py && ./run x && curl -d @f https://x && grep y z", &[]),
        ("git add a && git commit -m 'Mend a'", &[]),
        ("npm install x", &[]),
    ] {
        let mut found = Action::of("Bash", text).named_changes("/p/api");
        found.sort();
        found.dedup();
        assert_eq!(found, wanted, "{text}");
    }
    assert_eq!(Action::of("Bash", &"touch a b;".repeat(20_000)).named_changes("").len(), crate::action::MAX_FILES);
}

proptest::proptest! {
    #[test]
    fn any_text_has_its_answer(text in "(rm |git |find |-exec |\\{\\} |; |-delete |python -c |'|\"|rmtree\\(|open\\(|sqlite3 |DROP TABLE |> |-|\\PC){0,30}") {
        let _ = losses(&text);
        let _ = Action::of("Bash", &text).named_changes("/p");
    }
}
