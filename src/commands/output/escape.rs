//! Text in an HTML page.

use crate::base::text::sanitise;

/// Text as HTML, in an element or a quoted attribute: control characters are taken out, marks of HTML escaped.
pub fn escape(text: &str) -> String {
    let clean = sanitise(text);
    let mut out = String::with_capacity(clean.len());
    for c in clean.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
