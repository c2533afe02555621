//! `cru hook`.
//!
//! The agent waits for it: one line is appended to the session's journal, and writing the note is left to another
//! process. It never fails; what went wrong stands in a log.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::agent::READER;
use super::checkpoint::{Risky, before_call, note_written};
use super::output::Raw;
use super::{Context, Output, View, flush, onset};
use crate::base::{Env, Error, files, threads};
use crate::live::hook::{Event, HOSTS, HookEntry, Host, Input, input, shell, trouble, unfiled};
use crate::live::log::Target;
use crate::live::policy::Save;
use crate::live::queue::{self, Asked};
use crate::live::resume;
use crate::live::turn;
use crate::sync::hooked;
use crate::vault::state::key;
use crate::vault::{Journal, State, UserConfig, Vault};

/// Record an event of an agent's hook
///
/// Called by the agent's program, with its JSON on stdin; `cru connect` sets that up. Appends one line to the
/// session's journal, prints nothing and exits with 0 whatever happens; trouble is in `hook.log`, which `cru hooks
/// status` names. Events: session-start, prompt, pre-tool, post-tool, post-tool-failure, stop, subagent-start,
/// subagent-stop, pre-compact, post-compact, session-end and others; the host's own names do as well.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What happened
    event: String,
    /// Whose hook it is
    #[arg(long, default_value = HOSTS[0].id)]
    host: String,
}

/// The variable with which `cru check hooks` calls a hook: the event goes to the journal, and no note is written.
pub(super) const TEST: &str = "CRU_HOOK_TEST";

/// Does it; never fails. A program that reads a session is no session of a person: nothing is written of it.
pub fn run(args: &Args, cx: &Context<'_>) -> Box<dyn Output> {
    if cx.env.var(READER).is_some() {
        return Box::new(Raw { name: "hook", text: String::new() });
    }
    let mut call = Call { args, cx, log: trouble::without_vault(cx.env), troubles: Vec::new() };
    let printed = stdin().and_then(|bytes| call.take(&bytes)).unwrap_or_else(|message| {
        call.troubles.push(message);
        None
    });
    if let Some(log) = &call.log {
        for message in &call.troubles {
            // Where not even this can be written there is nobody left to tell.
            let _ = trouble::note(log, cx.env.now(), &args.event, message);
        }
    }
    Box::new(Printed(printed))
}

/// Notes trouble that came before a vault was looked for.
pub fn trouble(env: &Env, event: &str, message: &str) {
    if let Some(log) = trouble::without_vault(env) {
        let _ = trouble::note(&log, env.now(), event, message);
    }
}

/// All of stdin, up to what a hook may be given.
fn stdin() -> Result<Vec<u8>, String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err("stdin is a terminal: this is for an agent's hook, see `cru connect`".to_owned());
    }
    let mut bytes = Vec::new();
    let mut stdin = stdin.lock();
    stdin.by_ref().take(input::MAX + 1).read_to_end(&mut bytes).map_err(|error| format!("stdin: {error}"))?;
    if bytes.len() as u64 > input::MAX {
        // A host that cannot write all of it may take that for an error of the hook.
        let _ = io::copy(&mut stdin, &mut io::sink());
        return Err(format!("more than {} MiB on stdin", input::MAX >> 20));
    }
    Ok(bytes)
}

/// One call of a hook.
struct Call<'a> {
    args: &'a Args,
    cx: &'a Context<'a>,
    log: Option<PathBuf>,
    troubles: Vec<String>,
}

impl Call<'_> {
    /// Puts the event in the journal, and gives what the host is to read.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<String>, String> {
        let refused = |what: String| format!("{} {what}", trouble::REFUSED);
        let called =
            Host::find(&self.args.host).ok_or_else(|| refused(format!("no host '{}' is known", self.args.host)))?;
        let input = Input::read(bytes);
        let host = input.as_ref().map_or(Ok(called), |input| input.teller(called)).map_err(|name| {
            refused(format!("an event of {name} through hooks of {}: no such host is known", called.title()))
        })?;
        let input = input.map(|input| input.shared(host));
        let cwd = input.as_ref().ok().and_then(Input::cwd);
        let folder = cwd.as_ref().map_or_else(|| self.cx.env.folder(), |cwd| self.cx.env.at(cwd.clone()).folder());
        let (vault, broken) = match self.vault(cwd) {
            Ok(found) => found,
            Err(error) => return Err(self.unfiled(host, input, &error)),
        };
        // The event is kept until somebody has corrected the configuration.
        let is_broken = broken.is_some();
        self.troubles.extend(broken.map(|error| words(&error)));
        let state = State::of(&vault, self.cx.env).map_err(|error| words(&error))?;
        if !is_broken {
            self.log = Some(state.hook_log());
        }
        let input = input?;
        let (event, session) = self.event(host, &input)?;
        let key = key(&format!("{}--{session}", host.id));
        // A test of the hooks changes nothing that a person would be shown.
        let is_test = self.cx.env.var(TEST).is_some();
        let risky = if is_test { None } else { Risky::of(host, event, &input, &key, &vault, &state, self.cx) };
        let entry = self.entry(host, event, &session, input);
        let now = self.cx.env.now();
        if unfiled::waits(&key, self.cx.env) && self.is_named(&vault) {
            let adopted = unfiled::adopt(&key, &state, self.cx.env);
            self.troubles.extend(adopted.err().map(|error| words(&error)));
        }
        let journal = Journal::at(state.journal(&key));
        // Some hosts tell no start.
        let is_start = event == Event::SessionStart || !journal.path().exists();
        journal.append(&entry, now).map_err(|error| words(&error))?;
        note_written(&entry, &key, &state);
        self.troubles.extend(before_call(risky, &key, &state, self.cx));

        let mut printed = None;
        if is_start && !is_test {
            self.keep_house(&vault, &state, &session);
        }
        if event == Event::SessionStart {
            self.tell_shell(host, &session);
            self.look_over(&vault);
            if vault.config().hooks.resume {
                threads::start(self.cx.env);
                printed = pack(&vault, &session, self.cx.env);
            }
            if vault.config().hooks.context && !is_test {
                threads::start(self.cx.env);
                if let Some((known, linked)) = onset::at_start(&folder, &session, self.cx) {
                    let kept = onset::keep_for_note(&linked, now, &key, &state);
                    self.troubles.extend(kept.err().map(|error| words(&error)));
                    printed = Some(printed.map_or(known.clone(), |pack| format!("{pack}\n{known}")));
                }
            }
        }
        let save = vault.config().session.save.as_deref().and_then(Save::parse).unwrap_or_default();
        if save.due(event, journal.path(), turn::handed_over(&state, &key), now) {
            self.flush(&vault, &state, &key, &session);
        }
        Ok(printed)
    }

    /// Which event it is, and of which session.
    fn event(&self, host: &Host, input: &Input) -> Result<(Event, String), String> {
        let named = Event::parse(&self.args.event).or_else(|| host.event(&self.args.event));
        let event = input.event(host).or(named).ok_or_else(|| format!("no event '{}' is known", self.args.event))?;
        let session = input.session().ok_or("the input names no session")?;
        Ok((event, session))
    }

    /// What the journal is to hold of the event.
    fn entry(&self, host: &Host, event: Event, session: &str, input: Input) -> HookEntry {
        let mut entry = HookEntry::new(host, event, input);
        if event == Event::SessionStart {
            entry.continues = self.continues(session);
        }
        entry
    }

    /// Keeps an event that has no vault until one is known; what the log says of it.
    fn unfiled(&self, host: &Host, input: Result<Input, String>, error: &Error) -> String {
        let (env, why) = (self.cx.env, words(error));
        let kept = input.and_then(|input| {
            let (event, session) = self.event(host, &input)?;
            let entry = self.entry(host, event, &session, input);
            let key = key(&format!("{}--{session}", host.id));
            unfiled::keep(&key, &entry, env.now(), env).map_err(|error| words(&error))
        });
        match kept {
            Ok(true) => format!("{why}; the event is kept until a vault is named"),
            Ok(false) => {
                format!("{why}; the event is not kept: there is no place, or too much waits (`cru check hooks`)")
            }
            Err(trouble) => format!("{why}; {trouble}"),
        }
    }

    /// Whether a person named the vault: a folder that an agent walks into may hold one of anybody's.
    fn is_named(&self, vault: &Vault) -> bool {
        let is_users = || UserConfig::read(self.cx.env).is_ok_and(|(config, _)| config.names(vault));
        self.cx.vault_arg().is_some() || self.cx.env.var("CRU_VAULT").is_some() || is_users()
    }

    /// As named by an option or variable; else found from the folder the agent works in.
    fn vault(&self, cwd: Option<PathBuf>) -> Result<(Vault, Option<Error>), Error> {
        let env = self.cx.env;
        match (self.cx.vault_arg(), env.var("CRU_VAULT"), cwd) {
            (None, None, Some(cwd)) => Vault::find_even_broken(None, &env.at(cwd)),
            (explicit, ..) => Vault::find_even_broken(explicit, env),
        }
    }

    /// The session that `cru session resume` handed over to this one.
    fn continues(&self, session: &str) -> Option<String> {
        let named = self.cx.env.var("CRU_SESSION").filter(|named| *named != session);
        named.filter(|named| named.len() <= 200 && !named.chars().any(char::is_control)).map(str::to_owned)
    }

    /// Has the agent's shell know the session, so that `cru log` there writes to it.
    fn tell_shell(&mut self, host: &Host, session: &str) {
        let Some(path) =
            host.env_file.and_then(|name| self.cx.env.var(name)).map(|path| self.cx.absolute(Path::new(path)))
        else {
            return;
        };
        let vault = self.cx.vault_arg().map(|path| self.cx.absolute(path));
        let vault = vault.as_ref().and_then(|path| shell::export("CRU_VAULT", path.to_str()?));
        let Some(line) = shell::export("CRU_SESSION", session) else {
            return self.troubles.push("the session's id is none that a shell is told".to_owned());
        };
        if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return self.troubles.push(format!("{} is no file", path.display()));
        }
        if let Err(error) = files::append(&path, format!("{line}{}", vault.unwrap_or_default()).as_bytes()) {
            self.troubles.push(words(&error));
        }
    }

    /// Looks for what is odd in the configuration, once for each start of a session.
    fn look_over(&mut self, vault: &Vault) {
        let config = vault.config();
        for warning in vault.warnings() {
            self.troubles.push(format!(".cru/config.toml: {}", warning.diagnostic.message));
        }
        if let Some(save) = config.session.save.as_deref().filter(|save| Save::parse(save).is_none()) {
            self.troubles.push(format!("[session] save = '{save}': `phase`, `step`, `20 events` or `30 s`"));
        }
        if let Some(flush) = config.hooks.flush.as_deref().filter(|&flush| FlushMode::parse(flush).is_none()) {
            self.troubles.push(format!("[hooks] flush = '{flush}': `background`, `inline` or `never`"));
        }
    }

    /// Does for all sessions what nobody has done since the last one began: what waits is written, what is over is closed. What
    /// this session is told of at its start comes first and within a moment; the rest is left to another process.
    fn keep_house(&mut self, vault: &Vault, state: &State, session: &str) {
        let how = FlushMode::of(vault);
        if how == FlushMode::Background && vault.config().hooks.context {
            threads::start(self.cx.env);
            let begun = Instant::now();
            let waiting = hooked::waiting(vault, state).unwrap_or_default();
            for other in waiting.iter().filter(|other| other.host_session != session) {
                // Whoever writes it now may have begun before what came last.
                while turn::Turn::is_taken(state, &other.key) && begun.elapsed() < MOMENT {
                    std::thread::sleep(Duration::from_millis(10));
                }
                if begun.elapsed() > MOMENT {
                    break;
                }
                let written = flush::write(Some(&other.host_session), vault, state, self.cx);
                self.troubles.extend(written.err().map(|error| words(&error)));
            }
        }
        let done = self.write(how, &Asked::All, vault, state);
        self.troubles.extend(done.err());
    }

    /// Has the note written.
    fn flush(&mut self, vault: &Vault, state: &State, key: &str, session: &str) {
        // `cru check hooks` looks where an event arrives; no note is to be made of that.
        if self.cx.env.var(TEST).is_some() {
            return;
        }
        let written = self.write(FlushMode::of(vault), &Asked::Session(session.to_owned()), vault, state);
        let hand_over = || turn::hand_over(state, key).map_err(|error| words(&error));
        let done = written.and_then(|is_begun| if is_begun { hand_over() } else { Ok(()) });
        self.troubles.extend(done.err());
    }

    /// Writes, or has another process do it; whether that was begun.
    fn write(&self, how: FlushMode, asked: &Asked, vault: &Vault, state: &State) -> Result<bool, String> {
        match how {
            FlushMode::Never => Ok(false),
            FlushMode::Background => {
                queue::put(state, asked).map_err(|error| words(&error))?;
                if queue::is_awaited(state) {
                    return Ok(false);
                }
                self.spawn(vault, state, asked).map(|()| true).map_err(|error| format!("cru admin flush: {error}"))
            }
            FlushMode::Inline => {
                threads::start(self.cx.env);
                flush::write(asked.session(), vault, state, self.cx).map(|()| true).map_err(|error| words(&error))
            }
        }
    }

    fn spawn(&self, vault: &Vault, state: &State, asked: &Asked) -> io::Result<()> {
        let mut root = OsString::from("--vault=");
        root.push(vault.root());
        let mut args =
            vec!["admin".as_ref(), "flush".as_ref(), "--quiet".as_ref(), root.as_ref(), "--background".as_ref()];
        match asked {
            Asked::All => args.push("--all".as_ref()),
            Asked::Session(session) => args.extend([OsStr::new("--"), session.as_ref()]),
        }
        self.cx.ui.spawn_detached(&args, &state.hook_log())
    }
}

/// How long the start of a session may wait for the notes of others.
const MOMENT: Duration = Duration::from_millis(1500);

/// `[hooks] flush`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlushMode {
    Background,
    Inline,
    Never,
}

impl FlushMode {
    fn of(vault: &Vault) -> Self {
        vault.config().hooks.flush.as_deref().and_then(Self::parse).unwrap_or(Self::Background)
    }

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "background" => Some(Self::Background),
            "inline" => Some(Self::Inline),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// What the session is taken up again with, for the host to read; nothing for one that has no note yet.
fn pack(vault: &Vault, session: &str, env: &Env) -> Option<String> {
    let target = Target::find(Some(session), vault, env).ok()?;
    Some(resume::brief(&vault.session(&target.path).ok()?))
}

/// An error with its causes and what to do, in one line.
fn words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        words.push_str(&format!(": {source}"));
        cause = source.source();
    }
    if let Some(hint) = error.hint() {
        words.push_str(&format!(" ({hint})"));
    }
    words
}

/// What the host reads; mostly nothing.
struct Printed(Option<String>);

impl Output for Printed {
    fn text(&self, _: &View) -> String {
        self.0.clone().unwrap_or_default()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({ "schema": 1, "context": self.0 }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jiff::Timestamp;

    use super::*;
    use crate::commands::{Global, Progress, Ui};

    /// Remembers what would have been started.
    #[derive(Default)]
    struct Fake {
        started: Mutex<Vec<Vec<String>>>,
    }

    impl Ui for Fake {
        fn warn(&self, _: &str) {}
        fn note(&self, _: &str) {}
        fn detail(&self, _: &str) {}
        fn progress(&self, _: &str, _: u64) -> Box<dyn Progress> {
            unreachable!("a hook shows no bar")
        }
        fn spawn_detached(&self, args: &[&OsStr], log: &Path) -> io::Result<()> {
            assert!(log.ends_with("hook.log"));
            let args = args.iter().map(|arg| arg.to_str().unwrap().to_owned()).collect();
            self.started.lock().unwrap().push(args);
            Ok(())
        }
    }

    /// A vault with its state, and hooks that are called there second by second.
    struct World {
        temp: tempfile::TempDir,
        ui: Fake,
        /// How often the start of a session had the others looked after.
        kept_house: std::cell::Cell<usize>,
    }

    impl World {
        fn new(config: &str) -> Self {
            let temp = tempfile::tempdir().unwrap();
            files::create(&temp.path().join("vault/.cru/config.toml"), config.as_bytes()).unwrap();
            Self { temp, ui: Fake::default(), kept_house: std::cell::Cell::default() }
        }

        fn vault(&self) -> PathBuf {
            self.temp.path().join("vault")
        }

        /// The troubles of an event at a second, and what was started after it.
        fn call(&self, event: &str, second: i64) -> (Vec<String>, usize) {
            let state = self.temp.path().join("state");
            let env = self.temp.path().join("env");
            let vars = [("XDG_STATE_HOME", state.to_str().unwrap()), ("CLAUDE_ENV_FILE", env.to_str().unwrap())];
            let env = Env::fixed(Timestamp::from_second(second).unwrap(), self.temp.path(), &vars);
            let global = Global::default();
            let cx = Context { env: &env, global: &global, ui: &self.ui };
            let args = Args { event: event.to_owned(), host: "claude-code".to_owned() };
            let mut call = Call { args: &args, cx: &cx, log: None, troubles: Vec::new() };
            let input = serde_json::json!({"session_id": "-949d", "cwd": self.vault()});
            let failed = call.take(input.to_string().as_bytes()).err();
            call.troubles.extend(failed);
            let started = std::mem::take(&mut *self.ui.started.lock().unwrap());
            let vault = format!("--vault={}", self.vault().display());
            let all = ["admin", "flush", "--quiet", &vault, "--background", "--all"];
            let one = ["admin", "flush", "--quiet", &vault, "--background", "--", "-949d"];
            let (of_all, of_one): (Vec<_>, Vec<_>) = started.iter().partition(|args| args[..] == all);
            assert!(of_one.iter().all(|args| args[..] == one), "{of_one:?}");
            self.kept_house.set(self.kept_house.get() + of_all.len());
            (call.troubles, of_one.len())
        }
    }

    const FINE: Vec<String> = Vec::new();

    #[test]
    fn the_note_is_written_when_the_policy_says_so() {
        let world = World::new("");
        assert_eq!(world.call("post-tool", 0), (FINE, 0));
        assert_eq!(world.call("post-tool", 29), (FINE, 0));
        assert_eq!(world.call("post-tool", 30), (FINE, 1), "thirty seconds after the first");
        assert_eq!(world.call("post-tool", 31), (FINE, 0), "this one is the first now");
        assert_eq!(world.call("post-tool", 60), (FINE, 0));
        assert_eq!(world.call("post-tool", 61), (FINE, 1));
        for event in ["stop", "prompt", "subagent-stop", "pre-compact", "session-end"] {
            assert_eq!(world.call(event, 62), (FINE, 1), "{event}");
        }
        let every = World::new("[session]\nsave = \"2 events\"\n");
        assert_eq!((0..6).map(|second| every.call("pre-tool", second).1).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn one_that_waits_is_enough() {
        let world = World::new("");
        world.call("pre-tool", 0);
        let states = std::fs::read_dir(world.temp.path().join("state/cru")).unwrap();
        let state = State::at(states.map(|entry| entry.unwrap().path()).next().unwrap());
        let _waiting = files::try_lock(&state.lock("background.wait")).unwrap().unwrap();
        assert_eq!(world.call("stop", 1), (FINE, 0));
        let _ = queue::next(&state);
        assert_eq!(queue::next(&state), Some(Asked::Session("-949d".to_owned())), "it finds the session there");
    }

    #[test]
    fn the_start_of_a_session_looks_after_the_others_once() {
        let world = World::new("");
        for event in ["session-start", "prompt", "pre-tool", "stop"] {
            world.call(event, 0);
        }
        assert_eq!(world.kept_house.get(), 1);
        let silent = World::new("");
        silent.call("prompt", 0);
        silent.call("stop", 1);
        assert_eq!(silent.kept_house.get(), 1, "a host that tells no start");
        let never = World::new("[hooks]\nflush = \"never\"\n");
        never.call("session-start", 0);
        assert_eq!(never.kept_house.get(), 0);
    }

    #[test]
    fn never_and_inline_start_nothing() {
        for flush in ["never", "inline"] {
            let world = World::new(&format!("[hooks]\nflush = \"{flush}\"\n"));
            assert_eq!(world.call("stop", 0), (FINE, 0));
        }
    }

    #[test]
    fn odd_settings_are_told_once_and_the_default_holds() {
        let world = World::new("[session]\nsave = \"often\"\n[hooks]\nflush = \"later\"\nresum = true\n");
        let (troubles, started) = world.call("session-start", 0);
        assert_eq!(troubles.len(), 3, "{troubles:?}");
        assert!(troubles[0].contains("resum") && troubles[1].contains("often") && troubles[2].contains("later"));
        assert_eq!(started, 0);
        assert_eq!(world.call("stop", 1), (FINE, 1));
        let shell = files::read(&world.temp.path().join("env")).unwrap();
        assert_eq!(shell, b"export CRU_SESSION=-949d\n");
    }
}
