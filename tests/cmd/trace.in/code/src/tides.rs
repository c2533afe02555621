//! Heights of the tide.

/// Chart datum below the zero of the gauge, in centimetres.
const CHART_DATUM: i32 = 214;

pub fn height_above_datum(raw: i32) -> i32 {
    raw.saturating_add(CHART_DATUM)
}
