//! Texts that make markdown parsers slow, deep or wide, each about `size` bytes long.
//!
//! Shared by the tests, which look at what is read, and by the bench, which looks at the time.

/// Name and text of each.
pub(super) fn texts(size: usize) -> Vec<(&'static str, String)> {
    let fill = |unit: &str| unit.repeat(size / unit.len() + 1);
    let lines = |prefix: &str, line: &str| format!("{prefix}{}", fill(line));
    let half = size / 2;
    let halves = |first: &str, second: &str| first.repeat(half / first.len()) + &second.repeat(half / second.len());
    let mut texts: Vec<(&'static str, String)> = ONE_LINE.iter().map(|&unit| (unit, fill(unit))).collect();
    texts.extend([
        ("quotes, then lazy lines", format!("{}a\n{}", "> ".repeat(half / 2), "a\n".repeat(half / 2))),
        ("32 quotes, then lazy lines", format!("{}a\n{}", "> ".repeat(32), fill("a\n"))),
        ("32 quotes, then blank ones", format!("{}a\n{}", "> ".repeat(32), fill("> \n"))),
        ("nested markers with text", format!("{}x\n{}", "- ".repeat(half / 2), "x\n".repeat(half / 2))),
        ("nested numbers", format!("{}x", "1. ".repeat(size / 3))),
        ("items", fill("- \n")),
        ("items with text", fill("- a\n")),
        ("items, loose", fill("- a\n\n")),
        ("items, each deeper", deeper(size)),
        ("deeper in a fence", format!("```\n{}", deeper(size))),
        ("deeper in a comment of HTML", format!("<!--\n{}", deeper(size))),
        (
            "deeper, behind an escaped label",
            format!("[^a\\]b]: {}x\n{}", "> ".repeat(half / 2), "x\n".repeat(half / 2)),
        ),
        ("definitions", fill("[a]: b\n")),
        ("definitions of many names", numbered(size, |n| format!("[a{n}]: b\n"))),
        ("definitions and their uses", numbered(size, |n| format!("[a{n}]: b\n\n[a{n}] [a1]\n\n"))),
        ("a long definition, used often", format!("[a]: {}\n\n{}", "b".repeat(half), "[a]".repeat(half / 3))),
        ("definitions without an end", fill("[a]: b \"c\n")),
        ("labels without an end", fill("[a\n")),
        ("footnotes", numbered(size, |n| format!("[^{n}]: a\n"))),
        ("footnotes in one another", format!("{}a", "[^1]: ".repeat(size / 6))),
        ("footnotes and their uses", numbered(size, |n| format!("[^{n}]: a [^{n}]\n\n"))),
        ("uses of footnotes", fill("[^1]")),
        ("a wide table", format!("{}\n{}\n{}", "|a".repeat(half / 4), "|-".repeat(half / 4), "|a\n".repeat(half / 6))),
        ("a table of 128 columns", format!("{}\n{}\n{}", "|a".repeat(128), "|-".repeat(128), fill("|\n|a\n"))),
        ("a table in items", format!("- {}\n  {}\n{}", "|a".repeat(128), "|-".repeat(128), fill("  |a\n"))),
        ("a long table", lines("|a|\n|-|\n", "|a|\n")),
        ("heads of tables", fill("|a\n")),
        ("heads and their rows", fill("|a|\n|-|\n")),
        ("half a table's marks", fill("|-|\n")),
        ("fences", fill("```\n")),
        ("fences without an end", fill("~~~a\n\n")),
        ("fences of growing length", growing(size, "`")),
        ("code spans of growing length", growing(size, "`").replace('\n', " ")),
        ("a fence in quotes", lines("> ```\n", "> a\n")),
        ("HTML blocks", fill("<div>\n\n")),
        ("HTML comments without an end", fill("<!-- a\n\n")),
        ("HTML instructions", fill("a <?")),
        ("CDATA", fill("a <![CDATA[")),
        ("declarations", fill("a <!A ")),
        ("HTML comments in a line", fill("a <!-- ")),
        ("tags with attributes", fill("<a b='c' ")),
        ("tags without an end", fill("<a b=\"")),
        ("comments", fill("%%\n")),
        ("comments in a line", fill("%%a%% ")),
        ("open comments in paragraphs", fill("a %%b\n\n")),
        ("comments in quotes", fill("> %%\na\n")),
        ("callouts", fill("> [!a] b\n")),
        ("callouts apart", fill("> [!a] b\n\n")),
        ("callouts in one another", fill("> > > [!a] b\n")),
        ("titles with links", fill("> [!a] `b` [c](d)\n\n")),
        ("a long title", format!("> [!a] {}", fill("[b](c "))),
        ("ids", fill("^a\n\n")),
        ("ids at ends", fill("a ^b\n")),
        ("headings", fill("# a ^b\n")),
        ("underlines", fill("a\n=\n")),
        ("rules", fill("- - - - -\n")),
        ("almost a rule", format!("{}a", "- ".repeat(half))),
        ("lines of almost rules", fill("* * * * * * * * a\n")),
        ("fields", fill("a:: b\n")),
        ("fields in brackets", fill("[a:: b")),
        ("fields in parentheses", fill("(a:: b) ")),
        ("keys", fill("a a a a a a a a a a a a a a a a a a a a a a a a ::")),
        ("wikilinks", fill("[[a]] ")),
        ("wikilinks without an end", fill("[[a")),
        ("links", fill("[a](b) ")),
        ("links without an end", fill("[a](b ")),
        ("links and parentheses", fill("[a](((")),
        ("brackets, then their ends", halves("[", "]")),
        ("images in one another", halves("![", "](a)")),
        ("links in one another", halves("[", "](a)")),
        ("emphasis in one another", halves("*a ", " a*")),
        ("emphasis of two kinds", fill("*a_ ")),
        ("emphasis of runs", fill("a**b*c ")),
        ("strong and emphasis", fill("***a ")),
        ("backslashes and brackets", fill("\\[")),
        ("entities", fill("&amp;")),
        ("mail addresses", fill("<a@b.c>")),
        ("almost mail addresses", fill("<a@b.")),
        ("hard breaks", fill("a  \n")),
        ("blanks", fill(" ")),
        ("blank lines", fill("\n")),
        ("blank lines in an item", lines("- a\n", "\n")),
        ("blank lines in deep items", format!("{}a\n{}", "+ ".repeat(31), fill("\n"))),
        ("tabs", fill("\t")),
        ("tabs and markers", fill(">\t-\t")),
        ("carriage returns", fill("a\r")),
        ("frontmatter without an end", lines("---\n", "a: b\n")),
        ("frontmatters", fill("---\n")),
        ("byte order marks", fill("\u{feff}")),
        ("combining marks", fill("e\u{301}")),
    ]);
    texts
}

const ONE_LINE: &[&str] = &[
    "a", "*", "_", "[", "]", "![", "`", "``a`", "<", ">", "&", "!", "|", "\\", "^", "^a ", "%", "%%", "[[", "]]", "$",
    "$a$ ", "~", "~~a", "#", "#a", "# ", "::", "a::", "[a::", "- ", "+ ", "1. ", "> ", "(", "{", "@a", "\"", "'", "é",
    "\0", ":",
];

/// Items each two blanks deeper than the last, again and again from the margin.
fn deeper(size: usize) -> String {
    let mut text = String::new();
    for depth in 0.. {
        if text.len() > size {
            break;
        }
        text.push_str(&"  ".repeat(depth));
        text.push_str("- a\n");
    }
    text
}

fn growing(size: usize, mark: &str) -> String {
    let mut text = String::new();
    for length in 1.. {
        if text.len() > size {
            break;
        }
        text.push_str(&mark.repeat(length));
        text.push_str("a\n");
    }
    text
}

fn numbered(size: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() > size {
            break;
        }
        text.push_str(&line(number));
    }
    text
}
