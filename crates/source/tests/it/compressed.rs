//! Compressed CSV: the same rows, or an error that says where it is damaged.

use std::fs;

use caudal_core::{Coded, codes};
use caudal_source::{Codec, Options, Table};

use crate::common::{
    CODECS, Folder, compress, csv, guessed, read, read_files, read_source, small_chunks,
};

#[test]
fn a_compressed_file_is_what_it_was() {
    let folder = Folder::new();
    for count in [1, 100, 20_000] {
        let content = csv(count);
        let plain = read_files(&[folder.file("plain", &content)]).unwrap();
        assert_eq!(plain.batch.num_rows(), count);
        for codec in CODECS {
            // Names say nothing.
            let packed = compress(codec, content.as_bytes());
            let file = folder.file("t.csv", &packed);
            let table = guessed(std::slice::from_ref(&file)).unwrap();
            let read = read(&table, small_chunks()).unwrap();
            assert_eq!(read.batch, plain.batch, "{codec:?}");
            assert_eq!(read.bytes, packed.len(), "{codec:?} of {count}");
            let source = table.open(vec![], Options::default()).unwrap();
            assert_eq!(source.total_bytes(), Some(packed.len() as u64));
            assert_eq!(source.waiting_threads(), 0);
        }
    }
}

#[test]
fn rejects_have_the_lines_of_the_text() {
    let folder = Folder::new();
    let content = "a,b\n1,2\n3\n\"4\n\",5\nx,6\n";
    let plain = read_files(&[folder.file("t", content)]).unwrap();
    for codec in CODECS {
        let read = read_files(&[folder.file("t", compress(codec, content.as_bytes()))]).unwrap();
        assert_eq!(read.reject_lines(), plain.reject_lines());
        assert_eq!(read.reject_lines(), ["t:3 -: expected 2 fields, found 1"]);
    }
}

#[test]
fn members_are_one_file() {
    let folder = Folder::new();
    let content = csv(3000);
    let (first, second) = content.split_at(content.len() / 3);
    let plain = read_files(&[folder.file("plain", &content)]).unwrap();
    for codec in CODECS {
        let members = [first, second, ""].map(|part| compress(codec, part.as_bytes()));
        let read = read_files(&[folder.file("t", members.concat())]).unwrap();
        assert_eq!(read.batch, plain.batch, "{codec:?}");
    }
    let padded = [compress(Codec::Gzip, content.as_bytes()), vec![0; 1000]].concat();
    assert_eq!(read_files(&[folder.file("t", padded)]).unwrap().batch, plain.batch);
}

#[test]
fn what_follows_is_not_lost_in_silence() {
    let folder = Folder::new();
    for codec in CODECS {
        let content = [compress(codec, csv(100).as_bytes()), b"more".to_vec()].concat();
        let error = read_files(&[folder.file("t", content)]).unwrap_err();
        assert_eq!(error.code(), codes::COMPRESSED_DAMAGED, "{codec:?}: {error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let folder = Folder::new();
    let content = csv(40);
    for codec in CODECS {
        let packed = compress(codec, content.as_bytes());
        for length in 12..packed.len() {
            let file = folder.file("t", &packed[..length]);
            let error = read_files(&[file]).unwrap_err();
            assert_eq!(
                error.code(),
                codes::COMPRESSED_DAMAGED,
                "{codec:?} cut at {length}: {error}"
            );
        }
    }
}

#[test]
fn the_error_says_where_it_ends() {
    let folder = Folder::new();
    for codec in CODECS {
        let packed = compress(codec, csv(100_000).as_bytes());
        let cut = packed.len() * 2 / 3;
        let error = read_files(&[folder.file("t", &packed[..cut])]).unwrap_err().to_string();
        assert!(error.contains(&format!("at byte {cut}")), "{error}");
        assert!(error.contains(codec.name()), "{error}");
    }
}

#[test]
fn a_damaged_byte_is_an_error_or_harms_nothing() {
    let folder = Folder::new();
    let content = csv(40);
    let plain = read_files(&[folder.file("plain", &content)]).unwrap();
    for codec in CODECS {
        let packed = compress(codec, content.as_bytes());
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x55;
            // One that is not known as compressed any more is a strange CSV file.
            if Codec::of(&damaged) != Some(codec) {
                continue;
            }
            match read_files(&[folder.file("t", &damaged)]) {
                Ok(read) => assert_eq!(read.batch, plain.batch, "{codec:?} at {at}"),
                Err(error) => {
                    assert_eq!(
                        error.code(),
                        codes::COMPRESSED_DAMAGED,
                        "{codec:?} at {at}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn files_compressed_and_not_are_one_table() {
    let folder = Folder::new();
    let mut files = vec![folder.file("0.csv", "id,text,price\n-1,first,0.5\n")];
    for (at, codec) in CODECS.into_iter().enumerate() {
        files.push(folder.file(&at.to_string(), compress(codec, csv(500 + at).as_bytes())));
    }
    // Another order of columns.
    files.push(folder.file("z.csv", "price,id,text\n1.5,-2,last\n"));
    let table = guessed(&files).unwrap();
    let options = || Options { position: Some("_row".into()), ..small_chunks() };
    let content = read(&table, options()).unwrap();
    assert_eq!(content.batch.num_rows(), 1 + (500..505).sum::<usize>() + 1);
    let rows = content.rows();
    assert_eq!(rows[0][1].as_deref(), Some("first"));
    assert_eq!(rows.last().unwrap()[1].as_deref(), Some("last"));
    assert!(rows.is_sorted_by_key(|row| row[3].as_ref().unwrap().parse::<u64>().unwrap()));
    let source = table.open(vec![0, 2], options()).unwrap();
    let first = read_source(source.as_ref()).unwrap();
    let again = read_source(source.again().unwrap().as_ref()).unwrap();
    assert_eq!((first.batch, first.chunks), (again.batch, again.chunks));
    fs::write(&files[2], compress(Codec::Zstd, b"id,text,price\n")).unwrap();
    assert_eq!(source.check_unchanged().unwrap_err().code(), codes::FILE_CHANGED);
    assert_eq!(source.again().unwrap_err().code(), codes::FILE_CHANGED);
}

#[test]
fn a_bomb_is_an_error() {
    let folder = Folder::new();
    let zeros = zstd::encode_all(std::io::repeat(b'0').take_bytes(1 << 30), 1).unwrap();
    assert!(zeros.len() < 200 << 10);
    let header = zstd::encode_all(&b"a\n"[..], 1).unwrap();
    let file = folder.file("t.csv", [header, zeros].concat());
    let spec = caudal_csv::Table {
        name: "t".into(),
        files: vec![file],
        columns: vec![],
        fields: None,
        dialect: caudal_csv::Dialect::default(),
    };
    let options = Options { record_bytes_max: 1 << 29, ..Options::default() };
    let error = read(&Table::from(spec), options).unwrap_err();
    assert_eq!(error.code(), codes::UNPACKS_TO_TOO_MUCH, "{error}");
}

#[test]
fn what_needs_too_much_memory_is_an_error() {
    let mut encoder = zstd::Encoder::new(vec![], 1).unwrap();
    encoder.window_log(28).unwrap();
    std::io::Write::write_all(&mut encoder, csv(100).as_bytes()).unwrap();
    let folder = Folder::new();
    let error = read_files(&[folder.file("t", encoder.finish().unwrap())]).unwrap_err();
    assert_eq!(error.code(), codes::COMPRESSED_DAMAGED, "{error}");
}

trait TakeBytes: std::io::Read + Sized {
    fn take_bytes(self, bytes: u64) -> std::io::Take<Self> {
        self.take(bytes)
    }
}

impl<R: std::io::Read> TakeBytes for R {}
