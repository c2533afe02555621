//! One of many rows, picked on a terminal: words to filter by, the rows, a preview beside them.

use std::io;

use console::{Key, Term};

use crate::base::text::one_line;
use crate::commands::output::cut;
use crate::commands::{PickVerb, Pickable};
use unicode_width::UnicodeWidthStr as _;

/// What is shown on the other screen of a terminal, which is left when this is dropped.
struct Picker {
    term: Term,
    /// How the terminal was set before.
    #[cfg(unix)]
    before: rustix::termios::Termios,
    words: String,
    rows: Vec<String>,
    at: usize,
    /// Whether letters are commands and not part of the words.
    in_rows: bool,
}

/// What a person picked; `None` where they left without. Error: the terminal's.
pub(super) fn pick(from: &mut dyn Pickable, colours: bool) -> io::Result<Option<(usize, PickVerb)>> {
    let words = from.words();
    let rows = from.rows(&words);
    let mut picker = Picker {
        term: Term::buffered_stderr(),
        #[cfg(unix)]
        before: take_keys()?,
        words,
        rows,
        at: 0,
        in_rows: false,
    };
    picker.term.write_str("\x1b[?1049h")?;
    picker.term.hide_cursor()?;
    loop {
        let size = picker.term.size();
        picker.draw(size, from, colours)?;
        if !picker.awaits_key(size)? {
            continue;
        }
        let page = usize::from(size.0).saturating_sub(3).max(1);
        let last = picker.rows.len().saturating_sub(1);
        let mut verb = None;
        match picker.term.read_key_raw()? {
            Key::CtrlC => return Ok(None),
            Key::Escape if picker.in_rows || picker.words.is_empty() => return Ok(None),
            Key::Escape | Key::Char('\u{15}') => picker.ask(String::new(), from),
            Key::Enter => verb = Some(PickVerb::Show),
            Key::Char('\u{12}') => verb = Some(PickVerb::Resume),
            Key::Char('\u{f}') => verb = Some(PickVerb::Edit),
            Key::ArrowDown | Key::Char('\u{e}') => picker.go((picker.at + 1).min(last)),
            Key::ArrowUp | Key::Char('\u{10}') => picker.go(picker.at.saturating_sub(1)),
            Key::PageDown => picker.go((picker.at + page).min(last)),
            Key::PageUp => picker.go(picker.at.saturating_sub(page)),
            Key::Home => picker.go(0),
            Key::End => picker.go(last),
            Key::Tab => picker.in_rows = !picker.in_rows,
            Key::Backspace => {
                let mut words = std::mem::take(&mut picker.words);
                words.pop();
                picker.ask(words, from);
            }
            Key::Char(key) if picker.in_rows => match key {
                'r' => verb = Some(PickVerb::Resume),
                'e' => verb = Some(PickVerb::Edit),
                'j' => picker.go((picker.at + 1).min(last)),
                'k' => picker.go(picker.at.saturating_sub(1)),
                'q' => return Ok(None),
                '/' => picker.in_rows = false,
                _ => {}
            },
            Key::Char(key) if !key.is_control() => {
                let words = format!("{}{key}", picker.words);
                picker.ask(words, from);
            }
            _ => {}
        }
        if let Some(verb) = verb.filter(|_| !picker.rows.is_empty()) {
            return Ok(Some((picker.at, verb)));
        }
    }
}

impl Picker {
    fn ask(&mut self, words: String, from: &mut dyn Pickable) {
        self.rows = from.rows(&words);
        (self.words, self.at, self.in_rows) = (words, 0, false);
    }

    /// Waits for a key; false where the terminal has another size than was drawn for before one comes.
    #[cfg(unix)]
    fn awaits_key(&self, size: (u16, u16)) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = io::stdin();
        let look = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
        while self.term.size() == size {
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Elsewhere the next key shows it.
    #[cfg(not(unix))]
    fn awaits_key(&self, _: (u16, u16)) -> io::Result<bool> {
        Ok(true)
    }

    fn go(&mut self, to: usize) {
        (self.at, self.in_rows) = (to, true);
    }

    fn draw(&self, (height, width): (u16, u16), from: &mut dyn Pickable, colours: bool) -> io::Result<()> {
        let (height, width) = (usize::from(height).max(4), usize::from(width).max(20));
        let room = height - 2;
        // A narrow terminal has no room for a preview.
        let left = if width >= 72 { width * 9 / 20 } else { width };
        let first = (self.at + 1).saturating_sub(room);
        let shown = width.saturating_sub(left + 3);
        let preview = if shown > 0 && !self.rows.is_empty() { from.preview(self.at, shown) } else { String::new() };
        let mut preview = preview.lines();
        let look =
            |text: &str, look: &str| if colours { format!("\x1b[{look}m{text}\x1b[0m") } else { text.to_owned() };
        let mut out = String::from("\x1b[H");
        let prompt = if self.in_rows { "  " } else { "> " };
        let count = format!("  {}", self.rows.len());
        out.push_str(&format!(
            "{}{}\x1b[K\r\n",
            look(&padded(&format!("{prompt}{}", self.words), width - count.len()), "1"),
            look(&count, "2")
        ));
        for row in first..first + room {
            let text = self.rows.get(row).map_or(String::new(), |text| {
                format!("{}{}", if row == self.at { "▌ " } else { "  " }, one_line(text))
            });
            let line = padded(&text, left);
            out.push_str(&if row == self.at && !text.is_empty() { look(&line, "7") } else { line });
            if left < width {
                out.push_str(&format!(" {} {}", look("│", "2"), cut(preview.next().unwrap_or_default(), shown)));
            }
            out.push_str("\x1b[K\r\n");
        }
        let keys = if self.in_rows {
            "enter shows  r resumes  e edits  / filters  q quits"
        } else {
            "enter shows  ^R resumes  ^O edits  ↓ to the rows  esc quits"
        };
        out.push_str(&format!("{}\x1b[K\x1b[J", look(&cut(keys, width), "2")));
        self.term.write_str(&out)?;
        self.term.flush()
    }
}

/// Has the terminal hand on each key as it is, also those that are typed while something is drawn; how it was set before.
#[cfg(unix)]
fn take_keys() -> io::Result<rustix::termios::Termios> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let before = tcgetattr(io::stdin())?;
    let mut keys = before.clone();
    keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
    tcsetattr(io::stdin(), OptionalActions::Now, &keys)?;
    Ok(before)
}

impl Drop for Picker {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.before);
        let _ = self.term.show_cursor();
        let _ = self.term.write_str("\x1b[?1049l");
        let _ = self.term.flush();
    }
}

/// A text of just that width.
fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let blanks = width.saturating_sub(text.width());
    text + &" ".repeat(blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_one_width() {
        for text in ["", "short", "a longer line than that", "日本語の長い題名です", "e\u{301}e\u{301}e\u{301}"]
        {
            assert_eq!(padded(text, 10).width(), 10, "{text}");
        }
    }
}
