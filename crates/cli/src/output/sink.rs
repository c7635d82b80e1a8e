//! Bytes of a result on their way out: to stdout, or to a file, compressed or not.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::write::GzEncoder;

/// How a file is compressed, as its name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    #[default]
    None,
    Gzip,
    Zstd,
}

/// A sink, shared by the writer of a format and by whoever ends the result.
///
/// It keeps what went wrong with the bytes: writers tell of that in words of their own, in which a full disk looks like a
/// value that the format does not hold.
#[derive(Clone)]
pub struct Sink(Arc<Mutex<State>>);

struct State {
    out: Out,
    failed: Option<io::Error>,
}

enum Out {
    Stdout(Box<dyn Write + Send>),
    File(Box<BufWriter<Packed>>),
}

enum Packed {
    Not(File),
    Gzip(GzEncoder<File>),
    Zstd(zstd::Encoder<'static, File>),
}

impl Sink {
    pub fn stdout() -> Self {
        Self::of(Out::Stdout(super::stdout()))
    }

    pub fn file(file: File, packing: Packing) -> io::Result<Self> {
        let packed = match packing {
            Packing::None => Packed::Not(file),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstd => {
                Packed::Zstd(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        };
        Ok(Self::of(Out::File(Box::new(BufWriter::new(packed)))))
    }

    fn of(out: Out) -> Self {
        Self(Arc::new(Mutex::new(State { out, failed: None })))
    }

    /// What went wrong, given what a writer says of it.
    pub fn cause(&self, told: io::Error) -> io::Error {
        self.state().failed.take().unwrap_or(told)
    }

    /// Ends the bytes, when the writer has. A file is then on the disk.
    pub fn finish(self) -> io::Result<()> {
        let Some(state) = Arc::into_inner(self.0) else {
            return Err(io::Error::other("somebody still writes"));
        };
        match state.into_inner().unwrap_or_else(PoisonError::into_inner).out {
            Out::Stdout(mut out) => out.flush(),
            Out::File(file) => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
                match file.sync_all() {
                    // A pipe, or a device.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
                    synced => synced,
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        let written = match &mut state.out {
            Out::Stdout(out) => out.write(bytes),
            Out::File(file) => file.write(bytes),
        };
        written.map_err(|error| state.keep(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.state();
        match &mut state.out {
            // A row that is known is shown: whoever reads the pipe may be waiting for it.
            Out::Stdout(out) => out.flush().map_err(|error| state.keep(error)),
            // Nobody reads it before it is complete.
            Out::File(_) => Ok(()),
        }
    }
}

impl State {
    /// The error to tell; the first is kept.
    fn keep(&mut self, error: io::Error) -> io::Error {
        let told = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        if error.kind() != io::ErrorKind::Interrupted {
            self.failed.get_or_insert(error);
        }
        told
    }
}

impl Packed {
    fn finish(self) -> io::Result<File> {
        match self {
            Packed::Not(file) => Ok(file),
            Packed::Gzip(encoder) => encoder.finish(),
            Packed::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Not(file) => file.write(bytes),
            Packed::Gzip(encoder) => encoder.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
