//! Numbers without end, the same for the same seed. Small and good enough: the point is that things come unevenly.

/// Rolled by [`Dice::next`].
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
