//! How much a value says.

/// How much each byte of it says, in bits.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}
