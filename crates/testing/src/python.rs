//! A Python with packages of PyPI, made on first use and kept in `${CAUDAL_CACHE:-~/.cache/caudal}`.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip;

/// The folder of a virtual environment with exactly these packages (`name==version`); where it cannot be made, the
/// test is noted as skipped.
pub fn python(test: &str, environment: &str, packages: &[&str]) -> Option<PathBuf> {
    match make(environment, packages) {
        Ok(folder) => Some(folder),
        Err(reason) => {
            skip(test, &format!("no Python with {}: {reason}", packages.join(", ")));
            None
        }
    }
}

fn make(environment: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let cache = cache().ok_or("there is no HOME")?;
    let folder = cache.join(format!("venv-{environment}"));
    fs::create_dir_all(&cache).map_err(|error| error.to_string())?;
    // Tests that want the same one wait for whoever makes it.
    let lock = File::create(cache.join(format!("venv-{environment}.lock")));
    let _held =
        lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| error.to_string())?;
    let wanted = packages.join("\n");
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(folder.join("bin/python")).args(pip).args(packages))?;
    fs::write(installed, wanted).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn cache() -> Option<PathBuf> {
    let home = || Some(Path::new(&env::var_os("HOME")?).join(".cache/caudal"));
    env::var_os("CAUDAL_CACHE").map(PathBuf::from).or_else(home)
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}", said.lines().last().unwrap_or("it failed")))
}
