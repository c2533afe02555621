//! Which of a person's words ask for something. How words are cut and named is told in [`cru_session::words`].

use cru_session::correction::lets_go_on;
use cru_session::words::sentence::sentences;
use cru_session::words::title::tells;

/// Bytes of the longest words that only keep the work going.
const MAX_TALK: usize = 240;

/// Whether words only keep the work going: a command of the host, a line of a shell, `go on`.
pub(super) fn is_talk(words: &str) -> bool {
    let words = words.trim();
    if words.len() > MAX_TALK {
        return false;
    }
    let command = words.starts_with('/') && !words.contains([' ', '.']) && words.matches('/').count() == 1;
    command || words.starts_with('!') || lets_go_on(words)
}

/// Whether words are a question and nothing else that says anything.
pub(super) fn is_question(words: &str) -> bool {
    let asks = |sentence: &str| sentence.trim_end().ends_with('?');
    words.contains('?') && sentences(words.trim()).all(|sentence| asks(sentence) || !tells(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talk_is_known() {
        for words in ["Continue.", "ok", "go ahead!", "/undo", "!gh pr list"] {
            assert!(is_talk(words), "{words}");
        }
        assert!(!is_talk("continue with the migration of users") && !is_talk("please fix these"));
    }

    #[test]
    fn questions_ask_for_no_work() {
        assert!(is_question("Thanks! What is this pump for?") && !is_question("The pump leaks. Can you mend it?"));
        assert!(!is_question("Mend the pump"));
    }
}
