//! Which of a person's words ask for something. How words are cut and named is told in [`cru_session::words`].

use cru_session::correction::{is_choice, lets_go_on};
use cru_session::words::list::GOING_ON;

/// Bytes of the longest words that only keep the work going.
const MAX_TALK: usize = 240;

/// Whether words are nothing but a command of the host: `/review`.
pub(super) fn is_call(words: &str) -> bool {
    let words = words.trim();
    words.starts_with('/') && !words.contains([' ', '.']) && words.matches('/').count() == 1
}

/// Whether words only keep the work going: a command of the host, a line of a shell, `go on`, a choice from a list.
pub(super) fn is_talk(words: &str) -> bool {
    let words = words.trim();
    if words.len() > MAX_TALK {
        return false;
    }
    is_call(words) || words.starts_with('!') || lets_go_on(words) || is_choice(words)
}

/// Whether words say nothing but to go on: they choose nothing and add nothing.
pub(super) fn is_nod(words: &str) -> bool {
    let words = words.trim().trim_end_matches(['.', '!', ' ']);
    words.starts_with('!') || GOING_ON.has(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talk_is_known() {
        for words in ["Continue.", "ok", "go ahead!", "/undo", "!gh pr list", "3", "C"] {
            assert!(is_talk(words), "{words}");
        }
        assert!(!is_talk("continue with the migration of users") && !is_talk("please fix these"));
        assert!(is_nod("Continue.") && !is_nod("yes, do B"));
    }
}
