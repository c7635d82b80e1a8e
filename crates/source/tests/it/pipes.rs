//! Named pipes: read once, in bounded memory.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use caudal_core::{Coded, codes};
use caudal_source::{Codec, Options};

use crate::common::{Folder, compress, csv, guessed, read, read_files, read_source};

fn pipe(folder: &Folder) -> PathBuf {
    let path = folder.0.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn feed(path: &Path, content: impl FnOnce(&mut dyn Write) + Send + 'static) {
    let path = path.to_path_buf();
    thread::spawn(move || content(&mut OpenOptions::new().write(true).open(path).unwrap()));
}

#[test]
fn a_pipe_is_read_like_a_file() {
    for packed in [None, Some(Codec::Gzip), Some(Codec::Zstd)] {
        // More than is kept of it, and less.
        for count in [10, 300_000] {
            let folder = Folder::new();
            let content = csv(count);
            let expected = read_files(&[folder.file("plain", &content)]).unwrap();
            let path = pipe(&folder);
            let bytes = match packed {
                Some(codec) => compress(codec, content.as_bytes()),
                None => content.into_bytes(),
            };
            let length = bytes.len();
            feed(&path, move |writer| writer.write_all(&bytes).unwrap());
            let table = guessed(std::slice::from_ref(&path)).unwrap();
            let source = table.open(vec![0, 1, 2], Options::default()).unwrap();
            assert!(source.waiting_threads() == 1 && source.total_bytes().is_none());
            let read = read_source(source.as_ref()).unwrap();
            assert_eq!(read.batch, expected.batch);
            assert_eq!(read.bytes, length);
            match length < 4 << 20 {
                true => assert_eq!(
                    read_source(source.again().unwrap().as_ref()).unwrap().batch,
                    expected.batch
                ),
                false => assert_eq!(source.again().unwrap_err().code(), codes::READ_ONLY_ONCE),
            }
        }
    }
}

#[test]
fn a_pipe_for_two_tables_is_an_error() {
    let folder = Folder::new();
    let path = pipe(&folder);
    feed(&path, |writer| drop(writer.write_all(csv(300_000).as_bytes())));
    let first = guessed(std::slice::from_ref(&path)).unwrap();
    let second = guessed(&[path]).unwrap();
    read(&first, Options::default()).unwrap();
    assert_eq!(read(&second, Options::default()).unwrap_err().code(), codes::READ_ONLY_ONCE);
}

#[test]
fn a_long_stream_takes_little_memory() {
    const ROWS: i64 = 10_000_000;
    let folder = Folder::new();
    let path = pipe(&folder);
    feed(&path, |writer| {
        writer.write_all(b"n,text\n").unwrap();
        let block: String = (0..1000).map(|_| "1,some text that is not short\n").collect();
        (0..ROWS / 1000).for_each(|_| writer.write_all(block.as_bytes()).unwrap());
    });
    let source = guessed(&[path]).unwrap().open(vec![0, 1], Options::default()).unwrap();
    let before = resident_bytes();
    let mut sum = 0;
    let mut most = 0;
    while let Some(chunk) = source.next_chunk().unwrap() {
        let parsed = chunk.parse().unwrap();
        sum += parsed.batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        most = most.max(resident_bytes());
    }
    assert_eq!(sum, ROWS);
    assert!(most < before + (100 << 20), "{before} bytes became {most}");
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() << 12
}
