//! Accuracy of `language()` on the labelled texts of the shared data.

use std::fs;
use std::path::Path;

use caudal_functions::language::detect;

/// Out of 1,000 texts of the kind: how many must be given their language, and how many must be told
/// rightly whether they are English. ADR 003 has the measured values; these leave no room to decay.
const SENTENCES: (usize, usize) = (993, 997);
const WORD_PAIRS: (usize, usize) = (935, 987);

#[test]
fn sentences_are_recognised() {
    assert_accuracy("sentences", SENTENCES);
}

#[test]
fn word_pairs_are_recognised() {
    assert_accuracy("word-pairs", WORD_PAIRS);
}

fn assert_accuracy(kind: &str, (right_min, english_min): (usize, usize)) {
    let labelled = caudal_testing::shared("accuracy of language()", "data/language");
    let Some(labelled) = labelled else { return };
    let (mut texts, mut right, mut english_right) = (0, 0, 0);
    for file in fs::read_dir(labelled).expect("a readable directory") {
        let path = file.expect("a readable directory").path();
        let Some(label) = label_of(&path, kind) else { continue };
        for text in fs::read_to_string(&path).expect("a UTF-8 file").lines() {
            let found = detect(text);
            texts += 1;
            right += usize::from(found == Some(&label));
            english_right += usize::from((found == Some("en")) == (label == "en"));
        }
    }
    assert!(texts > 1_000, "{texts} texts are too few to judge by");
    assert!(right * 1_000 >= right_min * texts, "{right} of {texts} recognised");
    assert!(
        english_right * 1_000 >= english_min * texts,
        "{english_right} of {texts} English or not"
    );
}

/// The language in `<kind>.<language>.txt`.
fn label_of(path: &Path, kind: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let label = name.strip_prefix(kind)?.strip_prefix('.')?.strip_suffix(".txt")?;
    Some(label.to_owned())
}
