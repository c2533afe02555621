//! What stands in a record of the host, whatever it says.

use std::borrow::Cow;

use serde_json::Value;

use crate::file::value::{attachment, count, filled, object};
use cru_session::event::Attachment;

/// What a line says; the oldest files hold that alone.
pub(super) fn payload(record: &Value) -> &Value {
    record.get("payload").filter(|payload| !payload.is_null()).unwrap_or(record)
}

/// A time that something took, in milliseconds.
pub(super) fn duration(value: &Value) -> Option<u64> {
    let duration = object(value, "duration")?;
    Some(count(duration, "secs").saturating_mul(1000).saturating_add(count(duration, "nanos") / 1_000_000))
}

/// The words of parts, joined by an empty line.
pub(super) fn words(parts: &[Cow<'_, Value>]) -> String {
    parts.iter().filter_map(|part| filled(part, "text")).collect::<Vec<_>>().join("\n\n")
}

/// A picture that is a file.
pub(super) fn local_picture(path: &str) -> Attachment<'static> {
    let kind = path.rsplit_once('.').map(|(_, kind)| kind.to_ascii_lowercase());
    let media = match kind.as_deref() {
        Some("jpg" | "jpeg") => "image/jpeg".to_owned(),
        Some(kind @ ("png" | "gif" | "webp")) => format!("image/{kind}"),
        _ => "image".to_owned(),
    };
    Attachment { media_type: media.into(), bytes: 0 }
}

/// The pictures among the parts of a message.
pub(super) fn pictures(parts: &[Cow<'_, Value>]) -> Vec<Attachment<'static>> {
    let picture = |part: &Cow<'_, Value>| {
        filled(part, "image_url").map(|url| attachment("", url)).or_else(|| filled(part, "path").map(local_picture))
    };
    parts.iter().filter_map(picture).collect()
}
