//! Skills and slash commands that `cru workflow export` writes, judged by the programs of the hosts that read them:
//! `claude plugin validate` and `gemini skills install`, and `agentskills validate`, the reference of the format. All three
//! work without a network.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Workflows whose titles, heads and words are hard for a frontmatter.
const WORKFLOWS: [(&str, &str); 3] = [
    (
        "plain",
        "---\ntype: workflow\ntitle: Merge the parent\n---\n# Merge the parent\n\nFor: change of Go files, checked with `go test`\n\
         Inputs: `<branch>` (ann/red); `<pr>` (7)\nDone when: `go test ./...` passes\nOpen at the end: not recorded\n\n\
         ## Find it @a\n\n> [!gate] The person names the branch\n> By name.\n\n- `git fetch origin <branch>`\n- Mind: not main\n\n\
         ## Merge it @a !\n\nbranch → merged\n\n```sh\ngit merge \\\n  x\n```\n\n## Validation\n\n- `go test ./...` — passes\n",
    ),
    (
        "odd",
        "---\ntype: workflow\ntitle: 'fix(api): \"no\" — <b> & [x] #3: {y} | *z* 🍻'\n---\n# fix(api): \"no\" — \\<b> & [x] #3: {y}\n\n\
         ## - yes: no @a\n\n- `echo '---'`\n- Agent: it says: \"---\"\n\n> ---\n> name: other\n\n## ünïcödé 不要删除测试 @a\n\n- `true`\n",
    ),
    (
        "long",
        "---\ntype: workflow\ntitle: A very long title that goes on and on about pumps, valves, hoses, seals, pipes and all the rest of the machine room in the cellar\n---\n\
         # A very long title that goes on and on about pumps, valves, hoses, seals, pipes and all the rest of the machine room in the cellar\n\n\
         ## Goals\n\n- every valve of the pump is taken out, cleaned, greased, put back and listened to for a whole night\n\n## Work @a\n\n- `make`\n",
    ),
];

/// Where a program lies.
fn found(program: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test looks for programs as a shell does")]
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Runs a host's program in a home of its own; what it says where it finds fault.
fn judge(program: &Path, home: &Path, args: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(home).env("HOME", home).env("CI", "1").stdin(std::process::Stdio::null());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    // One of them ends well whatever it found, and says so only where it took a skill.
    let installs = args.contains(&"install");
    let is_taken = output.status.success() && (!installs || said.contains("Successfully installed"));
    if is_taken { Ok(()) } else { Err(said) }
}

#[test]
#[ignore = "needs two of the programs claude, gemini, agentskills on PATH"]
fn hosts_take_the_skills() {
    let hosts: Vec<(&str, PathBuf)> =
        ["claude", "gemini", "agentskills"].into_iter().filter_map(|it| Some((it, found(it)?))).collect();
    for absent in ["claude", "gemini", "agentskills"].iter().filter(|it| !hosts.iter().any(|(name, _)| name == *it)) {
        println!("{absent} is not on PATH: it judged nothing");
    }
    assert!(hosts.len() > 1, "two of the programs claude, gemini, agentskills have to be on PATH");
    let dir = tempfile::tempdir().unwrap();
    let (vault, home, plugin) = (dir.path().join("vault"), dir.path().join("home"), dir.path().join("plugin"));
    let put = |path: &Path, text: &str| assert!(cru::base::files::create(path, text.as_bytes()).unwrap());
    put(&vault.join(".cru/config.toml"), "");
    put(&home.join(".profile"), "");
    put(
        &plugin.join(".claude-plugin/plugin.json"),
        "{\"name\":\"made\",\"version\":\"0.1.0\",\"description\":\"Made.\",\"author\":{\"name\":\"Ann\"}}",
    );
    put(&plugin.join("commands/.keep"), "");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(&vault).env("HOME", &home).env("NO_COLOR", "1").env_remove("CRU_VAULT");
        let output = command.env("XDG_STATE_HOME", dir.path().join("state")).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let skills = plugin.join("skills");
    for (name, text) in WORKFLOWS {
        put(&vault.join(format!("workflows/{name}.md")), text);
        run(&["workflow", "export", name, "--to", "skill", "-o", skills.to_str().unwrap()]);
        let command = plugin.join(format!("commands/{name}.md"));
        run(&["workflow", "export", name, "--to", "command", "-o", command.to_str().unwrap()]);
    }
    let folders: Vec<PathBuf> = std::fs::read_dir(&skills).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(folders.len(), WORKFLOWS.len());
    for (name, program) in &hosts {
        let verdicts: Vec<Result<(), String>> = match *name {
            "claude" => vec![judge(program, &home, &["plugin", "validate", "--strict", plugin.to_str().unwrap()])],
            "gemini" => folders
                .iter()
                .map(|it| judge(program, &home, &["skills", "install", it.to_str().unwrap(), "--consent"]))
                .collect(),
            _ => folders.iter().map(|it| judge(program, &home, &["validate", it.to_str().unwrap()])).collect(),
        };
        for verdict in verdicts {
            assert_eq!(verdict, Ok(()), "{name}");
        }
    }
    // They do judge: what is no skill is refused.
    let broken = dir.path().join("broken/skills/broken");
    put(&broken.join("SKILL.md"), "---\nname: [x\n---\nhi\n");
    put(&dir.path().join("broken/.claude-plugin/plugin.json"), "{\"name\":\"made\",\"version\":\"0.1.0\"}");
    for (name, program) in &hosts {
        let folder = if *name == "claude" { dir.path().join("broken") } else { broken.clone() };
        let folder = folder.to_str().unwrap();
        let refused = match *name {
            "claude" => judge(program, &home, &["plugin", "validate", folder]),
            "gemini" => judge(program, &home, &["skills", "install", folder, "--consent"]),
            _ => judge(program, &home, &["validate", folder]),
        };
        assert!(refused.is_err(), "{name} takes anything");
    }
}
