//! The type that a file's name tells.

/// Extensions in lower case.
#[rustfmt::skip]
const TYPES: &[(&str, &str)] = &[
    ("rs", "Rust"), ("md", "Markdown"), ("mdx", "Markdown"), ("mdc", "Markdown"), ("rst", "Text"), ("adoc", "Text"), ("json", "JSON"), ("jsonl", "JSONL"), ("csv", "CSV"),
    ("tsv", "TSV"), ("ts", "TypeScript"), ("tsx", "TypeScript"), ("mts", "TypeScript"), ("js", "JavaScript"),
    ("jsx", "JavaScript"), ("mjs", "JavaScript"), ("cjs", "JavaScript"), ("py", "Python"), ("go", "Go"),
    ("rb", "Ruby"), ("java", "Java"), ("kt", "Kotlin"), ("swift", "Swift"), ("c", "C"), ("h", "C"), ("cpp", "Cpp"),
    ("hpp", "Cpp"), ("cs", "CSharp"), ("php", "PHP"), ("ex", "Elixir"), ("exs", "Elixir"), ("zig", "Zig"),
    ("lua", "Lua"), ("sql", "SQL"), ("html", "HTML"), ("css", "CSS"), ("scss", "SCSS"), ("vue", "Vue"),
    ("svelte", "Svelte"), ("sh", "Shell"), ("bash", "Shell"), ("zsh", "Shell"), ("ps1", "PowerShell"),
    ("toml", "TOML"), ("yaml", "YAML"), ("yml", "YAML"), ("xml", "XML"), ("txt", "Text"), ("log", "Text"),
    ("svg", "SVG"), ("png", "Image"), ("jpg", "Image"), ("jpeg", "Image"), ("gif", "Image"), ("webp", "Image"),
    ("pdf", "PDF"), ("ipynb", "Notebook"), ("r", "R"), ("proto", "Protobuf"), ("tf", "Terraform"),
    ("lean", "Lean"), ("hs", "Haskell"), ("scala", "Scala"), ("dart", "Dart"),
];

/// The type of one path; `Path` where its name tells none.
pub(crate) fn of(path: &str) -> &'static str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == extension).map_or("Path", |(_, ty)| ty)
}

/// Whether a file's name tells its type.
pub(super) fn is_known(path: &str) -> bool {
    of(path) != "Path"
}

/// Whether a file holds text for people, as far as its name tells.
pub(super) fn is_prose(path: &str) -> bool {
    matches!(of(path), "Markdown" | "Text" | "PDF" | "Image" | "SVG")
}

/// Whether a file holds words that a person reads line by line: markdown, plain text.
pub(super) fn is_document(path: &str) -> bool {
    matches!(of(path), "Markdown" | "Text")
}

/// The type of all, `Path` where they differ; `None` of no path.
pub(super) fn common(paths: &[&str]) -> Option<&'static str> {
    let first = of(paths.first()?);
    Some(if paths.iter().all(|path| of(path) == first) { first } else { "Path" })
}

/// The language that a file's name tells; `None` for prose and what is no text of a program.
pub fn language_of(path: &str) -> Option<&'static str> {
    Some(of(path)).filter(|ty| !matches!(*ty, "Path" | "Text" | "Markdown") && !is_prose(path))
}
