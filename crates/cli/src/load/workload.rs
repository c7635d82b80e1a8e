//! Workload of a client, and the answers that it should come back with.

use std::path::{Path, PathBuf};

use caudal::{Job, Session, Suite};

use crate::answering::answer_here;
use crate::args::{InputArgs, OutputArgs};
use crate::error::{Failed, Told};
use crate::output::Format;

/// A suite with its data, and the answers of one process.
pub struct Workload {
    pub suite: String,
    pub data: PathBuf,
    pub params: Vec<String>,
    pub expected: PathBuf,
}

impl Workload {
    /// Makes the data unless there is some, and answers the suite in this process.
    pub fn prepare(
        name: &str,
        data: Option<&Path>,
        scale: f64,
        folder: &Path,
    ) -> Result<Self, Failed> {
        let suite = Suite::find(name).told()?;
        let (data, params) = match data {
            Some(data) => (data.to_path_buf(), vec![]),
            None => {
                let data = folder.join(format!("{name}-data"));
                caudal_generate::generate(name, scale, SEED, &data, &|_| ()).told()?;
                (data, caudal_generate::demo_params(name, scale))
            }
        };
        let job = Job::of_suite(&suite).params(&params).over(&data)?;
        let expected = folder.join(format!("{name}-expected"));
        let output = OutputArgs {
            out: Some(expected.clone()),
            format: Some(Format::Csv),
            delimiter: None,
            quiet: true,
        };
        let input = InputArgs::default();
        answer_here(&job, &Session::local(), &output, &input)?;
        Ok(Self { suite: name.to_string(), data, params, expected })
    }
}

/// The data need be no other each time.
const SEED: u64 = 1;
