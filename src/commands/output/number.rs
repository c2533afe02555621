//! Amounts, durations and times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `950`, `9,120`, `48.2k`, `1.3M`: at most five characters, so that columns stay narrow.
pub fn amount(number: u64) -> String {
    let scaled = |unit: u64, suffix: char| {
        let tenths = number / (unit / 10);
        if tenths >= 1_000 {
            format!("{}{suffix}", tenths / 10)
        } else {
            format!("{}.{}{suffix}", tenths / 10, tenths % 10)
        }
    };
    match number {
        0..10_000 => crate::base::text::thousands(number),
        10_000..1_000_000 => scaled(1_000, 'k'),
        1_000_000..1_000_000_000 => scaled(1_000_000, 'M'),
        _ => scaled(1_000_000_000, 'G'),
    }
}

/// `950 B`, `4.2 kB`, `1.3 MB`, `2.0 GB`.
pub fn byte_size(number: u64) -> String {
    let scaled = |unit: u64, name: &str| format!("{}.{} {name}", number / unit, number % unit / (unit / 10));
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => scaled(1_000, "kB"),
        1_000_000..1_000_000_000 => scaled(1_000_000, "MB"),
        _ => scaled(1_000_000_000, "GB"),
    }
}

/// How many `-n N` lets through: 0 means all.
pub const fn most(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

/// `3 s`, `12 min`, `3 h 38 min`, `2 d 4 h`.
pub fn duration(seconds: u64) -> String {
    let two = |big: u64, unit: &str, small: u64, part: &str| {
        if small == 0 { format!("{big} {unit}") } else { format!("{big} {unit} {small} {part}") }
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// `2026-11-20 09:31` in a zone.
pub fn minute(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%F %H:%M").to_string()
}

/// `2026-11-20 09:31 CET`.
pub fn zoned_minute(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%F %H:%M %Z").to_string()
}

/// `09:31:04` in a zone.
pub fn clock(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%T").to_string()
}

/// `14.6 %`, `0 %`, `100 %`; `–` for a share of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = (u128::from(part) * 2_000 + u128::from(whole)) / (u128::from(whole) * 2);
    match tenths % 10 {
        0 => format!("{} %", tenths / 10),
        rest => format!("{}.{rest} %", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        let shown: Vec<_> =
            [0, 999, 9_999, 10_000, 48_210, 148_210, 999_999, 1_300_000, 2_000_000_000].map(amount).into();
        assert_eq!(shown, ["0", "999", "9,999", "10.0k", "48.2k", "148k", "999k", "1.3M", "2.0G"]);
    }

    #[test]
    fn sizes() {
        let shown: Vec<_> = [0, 999, 1_000, 4_299, 999_999, 1_300_000, 2_050_000_000].map(byte_size).into();
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "4.2 kB", "999.9 kB", "1.3 MB", "2.0 GB"]);
    }

    #[test]
    fn durations() {
        let shown: Vec<_> = [0, 59, 60, 3_600, 13_080, 90_000, 172_800].map(duration).into();
        assert_eq!(shown, ["0 s", "59 s", "1 min", "1 h", "3 h 38 min", "1 d 1 h", "2 d"]);
    }

    #[test]
    fn shares() {
        let shown: Vec<_> =
            [(0, 0), (0, 7), (7, 48), (2, 3), (7, 7), (1, 2), (u64::MAX, u64::MAX)].map(|(a, b)| percent(a, b)).into();
        assert_eq!(shown, ["–", "0 %", "14.6 %", "66.7 %", "100 %", "50 %", "100 %"]);
    }
}
