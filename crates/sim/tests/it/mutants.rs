//! The deliberate defects, each of which the simulation has to find.

use caudal_sim::many::run_many;
use caudal_sim::mutants::MUTANTS;

use crate::jobs;

#[test]
fn every_deliberate_defect_is_found() {
    for mutant in MUTANTS {
        let summary = run_many(0..mutant.seeds_max, &mutant.options(), true, jobs(), |_| {});
        let found = summary.failures.first();
        println!("{}: {found:?}", mutant.name);
        assert!(found.is_some(), "{} is not found in {} seeds", mutant.name, mutant.seeds_max);
    }
}
