//! Changes as damage, mistakes and malice make them.

use fastrand::Rng;

use super::originals::Originals;

/// Files are no longer than this, or few are read in a second.
const FILE_BYTES_MAX: usize = 256 << 10;

/// Lengths and counts that are lies.
const LIES: [u64; 14] = [
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];

/// Numbers of variable length that say too much, as Thrift has them.
const LONG_VARINTS: [&[u8]; 4] = [
    b"\xff\xff\xff\xff\x0f",
    b"\xfe\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
];

pub struct Mutator<'a> {
    rng: Rng,
    originals: &'a Originals,
}

impl<'a> Mutator<'a> {
    pub fn new(rng: Rng, originals: &'a Originals) -> Mutator<'a> {
        Mutator { rng, originals }
    }

    /// A changed file.
    pub fn file(&mut self) -> Vec<u8> {
        let original = self.any_original();
        let mut changed = match self.originals.footer_end {
            Some(end) if self.rng.u8(..4) > 0 => self.with_footer(original, end),
            _ => self.changed(original.to_vec()),
        };
        if let Some(pack) = self.originals.pack {
            changed = pack(&mut self.rng, changed);
        }
        changed.truncate(FILE_BYTES_MAX);
        changed
    }

    fn any_original(&mut self) -> &'a [u8] {
        let files = &self.originals.files;
        &files[self.rng.usize(..files.len())]
    }

    /// Changes what a footer says, or what it speaks of, and its length to what it is.
    fn with_footer(&mut self, original: &[u8], end_bytes: usize) -> Vec<u8> {
        let end = original.len() - end_bytes;
        let length = &original[end..][..4];
        let length = length.try_into().map_or(0, u32::from_le_bytes) as usize;
        let (body, footer) = original[..end].split_at(end - length);
        let (mut body, mut footer) = (body.to_vec(), footer.to_vec());
        if self.rng.bool() {
            footer = self.changed(footer);
        } else {
            // What the footer says of places stays right.
            self.change_in_place(&mut body);
        }
        let length = (footer.len() as u32).to_le_bytes();
        [&body[..], &footer, &length, &original[end + 4..]].concat()
    }

    fn changed(&mut self, mut content: Vec<u8>) -> Vec<u8> {
        for _ in 0..1 + self.rng.u32(..4) {
            if self.rng.bool() {
                self.change_in_place(&mut content);
            } else {
                self.change_length(&mut content);
            }
        }
        content
    }

    fn change_in_place(&mut self, content: &mut [u8]) {
        if content.is_empty() {
            return;
        }
        let at = self.rng.usize(..content.len());
        match self.rng.u8(..5) {
            0 => content[at] ^= 1 << self.rng.u8(..8),
            1 => content[at] = self.rng.u8(..),
            2 => content[at] = content[at].wrapping_add(if self.rng.bool() { 1 } else { 255 }),
            3 => {
                let lie = self.lie(content.len()).to_le_bytes();
                let width = [1, 2, 4, 4, 8][self.rng.usize(..5)];
                // Where such numbers are in most formats.
                put(content, at - at % width, &lie[..width]);
            }
            _ => {
                let token = self.token();
                put(content, at, token);
            }
        }
    }

    fn change_length(&mut self, content: &mut Vec<u8>) {
        let at = self.rng.usize(..=content.len());
        let few = 1 + self.rng.usize(..16);
        let some = self.rng.usize(..=(content.len() - at).min(2000));
        match self.rng.u8(..8) {
            0 => content.truncate(at),
            1 => drop(content.drain(at..(at + few).min(content.len()))),
            2 => drop(content.drain(at..at + some)),
            3 => {
                let part = content[at..at + some].to_vec();
                insert(content, at, &part);
            }
            4 => {
                let part = content[at..at + some].to_vec();
                let times = 1 + self.rng.usize(..40);
                insert(content, at, &part.repeat(times));
            }
            5 => {
                let other = self.any_original();
                let from = self.rng.usize(..=other.len());
                content.truncate(at);
                content.extend_from_slice(&other[from..]);
            }
            6 => {
                let token = self.token();
                insert(content, at, token);
            }
            _ => {
                let times = 1 + self.rng.usize(..200);
                let token = self.token().repeat(times);
                insert(content, at, &token);
            }
        }
        content.truncate(FILE_BYTES_MAX);
    }

    fn lie(&mut self, length: usize) -> u64 {
        match self.rng.u8(..3) {
            0 => self.rng.u64(..=2 * length as u64),
            _ => LIES[self.rng.usize(..LIES.len())],
        }
    }

    fn token(&mut self) -> &'a [u8] {
        let tokens = self.originals.tokens;
        match tokens.is_empty() {
            true => LONG_VARINTS[self.rng.usize(..LONG_VARINTS.len())],
            false => tokens[self.rng.usize(..tokens.len())],
        }
    }
}

/// As much of it as there is room for.
fn put(content: &mut [u8], at: usize, bytes: &[u8]) {
    let length = bytes.len().min(content.len() - at);
    content[at..at + length].copy_from_slice(&bytes[..length]);
}

fn insert(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let rest = content.split_off(at);
    content.extend_from_slice(bytes);
    content.extend_from_slice(&rest);
}
