//! Times as notes write them.
//!
//! `cru` writes UTC with seconds, `2026-11-20T09:31:04Z`. A person may write less: what has no zone is UTC, what has no
//! time is midnight.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit, Zoned};

/// Reads a time: RFC 3339 with any offset, a date with time and no zone, or a date.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return utc(time);
    }
    text.parse::<Date>().ok().and_then(|date| utc(date.at(0, 0, 0, 0)))
}

/// Reads `09:31`, `09:31:04` or a whole time; a clock time alone belongs to `day`.
pub fn parse_clock(text: &str, day: Option<Date>) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() <= 12
        && let Some(clock) = clock(text).or_else(|| text.parse::<Time>().ok())
    {
        return day.and_then(|day| utc(day.to_datetime(clock)));
    }
    parse(text)
}

/// `09:31:04`, as nearly every clock time of a note is written.
fn clock(text: &str) -> Option<Time> {
    let &[h0, h1, b':', m0, m1, b':', s0, s1] = text.as_bytes() else { return None };
    let two = |tens: u8, ones: u8| {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits.then(|| i8::try_from((tens - b'0') * 10 + (ones - b'0')).ok()).flatten()
    };
    Time::new(two(h0, h1)?, two(m0, m1)?, two(s0, s1)?, 0).ok()
}

/// A point in time as a person asks for one: a date, a month (`2026-11`), a time, how long ago (`7d`, `12h`), `today`,
/// `yesterday`, `now`. The end of a day or month where `end` asks for it. Days, and times without a zone, are those of the
/// zone of `now`.
pub fn moment(text: &str, end: bool, now: &Zoned) -> Option<Timestamp> {
    let text = text.trim();
    let today = now.date();
    let at = |time: DateTime| now.time_zone().to_timestamp(time).ok();
    let day = |date: Date| {
        let date = if end { date.tomorrow().unwrap_or(date) } else { date };
        at(date.at(0, 0, 0, 0))
    };
    match text {
        "now" => Some(now.timestamp()),
        "today" => day(today),
        "yesterday" => today.yesterday().ok().and_then(day),
        _ => ago(text, now.timestamp())
            .or_else(|| text.parse::<Timestamp>().ok())
            .or_else(|| text.parse::<Date>().ok().filter(|_| text.len() == 10).and_then(day))
            .or_else(|| month(text, end).and_then(at))
            .or_else(|| text.parse::<DateTime>().ok().and_then(at))
            .or_else(|| parse(text)),
    }
}

/// The start of a month `2026-11`, or of the one behind it.
fn month(text: &str, end: bool) -> Option<DateTime> {
    let first: Date = format!("{text}-01").parse().ok().filter(|_| text.len() == 7)?;
    let next = || first.checked_add(jiff::Span::new().months(1)).ok();
    Some(if end { next()? } else { first }.at(0, 0, 0, 0))
}

/// `7d`, `12h`, `30m`, `2w` before `now`.
fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let count: i64 = text[..text.len() - 1].parse().ok().filter(|count| *count >= 0)?;
    now.checked_sub(jiff::SignedDuration::from_secs(count.checked_mul(seconds)?)).ok()
}

/// `2026-11-20T09:31:04Z`: fractions of a second are cut off.
pub fn format(time: Timestamp) -> String {
    time.round(jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Trunc))
        .unwrap_or(time)
        .to_string()
}

/// The UTC date of a time.
pub fn date(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

fn utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let read = |text: &str| parse(text).map(format);
        assert_eq!(read("2026-11-20T09:31:04Z").as_deref(), Some("2026-11-20T09:31:04Z"));
        assert_eq!(read("2026-11-20T09:31:04.987Z").as_deref(), Some("2026-11-20T09:31:04Z"));
        assert_eq!(read("2026-11-20T10:31:04+01:00").as_deref(), Some("2026-11-20T09:31:04Z"));
        assert_eq!(read("2026-11-20T09:31").as_deref(), Some("2026-11-20T09:31:00Z"));
        assert_eq!(read("2026-11-20 09:31:04").as_deref(), Some("2026-11-20T09:31:04Z"));
        assert_eq!(read(" 2026-11-20 ").as_deref(), Some("2026-11-20T00:00:00Z"));
        assert_eq!(read("yesterday"), None);
        assert_eq!(read("2026-13-40"), None);
    }

    #[test]
    fn a_month_is_from_its_first_day_to_the_next_month() {
        let now = parse("2026-11-20").unwrap().to_zoned(TimeZone::UTC);
        let read = |text: &str, end| moment(text, end, &now).map(format);
        assert_eq!(read("2026-12", false).as_deref(), Some("2026-12-01T00:00:00Z"));
        assert_eq!(read("2026-12", true).as_deref(), Some("2027-01-01T00:00:00Z"));
        assert_eq!(read("2026-13", false), None);
        assert_eq!(read("9999-12", true), None);
    }

    #[test]
    fn clock_times_belong_to_a_day() {
        let day = parse("2026-11-20").map(date);
        assert_eq!(parse_clock("09:31:04", day).map(format).as_deref(), Some("2026-11-20T09:31:04Z"));
        assert_eq!(parse_clock("09:31", day).map(format).as_deref(), Some("2026-11-20T09:31:00Z"));
        assert_eq!(parse_clock("09:31:04", None), None);
        assert_eq!(parse_clock("2026-11-21T00:00:01Z", day).map(format).as_deref(), Some("2026-11-21T00:00:01Z"));
        assert_eq!(parse_clock("exit 1", day), None);
    }
}
