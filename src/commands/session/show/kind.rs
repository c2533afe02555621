//! How each callout kind looks: one row a kind.

use anstyle::{AnsiColor, Color, Style};

/// The look of a callout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Kind in lower case.
    pub(super) kind: &'static str,
    /// One column wide in a terminal.
    pub(super) icon: &'static str,
    /// Colour in a terminal.
    pub(super) colour: AnsiColor,
    /// Colour on a page.
    pub(super) css: &'static str,
}

const LOOKS: &[Look] = &[
    Look { kind: "decision", icon: "◆", colour: AnsiColor::Green, css: "#2f9e44" },
    Look { kind: "gate", icon: "▣", colour: AnsiColor::Green, css: "#2f9e44" },
    Look { kind: "error", icon: "✗", colour: AnsiColor::Red, css: "#e03131" },
    Look { kind: "user", icon: "❯", colour: AnsiColor::Yellow, css: "#e8890c" },
    Look { kind: "subagent", icon: "◎", colour: AnsiColor::Magenta, css: "#9c36b5" },
    Look { kind: "checkpoint", icon: "⚑", colour: AnsiColor::Cyan, css: "#1098ad" },
    Look { kind: "lesson", icon: "✦", colour: AnsiColor::Cyan, css: "#0ca678" },
    Look { kind: "quirk", icon: "⚠", colour: AnsiColor::Yellow, css: "#f08c00" },
    Look { kind: "thought", icon: "…", colour: AnsiColor::BrightBlack, css: "#868e96" },
    Look { kind: "context", icon: "↳", colour: AnsiColor::Blue, css: "#1c7ed6" },
    Look { kind: "segment", icon: "§", colour: AnsiColor::Blue, css: "#1c7ed6" },
    Look { kind: "usage", icon: "Σ", colour: AnsiColor::BrightBlack, css: "#868e96" },
    Look { kind: "summary", icon: "≡", colour: AnsiColor::Blue, css: "#1c7ed6" },
    Look { kind: "deviation", icon: "↯", colour: AnsiColor::Yellow, css: "#f08c00" },
    Look { kind: "conflict", icon: "⇄", colour: AnsiColor::Red, css: "#e03131" },
];

/// The look of any other kind.
const OTHER: Look = Look { kind: "", icon: "●", colour: AnsiColor::Blue, css: "#1c7ed6" };

impl Look {
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
