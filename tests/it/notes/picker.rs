//! `list -i` and `search -i` on a terminal of 80 columns and 24 lines.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::view::vault;
use unicode_width::UnicodeWidthStr as _;

use crate::small_vault::SmallVault;

/// The program at a terminal.
struct Terminal {
    child: Child,
    master: File,
    said: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Terminal {
    fn run(vault: &SmallVault, args: &[&str], colours: bool) -> Self {
        Self::piped(vault, args, colours, false)
    }

    /// The same; with `pipe` its stdout is no terminal.
    fn piped(vault: &SmallVault, args: &[&str], colours: bool, pipe: bool) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        resize(&master, 24, 80);
        let end = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(vault.home());
        command.env("HOME", vault.home()).env("CRU_VAULT", vault.path("vault")).env("PATH", "/bin:/usr/bin");
        command
            .env("TERM", "xterm")
            .env("CRU_NOW", "2026-11-21T08:00:00Z")
            .env("PAGER", "cat")
            .env("EDITOR", "echo edits");
        if !colours {
            command.env("NO_COLOR", "1");
        }
        let child =
            command.stdin(end()).stdout(if pipe { Stdio::piped() } else { end() }).stderr(end()).spawn().unwrap();
        drop(command);
        Self { child, master: File::from(master), said: String::new() }
    }

    /// Reads until the terminal has been told this, since the last time.
    fn until(&mut self, words: &str) -> String {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.said.find(words) {
                let rest = self.said.split_off(at + words.len());
                return std::mem::replace(&mut self.said, rest);
            }
            let count = self.master.read(&mut bytes).unwrap_or(0);
            assert_ne!(count, 0, "never: {words}\n{}", self.said);
            self.said.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// The rest of what is said, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let code = self.child.wait().unwrap().code();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = self.master.read(&mut bytes) {
            self.said.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        (std::mem::take(&mut self.said), code)
    }
}

fn resize(master: impl std::os::fd::AsFd, rows: u16, columns: u16) {
    tcsetwinsize(master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

fn two() -> SmallVault {
    let vault = vault();
    vault.put(
        "vault/sessions/lamps.md",
        "---\ntype: session\nsession_id: lamps\ntitle: Lamps of the pier\nstatus: completed\nstarted: 2026-11-19T09:00:00Z\n---\n# Lamps of the pier\n\nThey shine at night.\n",
    );
    vault
}

#[test]
fn a_session_is_found_and_shown() {
    let vault = two();
    let mut terminal = Terminal::run(&vault, &["list", "-i"], true);
    let screen = terminal.until("esc quits");
    assert!(screen.contains("Lamps of the pier") && screen.contains("\x1b[7m"), "{screen}");
    assert!(!screen.contains("\x1b[31m"), "what a note says is no command of the terminal");
    terminal.keys("pier");
    terminal.until("> pier");
    terminal.until("They shine");
    terminal.keys("\r");
    terminal.until("\x1b[?1049l");
    let (rest, code) = terminal.end();
    assert!(rest.contains("sessions/lamps.md") && code == Some(0), "{code:?} {rest}");
}

#[test]
fn rows_take_commands_and_it_quits_cleanly() {
    let vault = two();
    let mut terminal = Terminal::run(&vault, &["list", "-i"], false);
    let screen = terminal.until("esc quits");
    assert!(!screen.contains("\x1b[7m") && !screen.contains("\x1b[2m"), "NO_COLOR: {screen}");
    let widest = screen.split("\r\n").map(|line| console_width(line.trim_end_matches('\r'))).max();
    assert!(widest.is_some_and(|widest| widest <= 80), "{widest:?}");
    terminal.keys("\x1b[B");
    terminal.until("q quits");
    terminal.keys("q");
    terminal.until("\x1b[?25h");
    terminal.until("\x1b[?1049l");
    assert_eq!(terminal.end().1, Some(0));

    let mut terminal = Terminal::run(&vault, &["list", "-i"], false);
    terminal.until("esc quits");
    terminal.keys("pier");
    terminal.until("> pier");
    terminal.keys("\x0f");
    terminal.until("\x1b[?1049l");
    let (rest, code) = terminal.end();
    assert!(rest.contains("edits") && rest.contains("lamps.md") && code == Some(0), "{rest}");

    let mut terminal = Terminal::run(&vault, &["search", "-i", "shine"], false);
    terminal.until("They shine");
    terminal.keys("\x03");
    terminal.until("\x1b[?1049l");
    assert_eq!(terminal.end().1, Some(0));
}

/// Columns of a line without what commands the terminal.
fn console_width(line: &str) -> usize {
    let mut plain = String::new();
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        if c != '\x1b' {
            plain.push(c);
        } else if letters.next() == Some('[') {
            while letters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        }
    }
    plain.width()
}

#[test]
fn without_a_terminal_it_says_so() {
    for args in [&["list", "-i"][..], &["search", "-i", "shine"]] {
        let ran = two().run_in("vault", args, "");
        assert_eq!(ran.status.code(), Some(2));
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("-i needs a terminal") && said.contains("hint:"), "{said}");
    }
}

/// What is picked goes where the output goes; what it is picked on stays on the terminal.
#[test]
fn what_is_picked_goes_into_a_pipe() {
    let vault = two();
    let mut terminal = Terminal::piped(&vault, &["list", "-i"], false, true);
    terminal.until("esc quits");
    terminal.keys("pier");
    terminal.until("> pier");
    terminal.keys("\r");
    let mut said = String::new();
    terminal.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("They shine") && !said.contains('\x1b'), "{said}");
    assert_eq!(terminal.end().1, Some(0));
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let vault = two();
    let mut terminal = Terminal::run(&vault, &["list", "-i"], false);
    assert!(terminal.until("esc quits").contains('│'));
    for (rows, columns) in [(12, 64), (40, 120), (24, 80)] {
        resize(&terminal.master, rows, columns);
        let screen = terminal.until("esc quits");
        assert_eq!(screen.contains('│'), columns >= 72, "{columns}: {screen}");
        let lines: Vec<&str> = screen.split("\r\n").collect();
        assert_eq!(lines.len(), usize::from(rows), "{screen}");
        let widest = lines.iter().map(|line| console_width(line.trim_end_matches('\r'))).max();
        assert!(widest.is_some_and(|widest| widest <= usize::from(columns)), "{columns}: {widest:?}");
    }
    terminal.keys("\x03");
    assert_eq!(terminal.end().1, Some(0));
}

#[test]
fn a_hit_is_previewed_where_it_stands() {
    let vault = two();
    let far =
        format!("They shine at night.\n\n{}Far below stands quixel.\n\nAnd after it.\n", "Between.\n\n".repeat(300));
    let lamps = vault.read("vault/sessions/lamps.md").replace("They shine at night.\n", &far);
    vault.put("vault/sessions/lamps.md", &lamps);
    let mut terminal = Terminal::run(&vault, &["search", "-i", "quixel"], false);
    let screen = terminal.until("esc quits");
    assert!(screen.contains("▸ Far below") && screen.contains("And after it.") && !screen.contains("They shine"));
    terminal.keys("\x03");
    assert_eq!(terminal.end().1, Some(0));
}

/// `resume` says what it does for a session, or why it cannot.
#[test]
fn a_session_is_taken_up_again() {
    let vault = two();
    for keys in ["\x12", "\x1b[Br"] {
        let mut terminal = Terminal::run(&vault, &["list", "-i"], false);
        terminal.until("esc quits");
        terminal.keys("pier");
        terminal.until("> pier");
        terminal.keys(keys);
        terminal.until("\x1b[?1049l");
        let direct = vault.run_in("vault", &["resume", "--", "sessions/lamps.md"], "");
        let (rest, code) = terminal.end();
        assert_eq!(code, direct.status.code(), "{rest}");
        let said = [direct.stdout, direct.stderr].concat();
        let first = String::from_utf8(said).unwrap().lines().next().unwrap_or_default().to_owned();
        assert!(!first.is_empty() && rest.contains(&first), "{first}: {rest}");
    }
}
