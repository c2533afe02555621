//! Chance that can be repeated: splitmix64, and the few distributions that notes need.

/// A source of numbers; the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The source of one of many things, independent of how many there are.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number from `from` to `to`.
    pub(crate) fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// A number from 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something happens that does so `percent` times in a hundred.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// A rank below `end`, the first ones most often: as often as Zipf's law has it for words.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is small and not negative")]
    pub(crate) fn rank(&mut self, end: usize) -> usize {
        (((end as f64 + 1.0).powf(self.unit()) - 1.0) as usize).min(end - 1)
    }

    /// A count with this mean and a long tail (log-normal).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count is small and not negative")]
    pub(crate) fn count(&mut self, mean: f64) -> usize {
        const WIDTH: f64 = 1.1;
        let normal = (-2.0 * self.unit().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        let count = (mean.ln() - WIDTH * WIDTH / 2.0 + WIDTH * normal).exp();
        count.round().clamp(1.0, mean * 60.0) as usize
    }
}
