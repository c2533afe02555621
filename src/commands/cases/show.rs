//! `cru show c:ID`.

use serde_json::json;

use crate::base::Result;
use crate::base::text::sanitise;
use crate::commands::{Context, Output, View};
use crate::learn::Review;
use crate::learn::review::Part;

/// The note of a case, by its id or a part of it that only one case has.
pub(in crate::commands) fn show(id: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (_, _, reviews) = super::read(cx)?;
    Ok(Box::new(ShownCase(super::find(id, &reviews)?.clone())))
}

struct ShownCase(Review);

impl Output for ShownCase {
    fn text(&self, _: &View) -> String {
        let text = sanitise(&self.0.public);
        if text.ends_with('\n') { text.into_owned() } else { format!("{text}\n") }
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let review = &self.0;
        let part = |wanted: Part| {
            review.parts().iter().find(|(part, _)| *part == wanted).map(|(_, text)| text.trim().to_owned())
        };
        Ok(json!({
            "schema": 1,
            "id": review.id,
            "type": review.kind,
            "status": review.status,
            "changed": review.changed,
            "title": review.title,
            "session": review.session,
            "path": review.path,
            "context": part(Part::Context),
            "failure": part(Part::Failure),
            "correction": part(Part::Words),
            "expected": part(Part::Expected),
        }))
    }
}
