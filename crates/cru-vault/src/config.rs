//! The two configuration files: the vault's (`.cru/config.toml`, shared with the notes) and the user's.
//!
//! A key that this version does not know is a warning, so that an older program reads a newer vault. A value that
//! cannot be used is an error with its place: guessing what somebody meant by it would be worse than stopping.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use jiff::tz::TimeZone;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Vault, VaultPath};
use cru_base::{Diagnostic, Env, Error, Lines, Result, Span};
use cru_price::Price;
use cru_session::detail::Level;

/// `.cru/config.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `[vault] id`: names this vault's machine state.
    pub id: Option<String>,
    /// `[vault] schema`: the form of its notes; 1.
    pub schema: u32,
    /// `[vault] sessions`: the folder that new sessions are put in, inside the vault.
    pub sessions: VaultPath,
    /// `[vault] zone`: whose dates stand in names and in the property `date`; UTC.
    pub zone: TimeZone,
    /// `[vault] include`: when not empty, only notes that match one of them are read.
    pub include: Globs,
    /// `[vault] exclude`: notes and folders that are left out.
    pub exclude: Globs,
    /// `[session] channel`: for sessions that name none.
    pub channel: Option<String>,
    /// `[session]`: how a session is written while the work happens.
    pub session: SessionConfig,
    /// `[resume]`.
    pub resume: ResumeConfig,
    /// `[hooks]`.
    pub hooks: HooksConfig,
    /// `[checkpoint]`.
    pub checkpoint: CheckpointConfig,
    /// `[import]`.
    pub import: ImportConfig,
    /// `[index]`.
    pub index: IndexConfig,
    /// `[summary]`.
    pub summary: SummaryConfig,
}

/// `[summary]`: accounts of days.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryConfig {
    /// The daily note that the account of a day is written into, a path in the vault in which `{date}` stands for the day.
    pub daily: Option<String>,
    /// Whose days they are, where not those of `[vault] zone`.
    pub zone: Option<TimeZone>,
}

/// `[session]`: how a session is written while the work happens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SessionConfig {
    /// Agent of phases that name none, `coder@2.0`.
    pub agent: Option<String>,
    /// How sub-agents are shown: `link` (default), `inline`, `embed`.
    pub subagents: Option<String>,
    /// When hooks write the note: `phase` (default), `step`, `20 events`, `30 s`.
    pub save: Option<String>,
    /// Minutes without an event after which the next contact pauses an active session; 60, and 0 for never.
    pub idle: Option<u64>,
}

/// `[resume]`: how a session is taken up again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ResumeConfig {
    /// Tokens of the resume pack; 8000.
    pub budget: Option<u64>,
    /// Host for sessions that have none.
    pub host: Option<String>,
}

/// `[hosts.<host>]` of the user's configuration: programs with their arguments; `{host_session}`, `{session}` and
/// `{pack}` are filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HostConfig {
    /// Goes on with the host's own session.
    pub resume: Vec<String>,
    /// Starts a new one that is given the pack.
    pub start: Vec<String>,
}

/// `[hooks]`: what hosts' hooks do beside the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HooksConfig {
    /// Print the resume pack at `session-start`, which the host takes for context.
    pub resume: bool,
    /// Print at `session-start` what a session that begins should know.
    pub context: bool,
    /// Who writes the note when the save policy says so: `background` (default, a process of its own), `inline`, or
    /// `never` (only `cru admin flush`).
    pub flush: Option<String>,
}

/// `[checkpoint]`: what is marked in notes, and what is copied before it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointConfig {
    /// Kinds of checkpoints that are written into notes beside those that always are: `task`, `auto`, `recovery`.
    pub write: Vec<String>,
    /// Files of projects whose edit is a risk, as globs relative to the working folder.
    pub paths: Globs,
    /// Milliseconds that the hook before a call may take for the copy; a little less than a second where nothing is said.
    pub limit_ms: Option<u64>,
}

/// `[import]`: what is brought in, and under which names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ImportConfig {
    /// Host session ids and project globs that are never imported.
    pub exclude: Vec<String>,
    /// Agent of imported phases, in place of the host's own.
    pub agent: Option<String>,
    /// Channel of imported sessions, in place of the project folder's name.
    pub channel: Option<String>,
    /// What is kept of the transcripts in `evidence/`.
    pub keep_evidence: KeepEvidence,
    /// How much of a transcript new notes tell: `normal`, or `brief`, or `full`.
    pub detail: Level,
}

cru_base::words! {
    /// `[import] keep_evidence`: what is kept of transcripts beside the notes, since their host deletes them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum KeepEvidence {
        /// Nothing.
        None = "none",
        /// What steps wrote into files: `evidence/<session_id>.patch`, secrets masked.
        #[default]
        Writes = "writes",
        /// That, and compressed copies of the transcripts as they are.
        All = "all",
    }
}

impl KeepEvidence {
    /// Whether what steps wrote is kept.
    pub const fn keeps_writes(self) -> bool {
        !matches!(self, Self::None)
    }
}

impl<'de> Deserialize<'de> for KeepEvidence {
    /// A word, or `true` for `all` and `false` for `none`, as older versions wrote it.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected \"writes\", \"all\" or \"none\"")]
        enum Written {
            Flag(bool),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Flag(true) => Ok(Self::All),
            Written::Flag(false) => Ok(Self::None),
            Written::Word(word) => Self::parse(&word).ok_or_else(|| {
                serde::de::Error::custom(format!("`{word}` is not one of \"writes\", \"all\", \"none\""))
            }),
        }
    }
}

/// `[index]`: what can be found beside the notes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct IndexConfig {
    /// Bytes of one tool input or output of a transcript that are searchable; 65536, and 0 for none.
    pub evidence_bytes: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            id: None,
            schema: 1,
            sessions: default_sessions(),
            zone: TimeZone::UTC,
            include: Globs::default(),
            exclude: Globs::default(),
            channel: None,
            session: SessionConfig::default(),
            resume: ResumeConfig::default(),
            hooks: HooksConfig::default(),
            checkpoint: CheckpointConfig::default(),
            import: ImportConfig::default(),
            index: IndexConfig::default(),
            summary: SummaryConfig::default(),
        }
    }
}

fn default_sessions() -> VaultPath {
    VaultPath::new("sessions").expect("a plain name is a path inside the vault")
}

/// The sections and keys of `.cru/config.toml`.
const VAULT_KEYS: &[(&str, &[&str])] = &[
    ("vault", &["id", "schema", "sessions", "zone", "include", "exclude"]),
    ("session", &["channel", "agent", "subagents", "save", "idle"]),
    ("resume", &["budget", "host"]),
    ("hooks", &["resume", "context", "flush"]),
    ("checkpoint", &["write", "paths", "limit_ms"]),
    ("import", &["exclude", "agent", "channel", "keep_evidence", "detail"]),
    ("index", &["evidence_bytes"]),
    ("summary", &["daily", "zone"]),
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    vault: RawVault,
    session: RawSession,
    resume: ResumeConfig,
    hooks: HooksConfig,
    checkpoint: RawCheckpoint,
    import: ImportConfig,
    index: IndexConfig,
    summary: RawSummary,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawSummary {
    daily: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawCheckpoint {
    write: Vec<Spanned<String>>,
    paths: Vec<Spanned<String>>,
    limit_ms: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawVault {
    id: Option<String>,
    schema: Option<u32>,
    sessions: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
    include: Vec<Spanned<String>>,
    exclude: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawSession {
    channel: Option<String>,
    #[serde(flatten)]
    live: SessionConfig,
}

impl Config {
    /// Reads the text of `.cru/config.toml`. `path` is only for messages.
    ///
    /// Unknown keys are warnings; what cannot be used is an error naming `path:line:column`.
    pub fn parse(text: &str, path: &Path) -> Result<(Self, Vec<Diagnostic>)> {
        let source = Source { text, path };
        let raw: Raw = toml::from_str(text).map_err(|error| source.syntax(&error))?;
        let sessions = match raw.vault.sessions {
            None => default_sessions(),
            Some(folder) => VaultPath::new(folder.get_ref()).ok_or_else(|| {
                source
                    .error(folder.span(), format!("'{}' is not a folder inside the vault", folder.get_ref()))
                    .with_hint("write a relative path without '..', such as \"sessions\"")
            })?,
        };
        let named = |name: Spanned<String>| {
            TimeZone::get(name.get_ref()).map_err(|_| {
                source
                    .error(name.span(), format!("'{}' is no time zone", name.get_ref()))
                    .with_hint("write a name such as \"Europe/Berlin\" or \"UTC\"")
            })
        };
        let zone = raw.vault.zone.map(named).transpose()?.unwrap_or(TimeZone::UTC);
        let daily = raw.summary.daily.map(|path| {
            let is_note = |path: &VaultPath| path.as_path().extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
            let is_daily = |path: &VaultPath| path.text().contains("{date}") && is_note(path);
            match VaultPath::new(path.get_ref()).filter(is_daily) {
                Some(_) => Ok(path.get_ref().clone()),
                None => Err(source
                    .error(path.span(), format!("'{}' is no daily note inside the vault", path.get_ref()))
                    .with_hint("write a relative path such as \"Daily/{date}.md\"")),
            }
        });
        let summary = SummaryConfig { daily: daily.transpose()?, zone: raw.summary.zone.map(named).transpose()? };
        let config = Self {
            id: raw.vault.id.filter(|id| !id.trim().is_empty()),
            schema: raw.vault.schema.unwrap_or(1),
            sessions,
            zone,
            include: Globs::read(&raw.vault.include, &source)?,
            exclude: Globs::read(&raw.vault.exclude, &source)?,
            channel: raw.session.channel,
            session: raw.session.live,
            resume: raw.resume,
            hooks: raw.hooks,
            checkpoint: CheckpointConfig {
                write: kinds(&raw.checkpoint.write, &source)?,
                paths: Globs::read(&raw.checkpoint.paths, &source)?,
                limit_ms: raw.checkpoint.limit_ms,
            },
            import: raw.import,
            index: raw.index,
            summary,
        };
        Ok((config, unknown_keys(text, VAULT_KEYS)))
    }

    /// What can be told of a text that [`Config::parse`] refuses: the default with the vault's id and folder of sessions,
    /// where their lines can be read by themselves. Nobody writes a note by it.
    pub fn salvage(text: &str) -> Self {
        let mut config = Self::default();
        config.hooks.flush = Some("never".to_owned());
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.split(']').next().unwrap_or_default().trim();
            } else if section == "vault" {
                let read: Salvaged = toml::from_str(line).unwrap_or_default();
                config.id = config.id.or(read.id.filter(|id| !id.trim().is_empty()));
                config.sessions = read.sessions.and_then(VaultPath::new).unwrap_or(config.sessions);
                config.zone = read.zone.and_then(|name| TimeZone::get(&name).ok()).unwrap_or(config.zone);
            }
        }
        config
    }
}

/// The kinds of checkpoints that `[checkpoint] write` may name.
fn kinds(words: &[Spanned<String>], source: &Source<'_>) -> Result<Vec<String>> {
    let kind = |word: &Spanned<String>| match word.get_ref().as_str() {
        known @ ("task" | "auto" | "recovery") => Ok(known.to_owned()),
        other => Err(source
            .error(word.span(), format!("'{other}' is no kind of checkpoint that can be written in addition"))
            .with_hint("write \"task\", \"auto\" or \"recovery\"")),
    };
    words.iter().map(kind).collect()
}

/// Lines of the `[vault]` section that [`Config::salvage`] looks for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Salvaged {
    id: Option<String>,
    sessions: Option<String>,
    zone: Option<String>,
}

/// `config.toml` in the user's own configuration folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserConfig {
    /// `vault`: the vault to use outside of any.
    pub vault: Option<PathBuf>,
    /// `[hosts]`: the commands of hosts (`claude-code`). Only here, since a vault that somebody shares must not decide
    /// which programs run.
    pub hosts: BTreeMap<String, HostConfig>,
    /// `[agent]`: a program that answers a prompt. Only here, for the same reason.
    pub agent: AgentConfig,
    /// `[prices]`: prices of models, over the list prices. Only here, since they are the user's own.
    pub prices: BTreeMap<String, Price>,
    /// `[projects]`: folders of this machine by the project that notes name. Only here, since a vault that somebody
    /// shares must not decide which files are read.
    pub projects: BTreeMap<String, PathBuf>,
    /// `[run]`: which commands of notes run again. Only here, since a vault that somebody shares must not decide which
    /// programs run.
    pub run: RunConfig,
    /// `[events]`: programs with their arguments by the event that starts them; `{note}` and `{session}` are filled in.
    /// Only here, for the same reason.
    pub events: BTreeMap<String, Vec<String>>,
    /// `[links]`: symbolic links below a vault that lead out of it, each with the folder behind it. Only here, since a
    /// vault that somebody shares must not decide where is written.
    pub links: BTreeMap<PathBuf, PathBuf>,
}

/// `[run]` of the user's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RunConfig {
    /// Patterns of plain commands that run without a question, `["cargo test *", "npm run check"]`; `*` stands for any
    /// further words.
    pub allow: Vec<String>,
    /// Names of variables that commands of notes are given beside the usual ones.
    pub env: Vec<String>,
    /// A program with its arguments that each command is given to, `["bwrap", …]`; `{dir}` stands for its folder.
    pub wrap: Vec<String>,
}

/// `[agent]` of the user's configuration: any program that takes a prompt on stdin and answers on stdout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AgentConfig {
    /// The program with its arguments, `["claude", "-p"]`; no shell is asked.
    pub command: Vec<String>,
    /// A program that is known, `claude`; instead of a command.
    pub preset: Option<String>,
    /// Whether each session is read when it ends.
    pub after_session: bool,
    /// Estimated tokens of a day that are sent so; 200,000.
    pub daily_tokens: Option<u64>,
    /// Seconds that it may take; 300.
    pub timeout: Option<u64>,
    /// Name of its model, for `reader` in readings; else the command.
    pub model: Option<String>,
    /// The second reader of readings, a program as in [`AgentConfig::command`]; none where it is empty.
    pub judge: Vec<String>,
}

/// The sections of the user's configuration; what a host's table holds is not looked at.
const USER_KEYS: &[(&str, &[&str])] = &[
    ("vault", &[]),
    ("hosts", ANY),
    ("agent", &["command", "preset", "after_session", "daily_tokens", "timeout", "model", "judge"]),
    ("prices", ANY),
    ("projects", ANY),
    ("run", &["allow", "env", "wrap"]),
    ("links", ANY),
    (
        "events",
        &[
            "session-start",
            "phase-end",
            "task-complete",
            "correction",
            "error",
            "recovery",
            "checkpoint",
            "session-end",
            "imported",
        ],
    ),
];

/// Any keys at all.
const ANY: &[&str] = &["*"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUser {
    vault: Option<Spanned<String>>,
    hosts: BTreeMap<String, HostConfig>,
    agent: AgentConfig,
    prices: BTreeMap<String, Price>,
    projects: BTreeMap<String, Spanned<String>>,
    run: RunConfig,
    events: BTreeMap<String, Vec<String>>,
    links: BTreeMap<Spanned<String>, Spanned<String>>,
}

impl UserConfig {
    /// Whether it names this vault as the one to use outside of any.
    pub fn names(&self, vault: &Vault) -> bool {
        let canonical = |path: &Path| path.canonicalize().ok();
        self.vault.as_deref().and_then(canonical).is_some_and(|named| canonical(vault.root()) == Some(named))
    }

    /// Reads it from where `env` says it is; a missing file is an empty one.
    pub fn read(env: &Env) -> Result<(Self, Vec<Diagnostic>)> {
        let Some(path) = env.config_dir().map(|dir| dir.join("config.toml")) else { return Ok(Default::default()) };
        let Some(bytes) = cru_base::files::read_if_there(&path)? else { return Ok(Default::default()) };
        Self::parse(&String::from_utf8_lossy(&bytes), &path, env)
    }

    fn parse(text: &str, path: &Path, env: &Env) -> Result<(Self, Vec<Diagnostic>)> {
        let source = Source { text, path };
        let raw: RawUser = toml::from_str(text).map_err(|error| source.syntax(&error))?;
        let absolute = |path: &Spanned<String>| {
            expand_home(path.get_ref(), env).filter(|path| path.is_absolute()).ok_or_else(|| {
                source
                    .error(path.span(), format!("'{}' is not an absolute path", path.get_ref()))
                    .with_hint("write the whole path, or one that starts with ~/")
            })
        };
        let vault = raw.vault.as_ref().map(absolute).transpose()?;
        let projects = raw.projects.iter().map(|(name, path)| Ok((name.clone(), absolute(path)?)));
        let projects = projects.collect::<Result<_>>()?;
        let links = raw.links.iter().map(|(link, target)| Ok((absolute(link)?, absolute(target)?)));
        let links = links.collect::<Result<_>>()?;
        let config = Self {
            vault,
            hosts: raw.hosts,
            agent: raw.agent,
            prices: raw.prices,
            projects,
            run: raw.run,
            events: raw.events,
            links,
        };
        Ok((config, unknown_keys(text, USER_KEYS)))
    }
}

/// `~` and `~/…` as the home folder; anything else as it is.
pub fn expand_home(text: &str, env: &Env) -> Option<PathBuf> {
    match text.strip_prefix('~') {
        Some("") => env.home().map(Path::to_owned),
        Some(rest) if rest.starts_with('/') => Some(env.home()?.join(&rest[1..])),
        _ => Some(PathBuf::from(text)),
    }
}

/// A list of globs, compiled.
///
/// As in ignore files: `/` is only matched by `**`, a pattern without `/` matches at any depth, and one that names a
/// folder stands for everything in it.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    patterns: Vec<String>,
    set: GlobSet,
}

impl PartialEq for Globs {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl Globs {
    /// Compiles `patterns`; the error names the first that cannot be.
    pub fn new(patterns: &[&str]) -> Result<Self, globset::Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            for glob in compile(pattern)? {
                set.add(glob);
            }
        }
        Ok(Self { patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect(), set: set.build()? })
    }

    fn read(patterns: &[Spanned<String>], source: &Source<'_>) -> Result<Self> {
        for pattern in patterns {
            compile(pattern.get_ref()).map_err(|error| {
                source
                    .error(pattern.span(), format!("'{}' is not a glob: {}", pattern.get_ref(), error.kind()))
                    .with_hint("for example \"drafts/**\" or \"*.excalidraw.md\"")
            })?;
        }
        let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.get_ref().as_str()).collect();
        Self::new(&patterns).map_err(|error| Error::usage(format!("{}: {error}", source.path.display())))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether one of them matches a path relative to the vault.
    pub fn matches(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }
}

fn compile(pattern: &str) -> Result<[Glob; 2], globset::Error> {
    let plain = pattern.trim_end_matches('/');
    let anchored = match plain.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if plain.contains('/') => plain.to_owned(),
        None => format!("**/{plain}"),
    };
    let glob = |text: &str| GlobBuilder::new(text).literal_separator(true).build();
    Ok([glob(&anchored)?, glob(&format!("{anchored}/**"))?])
}

/// The text a message is about.
struct Source<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Source<'_> {
    fn error(&self, span: Range<usize>, message: impl std::fmt::Display) -> Error {
        let (line, column) = Lines::of(self.text).place(self.text, span.start);
        Error::usage(format!("{}:{line}:{column}: {message}", self.path.display()))
    }

    fn syntax(&self, error: &toml::de::Error) -> Error {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        self.error(error.span().unwrap_or(0..0), message).with_hint("correct the file by hand; it is TOML")
    }
}

/// A warning for each key that no section of `known` has. A section without keys is a plain value.
fn unknown_keys(text: &str, known: &[(&str, &[&str])]) -> Vec<Diagnostic> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut warnings = Vec::new();
    for (name, value) in table.get_ref() {
        let section = known.iter().find(|(section, _)| *section == name.get_ref());
        match (section, value.get_ref()) {
            (Some((section, keys)), DeValue::Table(inner)) => {
                for key in inner.keys() {
                    if *keys != ANY && !keys.contains(&key.get_ref().as_ref()) {
                        warnings.push(unknown(key, &format!("[{section}] "), keys.iter().copied()));
                    }
                }
            }
            (Some(_), _) => {}
            (None, _) => warnings.push(unknown(name, "", known.iter().map(|(section, _)| *section))),
        }
    }
    warnings.sort_by_key(|warning| warning.span);
    warnings
}

fn unknown<'k>(
    key: &Spanned<std::borrow::Cow<'_, str>>,
    section: &str,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let name = key.get_ref();
    let close = known.max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    let close = close.filter(|word| strsim::jaro_winkler(word, name) > 0.8);
    let warning = Diagnostic::warning("unknown-key", Span::from(key.span()), format!("unknown key {section}'{name}'"));
    match close {
        Some(word) => warning.help(format!("did you mean '{word}'?")),
        None => warning.help("it is ignored; this version does not know it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Config, Vec<Diagnostic>)> {
        Config::parse(text, Path::new("vault/.cru/config.toml"))
    }

    #[test]
    fn reads_all_keys() {
        // Every key of the table is in this text and none is unknown: the table and the reader say the same.
        let text = "[vault]\nid = \"v1\"\nschema = 1\nsessions = \"log\"\nzone = \"Europe/Berlin\"\ninclude = [\"log/**\"]\nexclude = [\"drafts\"]\n\
                    [summary]\ndaily = \"Daily/{date}.md\"\nzone = \"America/New_York\"\n[session]\nchannel = \"dev\"\nagent = \"coder\"\nsubagents = \"link\"\nsave = \"step\"\nidle = 30\n\
                    [resume]\nbudget = 9000\nhost = \"x\"\n[hooks]\nresume = true\ncontext = true\nflush = \"never\"\n[import]\nexclude = [\"949d\"]\nagent = \"coder@2\"\nchannel = \"x\"\nkeep_evidence = true\ndetail = \"brief\"\n\
                    [checkpoint]\nwrite = [\"task\"]\npaths = [\"migrations/**\"]\nlimit_ms = 5000\n[index]\nevidence_bytes = 9\n";
        let (config, warnings) = parse(text).unwrap();
        assert_eq!(warnings, []);
        for (section, keys) in VAULT_KEYS {
            assert!(text.contains(&format!("[{section}]")));
            assert!(keys.iter().all(|key| text.contains(&format!("{key} = "))));
        }
        assert_eq!(config.zone.iana_name(), Some("Europe/Berlin"));
        let error = parse("[vault]\nzone = \"Nowhere/City\"\n").unwrap_err();
        assert!(error.to_string().contains("'Nowhere/City' is no time zone"), "{error}");
        assert_eq!(config.id.as_deref(), Some("v1"));
        assert_eq!(config.summary.daily.as_deref(), Some("Daily/{date}.md"));
        assert!(config.hooks.context && config.summary.zone.is_some());
        assert_eq!(config.sessions.to_string(), "log");
        assert_eq!(config.channel.as_deref(), Some("dev"));
        assert_eq!(config.import.agent.as_deref(), Some("coder@2"));
        assert_eq!(config.index.evidence_bytes, Some(9));
        assert_eq!(config.import.keep_evidence, KeepEvidence::All);
        assert_eq!(config.import.detail, Level::Brief);
        assert!(config.include.matches(Path::new("log/a/b.md")));
        assert!(config.exclude.matches(Path::new("x/drafts/y.md")));
    }

    #[test]
    fn nothing_is_the_default() {
        assert_eq!(parse("").unwrap(), (Config::default(), vec![]));
        assert_eq!(Config::default().sessions.to_string(), "sessions");
    }

    #[test]
    fn unknown_keys_warn_in_order() {
        let (_, warnings) = parse("[vaults]\nx = 1\n[vault]\nsesions = \"a\"\n[deep.er]\nk = 2\n").unwrap();
        let lines: Vec<String> = warnings
            .iter()
            .map(|warning| format!("{} | {} | {:?}", warning.message, warning.help.as_deref().unwrap(), warning.span))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        unknown key 'vaults' | did you mean 'vault'? | Span { start: 1, end: 7 }
        unknown key [vault] 'sesions' | did you mean 'sessions'? | Span { start: 23, end: 30 }
        unknown key 'deep' | it is ignored; this version does not know it | Span { start: 38, end: 42 }
        ");
    }

    #[test]
    fn errors_have_a_place_and_a_hint() {
        let message = |text: &str| {
            let error = parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            format!("{error} | {}", error.hint().unwrap())
        };
        let messages = [
            message("[vault]\nsessions = 3\n"),
            message("[vault\n"),
            message("[vault]\nsessions = \"../x\"\n"),
            message("[vault]\nexclude = [\"ok\", \"a{b\"]\n"),
            message("[import]\ndetail = \"terse\"\n"),
        ];
        insta::assert_snapshot!(messages.join("\n"), @r#"
        vault/.cru/config.toml:2:12: invalid type: integer `3`, expected a string | correct the file by hand; it is TOML
        vault/.cru/config.toml:1:7: unclosed table, expected `]` | correct the file by hand; it is TOML
        vault/.cru/config.toml:2:12: '../x' is not a folder inside the vault | write a relative path without '..', such as "sessions"
        vault/.cru/config.toml:2:18: 'a{b' is not a glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?) | for example "drafts/**" or "*.excalidraw.md"
        vault/.cru/config.toml:2:10: unknown variant `terse`, expected one of `brief`, `normal`, `full` | correct the file by hand; it is TOML
        "#);
    }

    #[test]
    fn globs_read_like_ignore_files() {
        let globs = Globs::new(&["*.tmp.md", "drafts/", "/top.md", "a/*/c.md"]).unwrap();
        for (path, expected) in [
            ("deep/x.tmp.md", true),
            ("drafts", true),
            ("x/drafts/y/z.md", true),
            ("top.md", true),
            ("x/top.md", false),
            ("a/b/c.md", true),
            ("a/b/b/c.md", false),
            ("draftsman.md", false),
        ] {
            assert_eq!(globs.matches(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn user_config() {
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, "/w", &[("HOME", "/home/me")]);
        let read = |text: &str| UserConfig::parse(text, Path::new("config.toml"), &env);
        assert_eq!(read("vault = \"~/notes\"").unwrap().0.vault, Some(PathBuf::from("/home/me/notes")));
        assert_eq!(read("").unwrap().0.vault, None);
        let (config, warnings) = read("[hosts.pi]\nstart = [\"pi\", \"{pack}\"]").unwrap();
        assert_eq!(config.hosts["pi"].start, ["pi", "{pack}"]);
        assert_eq!(warnings, []);
        let (config, warnings) = read("[prices]\n\"claude-opus-4-5\" = { input = 4, output = 20.5 }").unwrap();
        let own = config.prices["claude-opus-4-5"];
        assert_eq!((own.input, own.output, own.cache_read, warnings.len()), (4.0, 20.5, None, 0));
        for wrong in ["{ input = 4 }", "{ input = -1, output = 2 }", "{ input = 1, output = inf }", "{ in = 1 }", "3"] {
            assert!(read(&format!("[prices]\nm = {wrong}")).unwrap_err().to_string().contains("config.toml:2:"));
        }
        assert!(read("vault = \"notes\"").unwrap_err().to_string().contains("config.toml:1:9"));
        assert_eq!(read("valt = 1").unwrap().1[0].help.as_deref(), Some("did you mean 'vault'?"));
    }
}
