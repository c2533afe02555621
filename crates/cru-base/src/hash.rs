//! Hashes, shortened.

/// The first bytes of a hash, at most 32.
pub fn short<const N: usize>(hash: &blake3::Hash) -> [u8; N] {
    std::array::from_fn(|at| hash.as_bytes()[at])
}
