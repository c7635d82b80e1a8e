//! `caudal generate`: data for a suite.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Done;
use crate::args::GenerateArgs;
use crate::error::Told;

pub fn run(args: GenerateArgs) -> Done {
    let bar = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {bytes} written, {bytes_per_sec}, {elapsed}")
            .expect("the template is valid"),
    );
    bar.enable_steady_tick(Duration::from_millis(100));
    let summary =
        caudal_generate::generate(&args.suite, args.scale, args.seed, &args.out, &|bytes| {
            bar.inc(bytes);
        })
        .told()?;
    bar.finish_and_clear();
    for file in &summary.files {
        eprintln!("{:>12}  {}", indicatif::HumanBytes(file.bytes).to_string(), file.path.display());
    }
    Ok(())
}
