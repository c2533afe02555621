//! The prices that commands estimate costs with.

use super::Context;
use crate::base::Result;
use crate::price::Prices;
use crate::vault::UserConfig;

/// The list prices with `[prices]` of the user's configuration over them. Error: the configuration cannot be read.
pub(super) fn prices(cx: &Context<'_>) -> Result<Prices> {
    let (user, warnings) = UserConfig::read(cx.env)?;
    for warning in warnings {
        cx.ui.warn(&format!("config.toml: {}", warning.message));
    }
    Ok(Prices::new(user.prices))
}
