//! Eight bytes at once: the first byte is the lowest of the word.

/// A one in each byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte.
pub(super) const HIGH: u64 = 0x80 * ONES;

/// The high bit of the first byte that is `byte`, and perhaps of some behind it; zero when none is.
#[inline]
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * byte as u64);
    zero.wrapping_sub(ONES) & !zero & HIGH
}

/// Which byte has the first of the high bits that are set; 8 when none is.
#[inline]
pub(super) const fn first(high: u64) -> usize {
    high.trailing_zeros() as usize / 8
}

/// The eight bytes at `at`.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// The eight bytes at `at`, zeros behind the end.
#[inline]
pub(super) fn padded(bytes: &[u8], at: usize) -> u64 {
    word(bytes, at).unwrap_or_else(|| last(bytes.get(at..).unwrap_or_default()))
}

/// Less than eight bytes.
#[cold]
fn last(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_equal_byte_is_found(bytes: [u8; 8], byte: u8, put in 0usize..9) {
            let mut bytes = bytes;
            if let Some(slot) = bytes.get_mut(put) {
                *slot = byte;
            }
            let at = bytes.iter().position(|b| *b == byte);
            prop_assert_eq!(first(equal(padded(&bytes, 0), byte)), at.unwrap_or(8));
        }
    }

    #[test]
    fn what_is_missing_is_zero() {
        let text = b"123456789";
        assert_eq!(word(text, 1), Some(u64::from_le_bytes(*b"23456789")));
        assert_eq!(word(text, 2), None);
        assert_eq!(padded(text, 7), u64::from_le_bytes(*b"89\0\0\0\0\0\0"));
        assert_eq!(padded(text, 10), 0);
    }
}
