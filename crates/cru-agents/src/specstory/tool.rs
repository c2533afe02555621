//! Blocks of tools, in each of the forms that histories have.

use serde_json::{Value, json};

use cru_action::ToolKind;

use crate::call::brief;
use crate::file::markdown::Fences;

/// What a block tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// What its step shows.
    pub(super) input: Value,
    /// What it is known to have printed.
    pub(super) output: Option<String>,
    /// A few words of the history's own about the answer.
    pub(super) brief: Option<String>,
    /// A file that it was given.
    pub(super) path: Option<String>,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Whether it says itself that it came to nothing.
    pub(super) failed: bool,
}

/// What a tool is called whose block does not name it: a tool that is not known, of which nothing is claimed.
const UNNAMED: &str = "tool";

/// Old forms: how the summary begins, the tool, and the argument that what follows is.
const OLD: &[(&str, &str, &str)] = &[
    ("Searched codebase ", "codebase_search", "query"),
    ("Listed directory ", "list_dir", "path"),
    ("Listed current directory", "list_dir", "path"),
    ("Grep search for ", "grep_search", "query"),
    ("Grep for ", "grep_search", "query"),
    ("Edit file: ", "edit_file", "path"),
    ("Read file: ", "read_file", "path"),
    ("Run command: ", "run_terminal_cmd", "command"),
    ("Searched files ", "file_search", "query"),
    ("Searched web ", "web_search", "query"),
];

/// What the summary of a block says: `Searched codebase "x" • **25** results`, perhaps behind the tool, `Tool use: **y** • `.
pub(super) fn summary(line: &str) -> Option<(&'static str, &'static str, &str)> {
    let rest = line.split_once("<summary>").map(|(_, rest)| rest);
    let rest = rest.or_else(|| line.starts_with("Read file: ").then_some(line))?;
    let text = rest.split("</summary>").next().unwrap_or(rest).trim();
    let text =
        text.strip_prefix("Tool use: **").and_then(|text| text.split_once("** • ")).map_or(text, |(_, said)| said);
    OLD.iter().find_map(|(head, tool, key)| Some((*tool, *key, text.strip_prefix(head)?.trim())))
}

/// Reads a block.
pub(super) fn read(lines: &[&str]) -> Tool {
    let first = lines.first().map_or("", |line| line.trim());
    if first.starts_with("<tool-use ") {
        return today(first, lines);
    }
    let name = first.strip_prefix("Tool use: **").map(|name| name.split("**").next().unwrap_or(name));
    let bare = first.starts_with("```");
    // What stands in a block of the older form within it, or what it was given without one.
    let given = lines.iter().take(1 + INNER).filter(|_| !bare).find_map(|line| summary(line));
    let (Some(name), None) = (name.or(bare.then_some(UNNAMED)), given) else {
        let (tool, key, rest) = given.unwrap_or((UNNAMED, "query", ""));
        return summed_up(name.unwrap_or(tool).to_owned(), (tool, key, rest), lines);
    };
    let name = name.to_owned();
    let (said, mut blocks) = parts(&lines[usize::from(!bare)..]);
    if blocks.is_empty() {
        let told = said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('<'));
        let told = told.map(|told| json!({ "description": told.trim_matches(['`', '*', '_']) }));
        let input = tasks(&name, &said).or(told).unwrap_or_default();
        return Tool { name, input, ..Tool::default() };
    }
    // Of a tool without its name nobody knows that it ran a command.
    let key = if bare { "description" } else { "command" };
    let input = json!({ key: blocks.remove(0).1 });
    Tool { name, input, output: blocks.into_iter().next().map(|(_, printed)| printed), ..Tool::default() }
}

/// A block whose summary says what the tool was given.
fn summed_up(name: String, (tool, key, rest): (&str, &str, &str), lines: &[&str]) -> Tool {
    match tool {
        "read_file" => {
            let (input, brief) = (json!({ "path": rest }), Some("read".into()));
            Tool { name, input, brief, path: Some(rest.to_owned()), reads: true, ..Tool::default() }
        }
        "edit_file" => edited(name, rest, lines),
        _ => searched(name, key, rest),
    }
}

/// An edit of a file that the summary names: it was made where changed lines stand in it and it does not say otherwise.
fn edited(name: String, path: &str, lines: &[&str]) -> Tool {
    let (said, mut blocks) = parts(lines);
    let failed = said.lines().any(|line| line.trim() == "**Apply failed**");
    let done = !failed && said.lines().filter_map(|it| it.strip_prefix("Status: **")).all(|it| it == "completed**");
    let changes = changes(&blocks);
    let writes = done && changes.is_some();
    let output = changes.or_else(|| Some(blocks.pop()?.1)).filter(|_| done);
    let brief = if failed { Some("apply failed".into()) } else { output.as_deref().and_then(brief::change) };
    let (input, path) = (json!({ "path": path }), Some(path.to_owned()));
    Tool { name, input, output, brief, path, writes, failed, ..Tool::default() }
}

/// The changed lines of a block.
fn changes(blocks: &[(String, String)]) -> Option<String> {
    let changes: Vec<&str> = blocks.iter().filter(|it| it.0 == "diff").map(|it| it.1.as_str()).collect();
    (!changes.is_empty()).then(|| changes.join("\n"))
}

/// Lines behind that of the tool in which a block within its block begins.
const INNER: usize = 6;

/// What a summary tells behind the name of the tool: `"x" in "src" • **25** results`.
fn searched(name: String, key: &str, rest: &str) -> Tool {
    let (what, brief) = rest.split_once('•').map_or((rest, None), |(what, found)| (what.trim(), Some(found)));
    let brief = brief.map(|found| found.replace("**", "").trim().to_owned()).filter(|found| !found.is_empty());
    let what = what.split(" in \"").next().unwrap_or(what).trim_matches('"');
    let what = if what.is_empty() { "." } else { what };
    Tool { name, input: json!({ key: what }), brief, ..Tool::default() }
}

/// A block of today: attributes that name the tool, then what it was given and what it printed.
fn today(first: &str, lines: &[&str]) -> Tool {
    let attribute = |name: &str| first.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next());
    let kind = attribute("data-tool-type").unwrap_or("");
    let name = attribute("data-tool-name").filter(|name| !name.is_empty()).unwrap_or(UNNAMED).to_owned();
    let from =
        lines.iter().take(INNER).position(|line| line.contains("</summary>")).map_or(2, |at| at + 1).min(lines.len());
    let is_end = |line: &str| matches!(line.trim(), "" | "</details>" | "</tool-use>" | "</details></tool-use>");
    let to = lines.iter().rposition(|line| !is_end(line)).map_or(from, |last| from.max(last + 1));
    let (head, body) = (&lines[..from], &lines[from..to]);
    let known = ToolKind::of(&name);
    let is_shell = kind == "shell" || known == ToolKind::Shell;
    // Editors write what the tool was given into the summary.
    let given = head.iter().find_map(|line| summary(line));
    // What they print is escaped.
    let plain = |text: String| if first.contains("<details>") { text } else { unescaped(&text) };
    if let Some(given) = given.filter(|_| !is_shell) {
        let tool = summed_up(name, given, body);
        return Tool { output: tool.output.map(plain), ..tool };
    }
    let answer = answer(body);
    let (said, mut blocks) = parts(answer.map_or(body, |(from, _)| &body[..from]));
    let command_in_fence =
        is_shell && blocks.first().is_some_and(|(lang, _)| matches!(lang.as_str(), "bash" | "sh" | "shell" | "zsh"));
    let command = command_in_fence.then(|| blocks.remove(0).1);
    let changes = changes(&blocks);
    let output = match answer {
        Some((from, to)) => Some(body[from + 1..to].join("\n")),
        None => changes.clone().or_else(|| Some(blocks.pop()?.1)),
    };
    let output = output.map(plain);
    let code = |after: &str| coded(&said, after);
    let (input, path) = match kind {
        _ if is_shell => (json!({ "command": command.or_else(|| code("")).unwrap_or_else(|| said.clone()) }), None),
        "read" => {
            let path = code("").unwrap_or_else(|| said.clone());
            (json!({ "path": path }), Some(path))
        }
        "search" => {
            let pattern =
                code("pattern ").or_else(|| code("query ")).or_else(|| code("")).unwrap_or_else(|| said.clone());
            (json!({ "pattern": pattern, "path": code("path ").unwrap_or_default() }), None)
        }
        _ if known == ToolKind::Patch => (json!({ "patch": output }), None),
        "write" => {
            let path = code("").or_else(|| output.as_deref().and_then(written));
            (path.as_ref().map_or(Value::Null, |path| json!({ "path": path })), path)
        }
        _ => {
            let told = || json!({ "description": said.lines().next().unwrap_or("").trim_matches('*') });
            (tasks(&name, &said).unwrap_or_else(told), None)
        }
    };
    let writes = (kind == "write" || known == ToolKind::Patch)
        && (changes.is_some() || output.as_deref().and_then(written).is_some());
    let brief = changes.filter(|_| writes).as_deref().and_then(brief::change);
    Tool { name, input, output, brief, path, reads: kind == "read", writes, ..Tool::default() }
}

/// What a tool was given that keeps a list of tasks, where the block shows the list.
fn tasks(name: &str, said: &str) -> Option<Value> {
    let rows: Vec<&str> = said.lines().filter(|line| line.trim_start().starts_with("- [")).collect();
    (ToolKind::of(name) == ToolKind::Task && !rows.is_empty()).then(|| json!({ "todos": rows.join("\n") }))
}

/// A text in which signs of markup are written as entities.
fn unescaped(text: &str) -> String {
    const SIGNS: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&amp;", "&")];
    SIGNS.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

/// Where the fence of the answer begins and ends. It stands last, and may hold fences as long as itself.
fn answer(body: &[&str]) -> Option<(usize, usize)> {
    let mut fences = Fences::default();
    let from = body.iter().position(|line| {
        let inside = fences.is_open();
        fences.see(line) && !inside && line.trim() == "```text"
    })?;
    let to = body.iter().rposition(|line| !line.trim().is_empty()).filter(|to| *to > from)?;
    (body[to].trim() == "```").then_some((from, to))
}

/// The words outside fences, and the fences with their languages.
fn parts(lines: &[&str]) -> (String, Vec<(String, String)>) {
    let mut said = Vec::new();
    let mut blocks: Vec<(String, Vec<&str>)> = Vec::new();
    let mut fences = Fences::default();
    for line in lines {
        let was_open = fences.is_open();
        // A mark within changed lines stands behind their signs.
        let within = was_open && line.starts_with(' ') && blocks.last().is_some_and(|it| it.0 == "diff");
        let mark = !within && fences.see(line);
        match (was_open, mark) {
            (false, true) => {
                let language = line.trim().trim_start_matches(['`', '~']).trim().to_lowercase();
                blocks.push((language, Vec::new()));
            }
            (true, true) => {}
            (true, false) => blocks.last_mut().into_iter().for_each(|(_, block)| block.push(line)),
            (false, false) => said.push(*line),
        }
    }
    let blocks = blocks.into_iter().map(|(language, block)| (language, block.join("\n"))).collect();
    (said.join("\n").trim().to_owned(), blocks)
}

/// What stands in backticks behind `after`; with nothing, the last that is a line of its own.
fn coded(said: &str, after: &str) -> Option<String> {
    let whole = |line: &str| Some(line.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
    let found = if after.is_empty() {
        said.lines().rev().find_map(whole).or_else(|| said.starts_with('`').then(|| whole(said)).flatten())
    } else {
        said.split_once(&format!("{after}`")).and_then(|(_, rest)| rest.split('`').next()).map(str::to_owned)
    };
    found.filter(|code| !code.trim().is_empty())
}

/// The file that an answer says was written.
fn written(output: &str) -> Option<String> {
    const HEADS: &[&str] = &["The file ", "File created successfully at: ", "Successfully wrote to "];
    const ENDS: &[&str] = &[" has been updated", " has been created", " has been written"];
    let line = output.lines().find(|line| !line.trim().is_empty())?;
    let rest = HEADS.iter().find_map(|head| line.strip_prefix(head))?;
    let path = ENDS.iter().find_map(|end| Some(rest.split_once(end)?.0));
    let path = path.or_else(|| (!line.starts_with(HEADS[0])).then_some(rest))?;
    // What the host tells its agent of the file.
    let path = path.split(" (file state ").next().unwrap_or(path).trim();
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let tool = read(&text.lines().collect::<Vec<_>>());
        format!(
            "{} {} {:?} {:?} {:?} {} {}",
            tool.name, tool.input, tool.output, tool.brief, tool.path, tool.reads, tool.writes
        )
    }

    fn block(kind: &str, name: &str, body: &str) -> String {
        let head =
            format!("<tool-use data-tool-type=\"{kind}\" data-tool-name=\"{name}\"><details>\n<summary>x</summary>\n");
        told(&format!("{head}{body}\n</details></tool-use>"))
    }

    #[test]
    fn blocks_of_today() {
        insta::assert_snapshot!(
            [
                block("shell", "Bash", "List\n\n`ls -l`\n\n```text\na\n```"),
                block("shell", "Bash", "Two\n```bash\nls\npwd\n```\n\n```text\nb\n```"),
                block("read", "Read", " `./a.go`\n\n```text\n1 x\n```"),
                block("search", "Grep", " path `./a` pattern `fn`\n\n```text\nNo matches found\n```"),
                block("write", "Edit", "\n```text\nThe file /x/a.go has been updated successfully.\n```"),
                block("write", "Write", "\n```text\nFile created successfully at: /x/a.md (file state is current)\n```"),
                block("generic", "Task", "Find it\n\n```text\ndone\n```"),
                block("generic", "Task", "Find it\n\n```text\nIt is here:\n```\na.go\n```\nand here:\n```go\nx\n```\n```"),
                block("shell", "Bash", "`cat a.md`\n\n```text\n```sh\nls\n```\n\nend\n```"),
                block("generic", "X", ""),
                told("<tool-use "),
            ]
            .join("\n"),
            @r#"
        Bash {"command":"ls -l"} Some("a") None None false false
        Bash {"command":"ls\npwd"} Some("b") None None false false
        Read {"path":"./a.go"} Some("1 x") None Some("./a.go") true false
        Grep {"pattern":"fn","path":"./a"} Some("No matches found") None None false false
        Edit {"path":"/x/a.go"} Some("The file /x/a.go has been updated successfully.") None Some("/x/a.go") false true
        Write {"path":"/x/a.md"} Some("File created successfully at: /x/a.md (file state is current)") None Some("/x/a.md") false true
        Task {"description":"Find it"} Some("done") None None false false
        Task {"description":"Find it"} Some("It is here:\n```\na.go\n```\nand here:\n```go\nx\n```") None None false false
        Bash {"command":"cat a.md"} Some("```sh\nls\n```\n\nend") None None false false
        X {"description":""} None None None false false
        tool {"query":"."} None None None false false
        "#
        );
    }

    #[test]
    fn blocks_of_editors() {
        let block = |kind: &str, name: &str, said: &str, body: &str| {
            told(&format!(
                "<tool-use data-tool-type=\"{kind}\" data-tool-name=\"{name}\">\n\n<details>\n  <summary>Tool use: **{name}**{said}</summary>\n\n{body}\n</details>\n\n</tool-use>"
            ))
        };
        let chunk = |line: &str| {
            format!("**Chunk**\nLines added: 1, lines removed: 1\n\n```diff\n@@ -1,1 +1,1 @@\n- a\n+ {line}\n```\n")
        };
        insta::assert_snapshot!(
            [
                block("read", "read_file", " • Read file: wsgi.py", ""),
                block("shell", "run_terminal_cmd", " • Run command: a &gt;b", "```bash\na &gt;b\n```\n\n```\n1 &gt; 0 &amp;lt;\n```"),
                block("shell", "run_terminal_cmd", " • Run command: a", "```bash\na\n```"),
                block("search", "grep_search", " • Grep search for \"x\" • **3** files", "| a |"),
                block("write", "edit_file", " • Edit file: a b.rs", &(chunk("x &amp;&amp; y") + &chunk("z"))),
                block("write", "delete_file", "", "Explanation: none"),
            ]
            .join("\n"),
            @r#"
        read_file {"path":"wsgi.py"} None Some("read") Some("wsgi.py") true false
        run_terminal_cmd {"command":"a &gt;b"} Some("1 > 0 &lt;") None None false false
        run_terminal_cmd {"command":"a"} None None None false false
        grep_search {"query":"x"} None Some("3 files") None false false
        edit_file {"path":"a b.rs"} Some("@@ -1,1 +1,1 @@\n- a\n+ x && y\n@@ -1,1 +1,1 @@\n- a\n+ z") Some("+2 −2") Some("a b.rs") false true
        delete_file null None None None false false
        "#
        );
    }

    #[test]
    fn old_blocks() {
        insta::assert_snapshot!(
            [
                told("Read file: a.md"),
                told("<details>\n  <summary>Searched codebase \"x\" • **25** results</summary>\n\n| a |\n</details>"),
                told("<details>\n<summary>Listed current directory • **2** results</summary>\n</details>"),
                told("<details><summary>Edit file: .gitignore</summary>\n</details>"),
                told("Tool use: **run_terminal_cmd**\n\n```bash\ngit status\n```\n\n```\nclean\n```"),
            ]
            .join("\n"),
            @r#"
        read_file {"path":"a.md"} None Some("read") Some("a.md") true false
        codebase_search {"query":"x"} None Some("25 results") None false false
        list_dir {"path":"."} None Some("2 results") None false false
        edit_file {"path":".gitignore"} None None Some(".gitignore") false false
        run_terminal_cmd {"command":"git status"} Some("clean") None None false false
        "#
        );
        assert_eq!(summary("<summary>Click me</summary>"), None);
    }

    #[test]
    fn edits_are_made_where_the_block_does_not_say_otherwise() {
        let lines = "**Chunk 1**\nLines added: 1, lines removed: 1\n\n```diff\n@@ -1,2 +1,2 @@\n  ```\n- a\n+ b\n```\n";
        let told = |head: &str, state: &str| {
            let tool = read(&format!("{head}\n\n{state}\n\n{lines}\n</details>").lines().collect::<Vec<_>>());
            format!("{} {:?} {:?} {} {}", tool.name, tool.path, tool.brief, tool.writes, tool.failed)
        };
        let block = "<details><summary>Edit file: src/a.rs</summary>";
        let named = format!("Tool use: **search_replace**\n\n\n{block}");
        insta::assert_snapshot!(
            [
                told(block, "I mend it."),
                told(&named, "Status: **completed**"),
                told(&named, "Status: **loading**"),
                told(&named, "**Apply failed**"),
            ]
            .join("\n"),
            @r#"
        edit_file Some("src/a.rs") Some("+1 −1") true false
        search_replace Some("src/a.rs") Some("+1 −1") true false
        search_replace Some("src/a.rs") None false false
        search_replace Some("src/a.rs") Some("apply failed") false true
        "#
        );
    }

    #[test]
    fn a_block_within_a_block_begins_in_six_lines_behind_the_tool() {
        let named = |blank: usize| {
            let text = format!(
                "Tool use: **x**{}<details><summary>Read file: a.md</summary>\n</details>",
                "\n".repeat(blank + 1)
            );
            read(&text.lines().collect::<Vec<_>>()).path
        };
        assert_eq!([named(5).as_deref(), named(6).as_deref()], [Some("a.md"), None]);
    }

    fn parsed(text: &str) -> (String, Value, Option<String>) {
        let tool = read(&text.lines().collect::<Vec<_>>());
        (tool.name, tool.input, tool.brief)
    }

    #[test]
    fn old_blocks_say_what_they_were_given() {
        let shell = "Tool use: **run_terminal_cmd**\n\n```bash\ngit status\n```\n\n```\nclean\n```\n";
        assert_eq!(parsed(shell), ("run_terminal_cmd".to_owned(), json!({ "command": "git status" }), None));
        let search = "Tool use: **grep**\n\n<details>\n<summary>Grep for \"^\\.env$\" in \".gitignore\" • 0 matches</summary>\n\nNone\n</details>\n";
        let (name, input, brief) = parsed(search);
        assert_eq!(
            (name.as_str(), input, brief.as_deref()),
            ("grep", json!({ "query": "^\\.env$" }), Some("0 matches"))
        );
        let (name, input, _) = parsed("Tool use: **todo_write**\n\n`3 tasks`\n");
        assert_eq!((name.as_str(), input), ("todo_write", json!({ "description": "3 tasks" })));
        assert_eq!(parsed("Tool use: **x**\n").1, Value::Null);
    }
}
