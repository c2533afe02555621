//! What stands between the steps of a phase: prose, the user's words, callouts.

use std::fmt::Write as _;

use super::random::Random;
use super::word;

/// A paragraph, a list, a block of code, a table or a heading of prose.
pub(crate) fn prose(text: &mut String, project: usize, random: &mut Random) {
    match random.below(100) {
        0..14 => {
            for _ in 0..random.between(2, 6) {
                text.push_str("- ");
                word::sentence(text, project, random);
                text.push('\n');
            }
            text.push('\n');
        }
        14..22 => {
            text.push_str("```rust\n");
            for _ in 0..random.between(3, 14) {
                text.push_str("    let ");
                word::name(text, random);
                text.push_str(" = ");
                word::name(text, random);
                text.push_str("(&");
                word::name(text, random);
                text.push_str(")?;\n");
            }
            text.push_str("```\n\n");
        }
        22..25 => {
            text.push_str("| Name | Value |\n| --- | ---: |\n");
            for _ in 0..random.between(2, 6) {
                text.push_str("| ");
                word::words(text, 2, random);
                let _ = writeln!(text, " | {} |", random.rank(10_000));
            }
            text.push('\n');
        }
        25..29 => {
            text.push_str("#### ");
            word::words(text, random.between(2, 5), random);
            text.push_str("\n\n");
        }
        _ => {
            for place in 0..random.between(1, 5) {
                text.push_str(if place > 0 { " " } else { "" });
                word::sentence(text, project, random);
            }
            text.push_str("\n\n");
        }
    }
}

/// Words of the user; at times they correct.
pub(crate) fn user(text: &mut String, project: usize, clock: &str, random: &mut Random) {
    let correction = random.percent(12);
    text.push_str(if correction { "> [!user] Correction\n> \"" } else { "> [!user]\n> \"" });
    let sentences = random.rank(14) + 1;
    for place in 0..sentences {
        text.push_str(if place == 0 {
            ""
        } else if place % 4 == 0 {
            "\n> "
        } else {
            " "
        });
        word::sentence(text, project, random);
    }
    text.push('"');
    if correction {
        text.push_str(" - ");
        word::words(text, random.between(3, 8), random);
        text.push('.');
    }
    let _ = write!(text, "\n> At: {clock}\n\n");
}

/// A decision, an error or another callout; `number` makes its id, `failed` is the last step that failed.
pub(crate) fn callout(
    text: &mut String,
    project: usize,
    (steps, failed): (usize, Option<usize>),
    number: usize,
    random: &mut Random,
) {
    let sentence = |text: &mut String, before: &str, random: &mut Random| {
        let _ = write!(text, "> {before}");
        word::sentence(text, project, random);
        text.push('\n');
    };
    match (random.below(10), failed) {
        (0..4, _) => {
            text.push_str("> [!decision] ");
            word::words(text, random.between(3, 8), random);
            text.push('\n');
            sentence(text, "", random);
            sentence(text, "Why: ", random);
            if random.percent(60) {
                sentence(text, "Rejected: ", random);
            }
            if steps > 0 {
                let _ = writeln!(text, "> Rests on: [[#^n-{:03}]]", random.between(1, steps));
            }
            let _ = write!(text, "\n^d-{number:02}\n\n");
        }
        (4..8, Some(failed)) => {
            text.push_str("> [!error] ");
            word::words(text, random.between(3, 7), random);
            text.push('\n');
            sentence(text, "", random);
            let _ = writeln!(text, "> Step: [[#^n-{failed:03}]]");
            if random.percent(75) {
                sentence(text, "Resolution: ", random);
            }
            let _ = write!(text, "\n^e-{number:02}\n\n");
        }
        (4..6, None) => {
            text.push_str("> [!question] ");
            word::words(text, random.between(4, 9), random);
            text.push('\n');
            if random.percent(50) {
                sentence(text, "Answer: ", random);
            }
            text.push('\n');
        }
        (place, _) => {
            text.push_str(if place == 9 { "> [!lesson] high\n" } else { "> [!thought]\n" });
            for _ in 0..random.between(1, 3) {
                sentence(text, "", random);
            }
            text.push('\n');
        }
    }
}
