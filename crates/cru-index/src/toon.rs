//! TOON: the compact text that `-f toon` and the tools of `cru mcp` write.

use serde_json::Value;

use cru_base::{Error, Result};

/// Any JSON value, without a line end behind it. A number that JSON cannot hold is `null`, and `-0` is `0`.
pub fn to_toon(value: &Value) -> Result<String> {
    serde_toon::to_string(value).map_err(|error| Error::internal("encode the result as TOON", error))
}
