//! A store in a local directory, or in one that several machines mount.
//!
//! ```text
//! <root>/sessions/...     objects and folders, by their names
//! <root>/.parts/<random>  bodies on their way to a name
//! <root>/.trash/<random>  folders on their way out
//! ```
//!
//! - *whole or absent*: a body is written and synced as a part; only then it gets its name, by a link
//!   (create) or a rename (put). A part is a file of its own and no `O_TMPFILE`, which cannot be put
//!   in another's place and which not every file system has.
//! - *told is durable*: a name is synced before anybody is told of it, by a writer and by a reader:
//!   the writer may have been killed between the two, and who acts on a record that a power cut then
//!   takes away loses what it acked.
//! - *gone at once*: a folder is moved to the trash before what is in it is removed: half a session is
//!   never seen.
//! - *nothing is left over*: a part is locked while its writer lives; opening the store removes
//!   the parts of the dead, and the trash.

mod part;
mod settled;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::limits;
use caudal_runtime::failpoint;
use tokio::sync::Semaphore;

use self::part::Part;
use self::settled::Settled;
use crate::store::{Created, Store, StoreError, check_name};

pub struct Directory {
    root: Arc<Root>,
    /// Calls at once: a disk that hangs keeps its threads, and may not get all there are.
    places: Arc<Semaphore>,
    /// How long a call may take.
    call_max: Duration,
}

impl Directory {
    /// Opens the store in a directory, which is made if need be, and removes what the dead left.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let name = path.display().to_string();
        let root = Root::open(path).map_err(|error| failure("open", &name, &error))?;
        let places = Arc::new(Semaphore::new(limits::STORE_THREADS_MAX));
        let call_max = Duration::from_millis(limits::STORE_CALL_MS_MAX);
        Ok(Self { root: Arc::new(root), places, call_max })
    }

    /// Disks are slow: their work is done where it holds nobody up. One that does not answer (a mount whose server is gone)
    /// is an error after a while; what was asked of it may be done later.
    #[allow(clippy::disallowed_methods, reason = "disks: a simulation has a store of its own")]
    async fn blocking<T: Send + 'static>(
        &self,
        action: &'static str,
        name: &str,
        work: impl FnOnce(&Root, &Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        check_name(name)?;
        let root = Arc::clone(&self.root);
        let path = root.path.join(name);
        let places = Arc::clone(&self.places);
        let working = async move {
            let place = places.acquire_owned().await.map_err(io::Error::other)?;
            let blocking = move || {
                let done = work(&root, &path);
                drop(place);
                done
            };
            let done = tokio::task::spawn_blocking(blocking).await;
            done.unwrap_or_else(|ended| Err(io::Error::other(ended)))
        };
        let call_max = self.call_max;
        let result = tokio::time::timeout(call_max, working).await.unwrap_or_else(|_| {
            Err(io::Error::new(ErrorKind::TimedOut, format!("no answer within {call_max:?}")))
        });
        result.map_err(|error| failure(action, name, &error))
    }
}

#[async_trait]
impl Store for Directory {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        self.blocking("create", name, move |root, path| root.create(path, &body)).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.blocking("write", name, move |root, path| root.put(path, &body)).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.blocking("read", name, Root::get).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.blocking("list", folder, |root, path| {
            let mut names = vec![];
            root.walk(path, &mut names)?;
            names.sort_unstable();
            Ok(names)
        })
        .await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.blocking("list", folder, |root, path| {
            let entries = root.entries(path)?.into_iter();
            let mut names: Vec<_> =
                entries.filter(|entry| entry.is_folder).map(|entry| entry.name).collect();
            names.sort_unstable();
            Ok(names)
        })
        .await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.blocking("delete", name, Root::delete).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.blocking("delete", folder, Root::delete_folder).await
    }
}

/// The blocking part of the store.
struct Root {
    path: PathBuf,
    parts: PathBuf,
    trash: PathBuf,
    settled: Settled,
}

struct Entry {
    name: String,
    is_folder: bool,
}

impl Root {
    fn open(path: PathBuf) -> io::Result<Self> {
        let (parts, trash) = (path.join(".parts"), path.join(".trash"));
        let settled = Settled::open(path.clone())?;
        fs::create_dir_all(&parts)?;
        fs::create_dir_all(&trash)?;
        part::sweep(&parts)?;
        for entry in fs::read_dir(&trash)? {
            remove_trash(&entry?.path());
        }
        Ok(Self { path, parts, trash, settled })
    }

    fn create(&self, path: &Path, body: &[u8]) -> io::Result<Created> {
        let linked = self.name_part(path, body, |part, path| fs::hard_link(part, path));
        let created = match linked {
            Ok(()) => Created::New,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Created::Exists,
            Err(error) => return Err(error),
        };
        failpoint::hit("store.named");
        self.settle_around(path)?;
        Ok(created)
    }

    fn put(&self, path: &Path, body: &[u8]) -> io::Result<()> {
        self.name_part(path, body, |part, path| fs::rename(part, path))?;
        failpoint::hit("store.named");
        self.settle_around(path)?;
        Ok(())
    }

    /// Writes a part and gives it its name. A folder that somebody removes meanwhile is made again:
    /// the next janitor sweeps it once more.
    fn name_part(
        &self,
        path: &Path,
        body: &[u8],
        give_name: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut part = Part::write(&self.parts, body)?;
        for _ in 0..limits::STORE_WRITE_TRIES_MAX {
            let named =
                self.settled.make(folder_of(path)).and_then(|()| give_name(&part.path, path));
            match named {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.settled.forget(folder_of(path));
                }
                named => return named,
            }
            if !part.path.exists() {
                part = Part::write(&self.parts, body)?;
            }
        }
        Err(io::Error::new(ErrorKind::NotFound, "its folder is removed as often as it is made"))
    }

    fn get(&self, path: &Path) -> io::Result<Option<Bytes>> {
        let body = match fs::read(path) {
            Ok(body) => Bytes::from(body),
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(self.settle_around(path)?.then_some(body))
    }

    fn walk(&self, folder: &Path, names: &mut Vec<String>) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let path = folder.join(&entry.name);
            if entry.is_folder {
                self.walk(&path, names)?;
            } else {
                let name = path.strip_prefix(&self.path).expect("a walk stays below the root");
                names.push(name.to_string_lossy().into_owned());
            }
        }
        Ok(())
    }

    /// The entries of a folder; none if it is not there. Names with a dot in front are not ours: NFS
    /// keeps removed files that somebody has open under such names.
    fn entries(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let read = || {
            let mut entries = vec![];
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if !name.starts_with('.') {
                    entries.push(Entry { name, is_folder: entry.file_type()?.is_dir() });
                }
            }
            self.settled.settle(folder)?;
            Ok(entries)
        };
        match read() {
            Err(error) if is_absence(&error) => Ok(vec![]),
            entries => entries,
        }
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if is_absence(&error) => return Ok(()),
            removed => removed?,
        }
        self.settle_around(path)?;
        Ok(())
    }

    fn delete_folder(&self, path: &Path) -> io::Result<()> {
        if !path.is_dir() {
            return Ok(());
        }
        let trash = self.trash.join(format!("{:016x}", fastrand::u64(..)));
        match fs::rename(path, &trash) {
            Err(error) if is_absence(&error) => return Ok(()),
            moved => moved?,
        }
        failpoint::hit("store.trashed");
        self.settled.forget(path);
        self.settle_around(path)?;
        remove_trash(&trash);
        Ok(())
    }

    /// Makes sure that what was done to a name stays done. Whether its folder is still there: it may
    /// have been removed since, and the name with it.
    fn settle_around(&self, path: &Path) -> io::Result<bool> {
        match self.settled.settle(folder_of(path)) {
            Err(error) if is_absence(&error) => Ok(false),
            settled => settled.map(|()| true),
        }
    }
}

/// Nobody sees what is in the trash: to fail to remove it is a loss of room until the next start.
fn remove_trash(trash: &Path) {
    match fs::remove_dir_all(trash) {
        Err(error) if !is_absence(&error) => {
            tracing::warn!(path = %trash.display(), %error, "trash is left until the store is opened");
        }
        _ => {}
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().expect("a checked name is below the root")
}

fn is_absence(error: &io::Error) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

fn failure(action: &'static str, name: &str, error: &io::Error) -> StoreError {
    let name = name.to_string();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full { name },
        _ => StoreError::Failed { action, name, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    /// What is read from a pipe that nobody writes to comes as late as from a mount whose server is gone.
    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_an_error_in_time_and_no_obstacle_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Directory::open(folder.path()).unwrap();
        store.call_max = Duration::from_millis(300);
        let pipe = folder.path().join("hung");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let started = Instant::now();
        for _ in 0..3 {
            let error = store.get("hung").await.unwrap_err();
            assert!(matches!(error, StoreError::Failed { .. }), "{error}");
            assert!(error.to_string().contains("no answer within 300ms"), "{error}");
        }
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(store.create("well", "x".into()).await.unwrap(), Created::New);
        assert_eq!(store.get("well").await.unwrap().unwrap(), "x");
        // Its threads come back, or the runtime would wait for them. Opened for both: for writing alone it would wait for a reader,
        // and the first has let all of them go.
        let writer = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        drop(writer);
    }
}
