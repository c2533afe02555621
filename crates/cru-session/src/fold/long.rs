//! The longest text that a note holds in one piece.
//!
//! No editor opens a note of a hundred megabytes, and no person reads one. What stands behind the limit is named, and is
//! in the transcript as before.

use std::borrow::Cow;

use crate::event::{Event, EventKind};
use cru_base::lines::floor_char_boundary;
use cru_base::text::thousands;

/// Bytes of one text.
const MOST: usize = 2 << 20;

/// Cuts the texts of an event that a note would show whole.
pub(super) fn shorten(event: &mut Event<'_>) {
    match &mut event.kind {
        EventKind::Prompt(prompt) => cut(&mut prompt.text),
        EventKind::Reply(text) | EventKind::Thinking(text) | EventKind::ApiError(text) => cut(text),
        EventKind::Compaction { summary: Some(text), .. } | EventKind::Branch { summary: Some(text), .. } => cut(text),
        EventKind::Call(call) => cut(&mut call.args),
        EventKind::Decision(it) => cut(&mut it.text),
        EventKind::Remark(it) => cut(&mut it.text),
        _ => {}
    }
}

fn cut(text: &mut Cow<'_, str>) {
    if text.len() <= MOST {
        return;
    }
    let end = floor_char_boundary(text, MOST);
    // How far before the limit a blank is looked for, so that no word is cut in two.
    let start = floor_char_boundary(text, end - 4096);
    let end = text[start..end].rfind(char::is_whitespace).map_or(end, |at| start + at);
    let rest = thousands((text.len() - end) as u64);
    *text = Cow::Owned(format!("{}…\n\n… {rest} more bytes stand in the transcript.", &text[..end]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(text: &str) -> String {
        let mut event = Event { record: 1, time: None, kind: EventKind::Reply(Cow::Borrowed(text)) };
        shorten(&mut event);
        match event.kind {
            EventKind::Reply(text) => text.into_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn what_is_left_out_is_named() {
        let text = "wörd ".repeat(MOST);
        let short = shortened(&text);
        assert!(short.len() < MOST + 200, "{}", short.len());
        assert!(short.contains("wörd…\n\n… ") && short.ends_with(" more bytes stand in the transcript."));
        assert!(shortened(&"é".repeat(MOST)).contains("é…\n\n… "), "a text without a blank");
    }

    #[test]
    fn other_texts_stay() {
        let text = "x".repeat(MOST);
        assert_eq!(shortened(&text), text);
    }
}
