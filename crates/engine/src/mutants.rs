//! Deliberate defects of a shard, which the simulation has to find (`caudal-sim --mutants`): nothing unless switched on,
//! and nothing at all in a release build.

use caudal_protocol::Section;
use caudal_runtime::failpoint::mutant;

/// The rows of a fragment that is taken again although it has been seen.
pub fn dedup_off(sections: &[Section]) -> Vec<Section> {
    if mutant("dedup_off") { sections.to_vec() } else { vec![] }
}
