//! The time that the host puts before a person's words: `<timestamp>Friday, Nov 20, 2026, 10:07 AM (UTC+1)</timestamp>`.

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

const OPEN: &str = "<timestamp>";
const CLOSE: &str = "</timestamp>";
/// Behind it stand a person's own words, in which any tag may be.
const WORDS: &str = "<user_query>";

/// The time that a message says it was written at.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let of_host = text.split_once(WORDS).map_or(text, |(before, _)| before);
    // Without the element of their words the message is theirs from where no tag begins it.
    let is_own = !text.contains(WORDS) && !text.trim_start().starts_with('<');
    let (_, rest) = of_host.split_once(OPEN).filter(|_| !is_own)?;
    read(rest.split_once(CLOSE)?.0)
}

/// A time as the host writes it, in words or by ISO 8601. Where it names no zone, it is taken for UTC.
fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let mut month = None;
    let (mut day, mut year, mut clock, mut shift, mut zone) = (None, None, None, 0, None);
    for word in text.split([' ', ',', '(', ')', '\u{202f}', '\u{a0}']).filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        if let Some(found) = zone_of(word) {
            zone = Some(found);
        } else if let Some(date) = word.parse::<Date>().ok().filter(|_| word.contains('-')) {
            (day, month, year) = (Some(date.day()), Some(date.month()), Some(date.year()));
        } else if word.contains(':') {
            clock = word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<Time>().ok().or(clock);
            shift = if lower.ends_with("pm") {
                12
            } else if lower.ends_with("am") {
                -12
            } else {
                shift
            };
        } else if matches!(lower.as_str(), "am" | "a.m.") {
            shift = -12;
        } else if matches!(lower.as_str(), "pm" | "p.m.") {
            shift = 12;
        } else if let Ok(number) = word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<i16>() {
            match number {
                1..=31 if day.is_none() => day = i8::try_from(number).ok(),
                1970.. => year = Some(number),
                _ => {}
            }
        } else {
            month = month.or_else(|| month_of(&lower));
        }
    }
    let clock = clock?;
    let hour = match (shift, clock.hour()) {
        (12, hour @ 0..12) => hour + 12,
        (-12, 12) => 0,
        (_, hour) => hour,
    };
    let date = Date::new(year?, month?, day?).ok()?;
    let time = Time::new(hour, clock.minute(), clock.second(), 0).ok()?;
    let zone = TimeZone::fixed(zone.unwrap_or(Offset::UTC));
    date.to_datetime(time).to_zoned(zone).ok().map(|time| time.timestamp())
}

fn month_of(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let at = MONTHS.iter().position(|month| word.starts_with(month))?;
    i8::try_from(at + 1).ok()
}

/// `UTC`, `UTC+1`, `GMT-03:30`, `+0200`, `Z`.
fn zone_of(word: &str) -> Option<Offset> {
    let rest = ["UTC", "GMT"].iter().find_map(|name| word.strip_prefix(name));
    let rest = match rest {
        Some("") => return Some(Offset::UTC),
        Some(rest) => rest,
        None if word == "Z" => return Some(Offset::UTC),
        None => word,
    };
    let (sign, digits) = match rest.chars().next()? {
        '+' => (1, &rest[1..]),
        '-' => (-1, &rest[1..]),
        '\u{2212}' => (-1, &rest['\u{2212}'.len_utf8()..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let (hours, minutes) = (hours.parse::<i64>().ok()?, minutes.parse::<i64>().ok()?);
    let seconds = SignedDuration::from_secs(sign * (hours.checked_mul(3600)? + minutes.checked_mul(60)?)).as_secs();
    Offset::from_seconds(i32::try_from(seconds).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_all_forms() {
        for (text, wanted) in [
            ("Friday, Nov 20, 2026, 10:07 AM (UTC+1)", Some("2026-11-20T09:07:00Z")),
            ("Friday, November 20, 2026 at 10:07:30 PM (UTC-03:30)", Some("2026-11-21T01:37:30Z")),
            ("Fri, 20 Nov 2026 22:07 UTC", Some("2026-11-20T22:07:00Z")),
            ("Nov 20th, 2026, 12:07 AM (GMT+0530)", Some("2026-11-19T18:37:00Z")),
            ("2026-11-20T10:07:00+01:00", Some("2026-11-20T09:07:00Z")),
            ("2026-11-20 10:07 (UTC+1)", Some("2026-11-20T09:07:00Z")),
            ("Friday, Nov 20, 2026", None),
            ("now", None),
            ("", None),
        ] {
            assert_eq!(read(text), wanted.map(|time| time.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_persons_own_tags_are_none() {
        let stamp = "<timestamp>Friday, Nov 20, 2026, 10:07 AM (UTC+1)</timestamp>";
        assert!(time(&format!("{stamp}\n<user_query>\nx\n</user_query>")).is_some());
        assert!(time(&format!("<user_info>a</user_info>\n{stamp}\n<user_query>x</user_query>")).is_some());
        assert!(time(&format!("{stamp}\nplain words")).is_some());
        assert_eq!(time(&format!("<user_query>why {stamp}?</user_query>")), None);
        assert_eq!(time(&format!("why {stamp}?")), None);
    }
}
