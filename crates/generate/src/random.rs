//! Chance that is the same every time: seeded generators, popularity, permutations.

pub(crate) use fastrand::Rng;

/// A named source of chance: a generator of its own for every row of a table, a number for every item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Self(name.bytes().fold(mix(seed), |hash, byte| mix(hash ^ u64::from(byte))))
    }

    pub(crate) fn rng(self, row: u64) -> Rng {
        Rng::with_seed(self.hash(row))
    }

    /// A number that always belongs to this item and looks like chance.
    pub(crate) fn hash(self, item: u64) -> u64 {
        mix(self.0 ^ mix(item))
    }
}

/// SplitMix64's finaliser.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

pub(crate) fn pick<'a, T: ?Sized>(rng: &mut Rng, choices: &[&'a T]) -> &'a T {
    choices[rng.usize(..choices.len())]
}

/// True this many times in a thousand.
pub(crate) fn per_mille(rng: &mut Rng, chances: u32) -> bool {
    rng.u32(..1000) < chances
}

/// A length drawn from six quantiles of a real distribution (5, 25, 50, 75, 90 and 99 per cent).
pub(crate) fn length_like(rng: &mut Rng, quantiles: &[usize; 6]) -> usize {
    let bucket = match rng.u32(..100) {
        0..25 => 0,
        25..50 => 1,
        50..75 => 2,
        75..90 => 3,
        _ => 4,
    };
    // Squaring leans towards the short end, as lengths do.
    let lean = rng.f64();
    let (low, high) = (quantiles[bucket], quantiles[bucket + 1]);
    low + ((high - low) as f64 * lean * lean) as usize
}

/// Popularity after Zipf: the k-th most popular of n is drawn in proportion to 1/(k + `flatness`).
///
/// Drawn by the alias method, in constant time. Only the four basic operations are used, so that the
/// same numbers come out on every machine.
pub(crate) struct Popularity {
    keep: Vec<f64>,
    alias: Vec<u32>,
    scatter: Permutation,
}

impl Popularity {
    pub(crate) fn new(n: u64, flatness: f64) -> Self {
        let weights: Vec<f64> = (0..n).map(|k| 1.0 / (k as f64 + 1.0 + flatness)).collect();
        let total: f64 = weights.iter().sum();
        let mut keep: Vec<f64> = weights.iter().map(|w| w * n as f64 / total).collect();
        let mut alias: Vec<u32> = (0..n as u32).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            alias.iter().partition(|k| keep[**k as usize] < 1.0);
        while let (Some(poor), Some(rich)) = (small.pop(), large.last().copied()) {
            alias[poor as usize] = rich;
            keep[rich as usize] -= 1.0 - keep[poor as usize];
            if keep[rich as usize] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { keep, alias, scatter: Permutation::of(n) }
    }

    /// The number of an item, popular ones more often; which are popular does not follow from it.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        let slot = rng.usize(..self.keep.len());
        let rank = match rng.f64() < self.keep[slot] {
            true => slot as u64,
            false => u64::from(self.alias[slot]),
        };
        self.scatter.of_index(rank)
    }
}

/// A fixed shuffling of 0..n that needs no table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permutation {
    n: u64,
    stride: u64,
}

impl Permutation {
    pub(crate) fn of(n: u64) -> Self {
        // Any stride without a common factor visits everything; near the golden section it scatters.
        let mut stride = (n as f64 * 0.618_033_988_75) as u64 | 1;
        while greatest_common_divisor(stride, n) != 1 {
            stride += 2;
        }
        Self { n, stride }
    }

    pub(crate) fn of_index(&self, index: u64) -> u64 {
        (index * self.stride + self.n / 3) % self.n
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_visits_everything_once() {
        for n in [1, 2, 3, 10, 97, 974, 4248] {
            let permutation = Permutation::of(n);
            let mut seen: Vec<u64> = (0..n).map(|index| permutation.of_index(index)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn popularity_follows_its_law() {
        let popularity = Popularity::new(100, 1.0);
        let mut rng = Stream::new(1, "test").rng(0);
        let mut draws = vec![0_u32; 100];
        for _ in 0..200_000 {
            draws[popularity.draw(&mut rng) as usize] += 1;
        }
        let total: f64 = (0..100).map(|k| 1.0 / (f64::from(k) + 2.0)).sum();
        draws.sort_unstable_by(|a, b| b.cmp(a));
        for rank in [0, 1, 4, 30] {
            let expected = 200_000.0 / total / (rank as f64 + 2.0);
            let ratio = f64::from(draws[rank]) / expected;
            assert!((0.9..1.1).contains(&ratio), "rank {rank}: {ratio}");
        }
    }

    #[test]
    fn streams_and_rows_are_independent() {
        let first = |stream, row| Stream::new(7, stream).rng(row).u64(..);
        assert_ne!(first("a", 0), first("b", 0));
        assert_ne!(first("a", 0), first("a", 1));
        assert_eq!(first("a", 1), first("a", 1));
    }
}
