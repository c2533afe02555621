//! How each callout kind looks: one row a kind.

use anstyle::{AnsiColor, Color, Style};

/// The look of a callout.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalloutLook {
    /// Kind in lower case.
    pub(super) kind: &'static str,
    /// One column wide in a terminal.
    pub(super) icon: &'static str,
    /// Colour in a terminal.
    pub(super) colour: AnsiColor,
    /// Colour on a page.
    pub(super) css: &'static str,
}

const LOOKS: &[CalloutLook] = &[
    CalloutLook { kind: "decision", icon: "◆", colour: AnsiColor::Green, css: "#2f9e44" },
    CalloutLook { kind: "gate", icon: "▣", colour: AnsiColor::Green, css: "#2f9e44" },
    CalloutLook { kind: "error", icon: "✗", colour: AnsiColor::Red, css: "#e03131" },
    CalloutLook { kind: "user", icon: "❯", colour: AnsiColor::Yellow, css: "#e8890c" },
    CalloutLook { kind: "subagent", icon: "◎", colour: AnsiColor::Magenta, css: "#9c36b5" },
    CalloutLook { kind: "checkpoint", icon: "⚑", colour: AnsiColor::Cyan, css: "#1098ad" },
    CalloutLook { kind: "lesson", icon: "✦", colour: AnsiColor::Cyan, css: "#0ca678" },
    CalloutLook { kind: "quirk", icon: "⚠", colour: AnsiColor::Yellow, css: "#f08c00" },
    CalloutLook { kind: "thought", icon: "…", colour: AnsiColor::BrightBlack, css: "#868e96" },
    CalloutLook { kind: "context", icon: "↳", colour: AnsiColor::Blue, css: "#1c7ed6" },
    CalloutLook { kind: "segment", icon: "§", colour: AnsiColor::Blue, css: "#1c7ed6" },
    CalloutLook { kind: "usage", icon: "Σ", colour: AnsiColor::BrightBlack, css: "#868e96" },
    CalloutLook { kind: "summary", icon: "≡", colour: AnsiColor::Blue, css: "#1c7ed6" },
    CalloutLook { kind: "deviation", icon: "↯", colour: AnsiColor::Yellow, css: "#f08c00" },
    CalloutLook { kind: "conflict", icon: "⇄", colour: AnsiColor::Red, css: "#e03131" },
];

/// The look of any other kind.
const OTHER: CalloutLook = CalloutLook { kind: "", icon: "●", colour: AnsiColor::Blue, css: "#1c7ed6" };

/// The colours of all kinds on pages, as rules of a stylesheet.
pub(super) fn colours() -> String {
    let rule = |look: &CalloutLook| format!("[data-callout=\"{}\"] {{ --kind: {}; }}\n", look.kind, look.css);
    LOOKS.iter().map(rule).collect()
}

impl CalloutLook {
    /// The look of `kind`, in lower case.
    pub(super) fn of(kind: &str) -> Self {
        LOOKS.iter().find(|look| look.kind == kind).copied().unwrap_or(OTHER)
    }

    /// The style of its title.
    pub(super) const fn style(self) -> Style {
        Style::new().fg_color(Some(Color::Ansi(self.colour))).bold()
    }

    /// The style of the bar beside it.
    pub(super) const fn bar(self) -> Style {
        Style::new().fg_color(Some(Color::Ansi(self.colour)))
    }
}
