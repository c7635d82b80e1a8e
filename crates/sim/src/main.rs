//! `cargo run --profile test -p caudal-sim -- --seeds 3000`

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(about = "Runs whole clusters in one thread each, with everything that can go wrong")]
struct Args {
    /// How many seeds to run
    #[arg(long, default_value_t = 200)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Replay one seed, and say all that happens
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// Kinds of faults that are left out
    #[arg(long, value_name = "FAULT")]
    without: Vec<String>,
    /// Switch on a deliberate defect
    #[arg(long, value_name = "NAME")]
    mutant: Option<String>,
    /// Switch on each deliberate defect in turn, and say how many seeds find it
    #[arg(long)]
    mutants: bool,
    /// Threads; as many as there are cores if it is not said
    #[arg(long)]
    jobs: Option<usize>,
}

#[cfg(not(debug_assertions))]
fn main() -> ExitCode {
    let _ = Args::parse();
    eprintln!("it needs a build with debug assertions: leave out --release");
    ExitCode::FAILURE
}

#[cfg(debug_assertions)]
fn main() -> ExitCode {
    let args = Args::parse();
    match command::run(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}

#[cfg(debug_assertions)]
mod command {
    use std::collections::BTreeSet;

    use caudal_sim::faults::Fault;
    use caudal_sim::many::{Summary, run_many, shrink};
    use caudal_sim::mutants::{MUTANTS, Mutant, find};
    use caudal_sim::run::{Options, run as run_seed};

    use super::*;

    /// Whether all is as it should be.
    pub fn run(args: Args) -> Result<bool, String> {
        let options = options(&args)?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let jobs = args.jobs.unwrap_or(cores).max(1);
        if args.mutants {
            return Ok(hunt(args.seeds, jobs));
        }
        match args.seed {
            Some(seed) => Ok(replay(seed, options)),
            None => Ok(many(args.first..args.first + args.seeds, &options, jobs)),
        }
    }

    fn options(args: &Args) -> Result<Options, String> {
        let fault = |name: &String| {
            let found = Fault::ALL.iter().find(|fault| fault.name() == name);
            found.copied().ok_or_else(|| {
                let all: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
                format!("there is no fault {name:?}, but: {}", all.join(", "))
            })
        };
        let without = args.without.iter().map(fault).collect::<Result<BTreeSet<_>, _>>()?;
        let mut options = match &args.mutant {
            Some(name) => find(name).map(Mutant::options).ok_or_else(|| {
                let all: Vec<_> = MUTANTS.iter().map(|mutant| mutant.name).collect();
                format!("there is no mutant {name:?}, but: {}", all.join(", "))
            })?,
            None => Options::default(),
        };
        options.without.extend(without);
        Ok(options)
    }

    fn replay(seed: u64, mut options: Options) -> bool {
        options.keep_lines = true;
        let report = run_seed(seed, &options);
        let mut out = std::io::stdout().lock();
        for line in report.trace.lines.iter().flatten() {
            // A closed pipe has seen enough.
            if writeln!(out, "{line}").is_err() {
                return report.problems.is_empty();
            }
        }
        let enabled: Vec<_> = report.enabled.iter().map(|fault| fault.name()).collect();
        let _ = writeln!(out, "\nseed {seed}: {}, with {}", report.workload, enabled.join(", "));
        for (fault, count) in report.counts.iter().filter(|(_, count)| **count > 0) {
            let _ = writeln!(out, "{count:>8} {}", fault.name());
        }
        let _ = writeln!(out, "ends: {:#?}\ntrace: {:016x}", report.ends, report.trace.hash);
        for problem in &report.problems {
            let _ = writeln!(out, "PROBLEM {problem}");
        }
        report.problems.is_empty()
    }

    fn many(seeds: std::ops::Range<u64>, options: &Options, jobs: usize) -> bool {
        let summary = run_many(seeds, options, false, jobs, progress);
        eprintln!();
        tell(&summary);
        for (seed, problems) in &summary.failures {
            println!("\nseed {seed} fails:");
            problems.iter().take(8).for_each(|problem| println!("  {problem}"));
        }
        if let Some((seed, _)) = summary.failures.first() {
            let needed = shrink(*seed, options);
            let needed: Vec<_> = needed.iter().map(|fault| fault.name()).collect();
            println!("\nseed {seed} needs no more than: {}", needed.join(", "));
            let mutant = options.mutant.map(|name| format!(" --mutant {name}"));
            let mutant = mutant.unwrap_or_default();
            println!("replay: cargo run --profile test -p caudal-sim -- --seed {seed}{mutant}");
        }
        summary.failures.is_empty()
    }

    fn progress(summary: &Summary) {
        if summary.seeds.is_multiple_of(10) || std::io::stderr().is_terminal() {
            eprint!(
                "\r{} seeds, {:.1}/s, {} sessions answered, {} failures ",
                summary.seeds,
                summary.seeds_a_second(),
                summary.answered,
                summary.failures.len()
            );
        }
    }

    fn tell(summary: &Summary) {
        println!(
            "{} seeds in {:.0} s: {} sessions answered ({} rows), {} vanished, {} events",
            summary.seeds,
            summary.elapsed.as_secs_f64(),
            summary.answered,
            summary.rows,
            summary.vanished,
            summary.events
        );
        println!(
            "{:.1} simulated hours, {:.1} a minute; {:.1} seeds a second",
            summary.simulated.as_secs_f64() / 3600.0,
            summary.simulated_hours_a_minute(),
            summary.seeds_a_second()
        );
        let excused: u64 = summary.excused.values().sum();
        println!("{excused} sessions ended without an answer, and may:");
        for ((code, why), count) in &summary.excused {
            println!("{count:>10} {code} {why}");
        }
        for (fault, seeds) in &summary.enabled {
            let count = summary.counts.get(fault).copied().unwrap_or_default();
            println!("{count:>10} {} (in {seeds} seeds)", fault.name());
        }
        for fault in summary.never_fired() {
            println!("NEVER FIRED: {}", fault.name());
        }
    }

    /// Whether every mutant is found.
    fn hunt(seeds_max: u64, jobs: usize) -> bool {
        let mut all_found = true;
        for mutant in MUTANTS {
            let summary = run_many(0..seeds_max, &mutant.options(), true, jobs, |_| {});
            let found = summary.failures.first();
            let (seeds, how) = match found {
                Some((seed, problems)) => {
                    let problem: String = problems[0].chars().take(100).collect();
                    (format!("{}", seed + 1), problem)
                }
                None => (format!("not in {seeds_max}"), String::new()),
            };
            all_found &= found.is_some();
            println!("| {} | {} | {seeds} | {how} |", mutant.name, mutant.what);
        }
        all_found
    }
}
