//! A diagnostic as words with a code frame.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::View;
use super::output::style::{self, paint};
use crate::base::lines::floor_char_boundary;
use crate::base::text::plural;
use crate::base::{Diagnostic, Lines, Severity};

/// Longer lines are not shown: nobody reads them, and a frame must not cost more than a parse.
const LONGEST_LINE: usize = 2_000;
/// A frame shows at most this many lines of what it points at.
const MOST_LINES: usize = 4;

/// How many there are of each kind: `nothing wrong`, `1 error, 3 warnings`.
pub(super) fn verdict(errors: u64, warnings: u64) -> String {
    let (bad, odd) = (paint(style::BAD, plural(errors, "error")), paint(style::WARN, plural(warnings, "warning")));
    match (errors, warnings) {
        (0, 0) => paint(style::GOOD, "nothing wrong"),
        (0, _) => odd,
        (_, 0) => bad,
        _ => format!("{bad}, {odd}"),
    }
}

/// Renders one diagnostic of the file `path` holding `text`.
///
/// `error[duplicate-id]: …`, the place as `path:line:column`, the lines with a mark under the spot, and help.
pub(super) fn render(path: &str, text: &str, lines: &Lines, diagnostic: &Diagnostic, view: &View) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let (line, column) = lines.place(text, diagnostic.span.start);
    let window = window(text, lines, diagnostic);
    let group = match &window {
        Some((first, source, span)) => title.element(
            Snippet::source(*source)
                .line_start(*first)
                .path(path)
                .fold(false)
                .annotation(AnnotationKind::Primary.span(span.clone())),
        ),
        None => title.element(annotate_snippets::Origin::path(path).line(line).char_column(column)),
    };
    let group = match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_ref())),
        None => group,
    };
    let renderer = Renderer::styled().decor_style(if view.terminal { DecorStyle::Unicode } else { DecorStyle::Ascii });
    renderer.term_width(view.width).render(&[group])
}

/// The lines to show: number of the first, their text, and the spot within it.
fn window<'a>(
    text: &'a str,
    lines: &Lines,
    diagnostic: &Diagnostic,
) -> Option<(usize, &'a str, std::ops::Range<usize>)> {
    let first = lines.line(floor_char_boundary(text, diagnostic.span.start));
    let start = lines.start(first)?;
    let last = lines.line(diagnostic.span.end.saturating_sub(1).max(diagnostic.span.start)).min(first + MOST_LINES - 1);
    let end = lines.start(last + 1).unwrap_or(text.len());
    let source = text.get(start..end)?.trim_end_matches(['\n', '\r']);
    if source.lines().any(|line| line.len() > LONGEST_LINE) {
        return None;
    }
    let from = floor_char_boundary(source, diagnostic.span.start.checked_sub(start)?);
    let to = floor_char_boundary(source, diagnostic.span.end.saturating_sub(start)).max(from);
    Some((first, source, from..to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Span;

    fn plain(text: &str, diagnostic: &Diagnostic) -> String {
        let styled = render("a.md", text, &Lines::of(text), diagnostic, &View::plain());
        anstream::adapter::strip_str(&styled).to_string()
    }

    #[test]
    fn shows_the_spot() {
        let text = "---\ntitle: a\nstatus: dnoe\n---\n";
        let diagnostic = Diagnostic::warning("unknown-status", Span::new(21, 25), "unknown status `dnoe`")
            .help("did you mean `done`?");
        insta::assert_snapshot!(plain(text, &diagnostic), @"
        warning[unknown-status]: unknown status `dnoe`
         --> a.md:3:9
          |
        3 | status: dnoe
          |         ^^^^
          |
          = help: did you mean `done`?
        ");
    }

    #[test]
    fn names_the_place_of_a_giant_line() {
        let text = format!("x\n{}", "y".repeat(10_000));
        let diagnostic = Diagnostic::error("e", Span::new(5_000, 5_003), "too long");
        insta::assert_snapshot!(plain(&text, &diagnostic), @"
        error[e]: too long
        --> a.md:2:4999
        ");
    }

    #[test]
    fn survives_spans_that_do_not_fit() {
        for (start, end) in [(0, 99), (98, 99), (2, 3), (4, 4)] {
            plain("aé\nb", &Diagnostic::error("e", Span::new(start, end), "m"));
        }
        plain("", &Diagnostic::error("e", Span::at(0), "m"));
    }
}
