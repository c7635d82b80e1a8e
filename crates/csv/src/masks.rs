//! Quotes, commas and newlines of a 64-byte block, as bit masks.
//!
//! The only SIMD of this crate. A loop over blocks is written once, as a [`Kernel`] that is generic over
//! how a block is classified; [`dispatch`] compiles it for AVX2 as a whole and picks at run time.

#![allow(unsafe_code, reason = "SIMD, where the machine has it")]

pub const BLOCK_BYTES: usize = 64;
pub type Block = [u8; BLOCK_BYTES];

/// Bit `i` is set where byte `i` of the block is the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    pub quote: u64,
    pub comma: u64,
    pub newline: u64,
}

pub trait Classify {
    fn classify(block: &Block) -> Masks;
}

/// A loop over blocks. `run` must be `#[inline(always)]`, to be compiled with the caller's features.
pub trait Kernel {
    type Output;
    fn run<C: Classify>(self) -> Self::Output;
}

/// Runs the kernel with the best classifier of this machine.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_available() {
        // SAFETY: the features that `run` is compiled for have just been found on this machine.
        return unsafe { avx2::run(kernel) };
    }
    kernel.run::<Portable>()
}

/// Copies the bytes that are left after the last whole block into a block of their own, zero padded.
pub fn padded(rest: &[u8]) -> Block {
    let mut block = [0; BLOCK_BYTES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    use super::{Block, Classify, Kernel, Masks};

    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    /// Needs the features that [`is_available`] looks for.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn run<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }

    /// Private, so that only [`run`] can hand it to a kernel.
    struct Avx2;

    impl Classify for Avx2 {
        #[inline(always)]
        fn classify(block: &Block) -> Masks {
            let halves = block.as_ptr().cast::<__m256i>();
            // SAFETY: both loads are within the 64 bytes of `block` and may be unaligned; AVX2 is there,
            // because `run` is the only way to this code.
            unsafe {
                let low = _mm256_loadu_si256(halves);
                let high = _mm256_loadu_si256(halves.add(1));
                Masks {
                    quote: equal(low, high, b'"'),
                    comma: equal(low, high, b','),
                    newline: equal(low, high, b'\n'),
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte as i8);
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, byte)) as u32;
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, byte)) as u32;
        u64::from(low) | u64::from(high) << 32
    }
}

/// Eight bytes at a time in a `u64`, for machines without AVX2.
pub struct Portable;

impl Classify for Portable {
    #[inline(always)]
    fn classify(block: &Block) -> Masks {
        let mut masks = Masks { quote: 0, comma: 0, newline: 0 };
        let (words, _) = block.as_chunks::<8>();
        for (i, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            masks.quote |= equal_bytes(word, b'"') << (8 * i);
            masks.comma |= equal_bytes(word, b',') << (8 * i);
            masks.newline |= equal_bytes(word, b'\n') << (8 * i);
        }
        masks
    }
}

/// One bit for each byte of `word` that equals `byte`, in the low eight bits.
#[inline(always)]
fn equal_bytes(word: u64, byte: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let difference = word ^ (ONES * u64::from(byte));
    // The high bit of each byte, set where the byte is zero; exact, no carry crosses a byte.
    let zeros = !(((difference & LOW_SEVEN) + LOW_SEVEN) | difference | LOW_SEVEN);
    // Gathers the eight high bits into the top byte.
    (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct ClassifyOne<'a>(&'a Block);

    impl Kernel for ClassifyOne<'_> {
        type Output = Masks;
        #[inline(always)]
        fn run<C: Classify>(self) -> Masks {
            C::classify(self.0)
        }
    }

    fn naive(block: &Block) -> Masks {
        let mask = |byte| (0..64).fold(0, |mask, i| mask | u64::from(block[i] == byte) << i);
        Masks { quote: mask(b'"'), comma: mask(b','), newline: mask(b'\n') }
    }

    proptest! {
        #[test]
        fn all_classifiers_agree(bytes in proptest::collection::vec(any::<u8>(), 64),
                                 special in proptest::collection::vec((0usize..64, 0usize..5), 0..64)) {
            let mut block: Block = bytes.try_into().expect("64 bytes");
            for (at, which) in special {
                block[at] = [b'"', b',', b'\n', b'"' ^ 0x80, b'\n' + 1][which];
            }
            prop_assert_eq!(Portable::classify(&block), naive(&block));
            prop_assert_eq!(dispatch(ClassifyOne(&block)), naive(&block));
        }
    }
}
