//! Choices, read from bytes: of a generator, of a fuzzer, of a file. Behind their end each is the first.

/// Bytes, one after another.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// One of `0..most`.
    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most
    }

    /// One of `0..65_536`.
    pub fn wide(&mut self) -> u64 {
        u64::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    pub fn one_in(&mut self, most: usize) -> bool {
        self.below(most) == 1
    }

    pub fn pick<'b, T: ?Sized>(&mut self, all: &[&'b T]) -> &'b T {
        all[self.below(all.len())]
    }

    pub fn many<T>(&mut self, least: usize, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }
}
