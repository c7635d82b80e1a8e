//! Bounds of what LZ4 frames unpack to, by the number of their blocks.
//!
//! Before a packed buffer stands how long it will be. Arrow believes that only after it has unpacked all there
//! is: what a stranger packed has to be looked at before.

const FRAME: u32 = 0x184D_2204;
const LEGACY_FRAME: u32 = 0x184C_2102;
const LEGACY_BLOCK_BYTES: u64 = 8 << 20;
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;

const HAS_BLOCK_CHECKSUMS: u8 = 1 << 4;
const HAS_CONTENT_SIZE: u8 = 1 << 3;
const HAS_CONTENT_CHECKSUM: u8 = 1 << 2;
const HAS_DICTIONARY: u8 = 1;
const IS_PLAIN: u32 = 1 << 31;

/// The largest block there is.
pub const BLOCK_BYTES_MAX: u64 = LEGACY_BLOCK_BYTES;

/// Bytes of all blocks of all frames if they are full, as those of every encoder are but the last. Whatever cannot
/// be read here cannot be unpacked, either.
pub fn unpacked_bytes_max(frames: &[u8]) -> u64 {
    let mut reader = Reader { rest: frames };
    let mut bytes = 0;
    while let Some(frame) = reader.frame() {
        bytes += frame;
    }
    bytes
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn frame(&mut self) -> Option<u64> {
        match self.u32()? {
            FRAME => self.blocks(),
            LEGACY_FRAME => {
                let mut blocks = 0_u64;
                while let Some(bytes) = self.u32() {
                    blocks += 1;
                    if self.skip(bytes as usize).is_none() {
                        break;
                    }
                }
                Some(blocks * LEGACY_BLOCK_BYTES)
            }
            magic if SKIPPABLE.contains(&magic) => {
                let bytes = self.u32()?;
                self.skip(bytes as usize).map(|()| 0)
            }
            _ => None,
        }
    }

    fn blocks(&mut self) -> Option<u64> {
        let (flags, sizes) = (self.u8()?, self.u8()?);
        let has = |flag: u8| flags & flag != 0;
        let block_bytes = match sizes >> 4 & 7 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            _ => 4 << 20,
        };
        let more = 8 * usize::from(has(HAS_CONTENT_SIZE)) + 4 * usize::from(has(HAS_DICTIONARY));
        self.skip(more + 1)?;
        let mut blocks = 0_u64;
        while let Some(bytes) = self.u32().filter(|bytes| *bytes != 0) {
            blocks += 1;
            let checksum = 4 * usize::from(has(HAS_BLOCK_CHECKSUMS));
            if self.skip((bytes & !IS_PLAIN) as usize + checksum).is_none() {
                break;
            }
        }
        if has(HAS_CONTENT_CHECKSUM) {
            // Without one, the next frame will not be found.
            let _ = self.skip(4);
        }
        Some(blocks * block_bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(flags: u8, size: u8, blocks: &[u32]) -> Vec<u8> {
        let mut frame = FRAME.to_le_bytes().to_vec();
        frame.extend([flags, size << 4, 0]);
        for bytes in blocks {
            frame.extend(bytes.to_le_bytes());
            frame.extend(vec![7; (bytes & !IS_PLAIN) as usize]);
            if flags & HAS_BLOCK_CHECKSUMS != 0 {
                frame.extend([0; 4]);
            }
        }
        frame.extend([0; 4]);
        if flags & HAS_CONTENT_CHECKSUM != 0 {
            frame.extend([0; 4]);
        }
        frame
    }

    #[test]
    fn blocks_are_counted_in_every_frame() {
        assert_eq!(unpacked_bytes_max(b""), 0);
        assert_eq!(unpacked_bytes_max(&frame(0, 4, &[10])), 64 << 10);
        assert_eq!(unpacked_bytes_max(&frame(0, 4, &[10, 20, IS_PLAIN | 30])), 3 * (64 << 10));
        let checked = frame(HAS_BLOCK_CHECKSUMS | HAS_CONTENT_CHECKSUM, 7, &[1, 2, 3]);
        let two = [checked, frame(0, 6, &[5, 5])].concat();
        assert_eq!(unpacked_bytes_max(&two), 3 * (4 << 20) + 2 * (1 << 20));
        assert_eq!(unpacked_bytes_max(&two[..12]), 4 << 20, "cut off");
        let legacy = [&LEGACY_FRAME.to_le_bytes()[..], &[1, 0, 0, 0, 9, 1, 0, 0, 0, 9]].concat();
        assert_eq!(unpacked_bytes_max(&legacy), 16 << 20);
        let skipped = [&0x184D_2A50_u32.to_le_bytes()[..], &[1, 0, 0, 0, 9]].concat();
        assert_eq!(unpacked_bytes_max(&[skipped, frame(0, 4, &[1, 1])].concat()), 2 * (64 << 10));
    }
}
