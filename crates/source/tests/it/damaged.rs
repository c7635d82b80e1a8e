//! Files that are cut off or changed anywhere: an error with a code, or what is left unharmed; never a panic, and no silence
//! about rows that are gone.

use arrow::array::RecordBatch;
use caudal_core::{Coded, codes};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::common::{Folder, read_files};
use crate::formats::all_types;
use crate::write;

type Write = fn(&RecordBatch, usize) -> Vec<u8>;

const WRITERS: [(&str, Write); 3] = [
    ("parquet", write::parquet),
    ("arrow file", write::ipc_file),
    ("arrow stream", write::ipc_stream),
];

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let folder = Folder::new();
    let batch = all_types(30);
    for (name, write) in WRITERS {
        let whole = write(&batch, 10);
        // What is shorter begins as nothing that is known.
        for length in (8..whole.len()).step_by(1 + whole.len() / 400) {
            let error = match read_files(&[folder.file("t", &whole[..length])]) {
                Ok(read) => panic!("{name} cut at {length} gives {} rows", read.batch.num_rows()),
                Err(error) => error,
            };
            assert_eq!(error.code(), codes::FILE_DAMAGED, "{name} cut at {length}: {error}");
        }
    }
}

#[test]
fn a_stream_without_its_end_or_with_more_is_an_error() {
    let folder = Folder::new();
    let whole = write::ipc_stream(&all_types(30), 10);
    let two = [whole.clone(), whole.clone()].concat();
    for content in [&whole[..whole.len() - 8], &two] {
        let error = read_files(&[folder.file("t", content)]).unwrap_err();
        assert_eq!(error.code(), codes::FILE_DAMAGED, "{error}");
    }
}

proptest! {
    #![proptest_config(Config::with_cases(600))]
    #[test]
    fn changed_bytes_never_panic(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        near_end in any::<bool>(),
    ) {
        let (_, write) = WRITERS[which];
        let mut content = write(&all_types(40), 20);
        let begin = if near_end { content.len() - content.len() / 5 } else { 4 };
        let end = content.len() - 6;
        for (at, byte) in changes {
            content[begin + at.index(end - begin)] = byte;
        }
        let folder = Folder::new();
        if let Err(error) = read_files(&[folder.file("t", &content)]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
