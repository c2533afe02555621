//! Stub.
/// L
pub struct Ledger;
