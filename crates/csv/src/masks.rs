//! Which bytes of a 64-byte block are quotes, delimiters and newlines, as bit masks.
//!
//! The only SIMD of this crate. A loop over blocks is written once, as a [`Kernel`] that is generic over
//! how a block is classified; [`dispatch`] compiles it for AVX2 as a whole and picks at run time.

#![allow(unsafe_code, reason = "SIMD, where the machine has it")]

use crate::syntax::Syntax;

pub const BLOCK_BYTES: usize = 64;
pub type Block = [u8; BLOCK_BYTES];

/// Bit `i` is set where byte `i` of the block is the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    pub quote: u64,
    pub delimiter: u64,
    pub newline: u64,
    /// None, unless the classifier [`MARKS`](Classify::MARKS).
    pub escape: u64,
    pub comment: u64,
}

pub trait Classify: Copy {
    /// Whether escapes and comments are looked for as well.
    const MARKS: bool;
    fn classify(&self, block: &Block) -> Masks;
}

/// A loop over blocks. `run` must be `#[inline(always)]`, to be compiled with the caller's features.
pub trait Kernel {
    type Output;
    fn run<C: Classify>(self, classifier: C) -> Self::Output;
}

/// Runs the kernel with the best classifier of this machine. The plain syntax has a loop of its own, in which nothing
/// is looked for that cannot be there.
pub fn dispatch<K: Kernel>(syntax: Syntax, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_available() {
        // SAFETY: the features that `run` is compiled for have just been found on this machine.
        return match syntax.is_plain() {
            true => unsafe { avx2::run::<K, false>(syntax, kernel) },
            false => unsafe { avx2::run::<K, true>(syntax, kernel) },
        };
    }
    match syntax.is_plain() {
        true => kernel.run(Portable::<false>::of(syntax)),
        false => kernel.run(Portable::<true>::of(syntax)),
    }
}

/// Copies the bytes that are left after the last whole block into a block of their own, padded with what means nothing.
pub fn padded(rest: &[u8], syntax: Syntax) -> Block {
    let mut block = [syntax.filler; BLOCK_BYTES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// A byte to look for, if there is one.
#[derive(Clone, Copy)]
struct Sought {
    byte: u8,
    /// All ones, or zero where nothing is to be found.
    found: u64,
}

impl Sought {
    fn of(byte: Option<u8>) -> Sought {
        Sought { byte: byte.unwrap_or_default(), found: if byte.is_some() { u64::MAX } else { 0 } }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    use super::{Block, Classify, Kernel, Masks, Sought, Syntax};

    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    /// Needs the features that [`is_available`] looks for.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn run<K: Kernel, const MARKS: bool>(syntax: Syntax, kernel: K) -> K::Output {
        kernel.run(Avx2::<MARKS> {
            delimiter: syntax.delimiter,
            quote: Sought::of(syntax.quote()),
            escape: Sought::of(syntax.escape),
            comment: Sought::of(syntax.comment),
        })
    }

    /// Private, so that only [`run`] can hand it to a kernel.
    #[derive(Clone, Copy)]
    struct Avx2<const MARKS: bool> {
        delimiter: u8,
        quote: Sought,
        escape: Sought,
        comment: Sought,
    }

    impl<const MARKS: bool> Classify for Avx2<MARKS> {
        const MARKS: bool = MARKS;

        #[inline(always)]
        fn classify(&self, block: &Block) -> Masks {
            let halves = block.as_ptr().cast::<__m256i>();
            // SAFETY: both loads are within the 64 bytes of `block` and may be unaligned; AVX2 is there,
            // because `run` is the only way to this code.
            unsafe {
                let low = _mm256_loadu_si256(halves);
                let high = _mm256_loadu_si256(halves.add(1));
                Masks {
                    quote: equal(low, high, self.quote.byte) & self.quote.found,
                    delimiter: equal(low, high, self.delimiter),
                    newline: equal(low, high, b'\n'),
                    escape: match MARKS {
                        true => equal(low, high, self.escape.byte) & self.escape.found,
                        false => 0,
                    },
                    comment: match MARKS {
                        true => equal(low, high, self.comment.byte) & self.comment.found,
                        false => 0,
                    },
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
#[derive(Clone, Copy)]
pub struct Portable<const MARKS: bool> {
    delimiter: u8,
    quote: Sought,
    escape: Sought,
    comment: Sought,
}

impl<const MARKS: bool> Portable<MARKS> {
    pub fn of(syntax: Syntax) -> Self {
        Portable {
            delimiter: syntax.delimiter,
            quote: Sought::of(syntax.quote()),
            escape: Sought::of(syntax.escape),
            comment: Sought::of(syntax.comment),
        }
    }
}

impl<const MARKS: bool> Classify for Portable<MARKS> {
    const MARKS: bool = MARKS;

    #[inline(always)]
    fn classify(&self, block: &Block) -> Masks {
        let sought = |sought: Sought| equal_in_block(block, sought.byte) & sought.found;
        Masks {
            quote: sought(self.quote),
            delimiter: equal_in_block(block, self.delimiter),
            newline: equal_in_block(block, b'\n'),
            escape: if MARKS { sought(self.escape) } else { 0 },
            comment: if MARKS { sought(self.comment) } else { 0 },
        }
    }
}

#[inline(always)]
fn equal_in_block(block: &Block, byte: u8) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let masks = words.iter().map(|word| equal_bytes(u64::from_le_bytes(*word), byte));
    masks.enumerate().fold(0, |all, (i, mask)| all | mask << (8 * i))
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
    use crate::dialect::Dialect;

    struct ClassifyOne<'a>(&'a Block);

    impl Kernel for ClassifyOne<'_> {
        type Output = Masks;
        #[inline(always)]
        fn run<C: Classify>(self, classifier: C) -> Masks {
            classifier.classify(self.0)
        }
    }

    fn naive(block: &Block, dialect: &Dialect) -> Masks {
        let mask = |byte| (0..64).fold(0, |mask, i| mask | u64::from(block[i] == byte) << i);
        Masks {
            quote: dialect.quote.map_or(0, mask),
            delimiter: mask(dialect.delimiter),
            newline: mask(b'\n'),
            escape: dialect.escape.map_or(0, mask),
            comment: dialect.comment.map_or(0, mask),
        }
    }

    proptest! {
        #[test]
        fn all_classifiers_agree(bytes in proptest::collection::vec(any::<u8>(), 64),
                                 special in proptest::collection::vec((0usize..64, 0usize..7), 0..64),
                                 delimiter in any::<u8>(), quotes in any::<bool>(), marks in any::<bool>()) {
            let mut block: Block = bytes.try_into().expect("64 bytes");
            for (at, which) in special {
                block[at] = [b'"', delimiter, b'\n', b'"' ^ 0x80, b'\n' + 1, b'\\', b'#'][which];
            }
            let dialect = Dialect {
                delimiter,
                quote: quotes.then_some(b'"'),
                escape: marks.then_some(b'\\'),
                comment: marks.then_some(b'#'),
                ..Dialect::default()
            };
            let syntax = dialect.syntax();
            let portable = match marks {
                true => Portable::<true>::of(syntax).classify(&block),
                false => Portable::<false>::of(syntax).classify(&block),
            };
            prop_assert_eq!(portable, naive(&block, &dialect));
            prop_assert_eq!(dispatch(syntax, ClassifyOne(&block)), naive(&block, &dialect));
        }
    }
}
