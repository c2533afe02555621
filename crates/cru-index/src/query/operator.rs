//! What stands between a field and its value.

/// How a field is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `:`: is, or contains, as the field defines.
    Has,
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `~`: contains.
    Contains,
    /// `!~`: does not contain.
    Lacks,
}

impl Operator {
    /// As it is written, the longest first.
    const SIGNS: [(&'static str, Self); 10] = [
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("!~", Self::Lacks),
        (":", Self::Has),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
        ("~", Self::Contains),
    ];

    /// The operator at the start of `text`, and its length.
    pub(super) fn at_start(text: &str) -> Option<(Self, usize)> {
        Self::SIGNS.iter().find(|(sign, _)| text.starts_with(sign)).map(|(sign, op)| (*op, sign.len()))
    }

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            _ => Self::SIGNS.iter().find(|(_, op)| *op == self).map_or("", |(sign, _)| sign),
        }
    }

    /// Whether it asks for an order.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::Greater | Self::AtLeast)
    }

    /// The operator that this one denies, or itself; and whether it denies.
    pub(crate) const fn positive(self) -> (Self, bool) {
        match self {
            Self::Unequal => (Self::Equal, true),
            Self::Lacks => (Self::Contains, true),
            other => (other, false),
        }
    }
}
