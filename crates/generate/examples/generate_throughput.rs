//! Generates a suite and says how fast: `throughput SUITE SCALE FOLDER`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [suite, scale, folder] = arguments.as_slice() else {
        eprintln!("usage: throughput SUITE SCALE FOLDER");
        return ExitCode::FAILURE;
    };
    let Ok(scale) = scale.parse() else {
        eprintln!("`{scale}` is not a number");
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    match caudal_generate::generate(suite, scale, 1, Path::new(folder), &|_| {}) {
        Ok(summary) => {
            let seconds = start.elapsed().as_secs_f64();
            let megabytes = summary.bytes() as f64 / 1e6;
            println!(
                "{suite}: {megabytes:.1} MB in {seconds:.2} s, {:.0} MB/s",
                megabytes / seconds
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
