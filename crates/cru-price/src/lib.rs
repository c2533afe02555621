//! List prices of models, and an estimate of what tokens cost.
//!
//! The prices are a dated snapshot in `data/prices.toml`, with the user's `[prices]` over it. A cost is computed when it
//! is shown and never stored. What has no price is unknown, and never free.

mod normalise;
mod price;
mod table;

pub use price::Price;
pub use table::Prices;
