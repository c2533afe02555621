//! The page.
use super::Report;
pub(super) fn render(_: &Report, _: &str, _: jiff::Timestamp) -> String {
    super::GENERATOR.to_owned()
}
