//! Books: `books_data.csv` and `Books_rating.csv`.
//!
//! As in the real files: authors and categories are Python lists, with names like "..., Jr." and
//! apostrophes; dates of publication come as `1996`, `2005-01-01`, `2003-04`, `1984*`, `9/4/17` or not
//! at all; one row is cut short; the title is the only key; a few titles are empty. A score is near
//! what its book is worth, and the text agrees with the score. Some authors wrote in many decades.

use std::fmt::Write;
use std::ops::Range;

use crate::blocks::{Output, TableFile};
use crate::literal::{self, built};
use crate::people::push_person;
use crate::prose::{Language, Mood, push_prose, push_title};
use crate::random::{Popularity, Rng, Stream, length_like, per_mille};
use crate::record::{Record, push_int};
use crate::{Error, Size};

const BOOKS: u64 = 212_404;
const REVIEWS: u64 = 3_000_000;

/// Authors of all times, each with books in many decades, write one book in so many.
const CLASSIC_AUTHORS: u64 = 20;
const CLASSIC_EVERY: u64 = 10;

/// Every so many books is about computers, and one in so many of those about distributed ones.
const COMPUTERS_EVERY: u64 = 40;
const DISTRIBUTED_EVERY: u64 = 120;

const CATEGORIES: &[&str] = &[
    "Fiction",
    "Fiction",
    "Fiction",
    "Religion",
    "History",
    "Juvenile Fiction",
    "Biography & Autobiography",
    "Business & Economics",
    "Cooking",
    "Body, Mind & Spirit",
    "Children's stories",
    "Social Science",
];

const PUBLISHERS: &[&str] =
    &["Harbor House", "Simon, Finch & Sons", "Old Mill Press", "University Press", "O'Brien Books"];

const REVIEW_LENGTHS: [usize; 6] = [118, 253, 490, 931, 1715, 5153];

pub(crate) fn write(size: Size, output: &mut Output<'_>) -> Result<(), Error> {
    let books = Books::new(size.seed, size.dimension(BOOKS));
    output.write(TableFile {
        name: "books_data.csv",
        header: "Title,description,authors,image,previewLink,publisher,publishedDate,infoLink,\
                 categories,ratingsCount",
        rows: books.count,
        row_bytes: 900,
        fill: |rows, out| rows.for_each(|book| books.write_row(book, out)),
    })?;
    let popularity = Popularity::new(books.count, 20.0);
    let reviews = Stream::new(size.seed, "reviews");
    output.write(TableFile {
        name: "Books_rating.csv",
        header: "Id,Title,Price,User_id,profileName,review/helpfulness,review/score,review/time,\
                 review/summary,review/text",
        rows: size.facts(REVIEWS),
        row_bytes: 950,
        fill: |rows, out| write_reviews(&books, &popularity, reviews, rows, out),
    })
}

/// Books, each computed from its number when it is needed.
struct Books {
    count: u64,
    rows: Stream,
    worth: Stream,
    debut: Stream,
}

impl Books {
    fn new(seed: u64, count: u64) -> Self {
        Self {
            count,
            rows: Stream::new(seed, "books"),
            worth: Stream::new(seed, "worth"),
            debut: Stream::new(seed, "debut"),
        }
    }

    fn push_title(&self, out: &mut String, book: u64) {
        if book % DISTRIBUTED_EVERY == 1 {
            out.push_str(
                ["Distributed Systems: ", "Principles of distributed computing in "]
                    [(book / DISTRIBUTED_EVERY % 2) as usize],
            );
        }
        push_title(out, book);
    }

    /// The stars that most of its reviews are near to.
    fn worth_stars(&self, book: u64) -> u64 {
        2 + self.worth.hash(book) % 4
    }

    fn write_row(&self, book: u64, out: &mut Vec<u8>) {
        let rng = &mut self.rows.rng(book);
        let title = built(|out| self.push_title(out, book));
        let mut description = String::new();
        if !per_mille(rng, 320) {
            let length = 100 + rng.usize(..1100);
            push_prose(&mut description, rng, Language::English, Mood::Mixed, length);
        }
        let (authors, year) = self.authors_and_year(book, rng);
        let category = match book % COMPUTERS_EVERY {
            1 => "Computers",
            _ => CATEGORIES[rng.usize(..CATEGORIES.len())],
        };
        let mut categories = String::new();
        if category == "Computers" || !per_mille(rng, 190) {
            literal::push_list(&mut categories, &[category]);
        }
        let key = built(|out| literal::push_hex(out, rng, 12));

        let mut record = Record::new(out);
        record.text(&title).text(&description);
        if book == self.count / 2 {
            return record.end();
        }
        record.text(&authors);
        record.plain(&format!("http://books.example.com/content?id={key}&img=1&zoom=1"));
        record.plain(&format!("http://books.example.com/books?id={key}&hl=&cd=1&source=gbs_api"));
        let publisher = PUBLISHERS[rng.usize(..PUBLISHERS.len())];
        record.text(if per_mille(rng, 350) { "" } else { publisher }).text(&published(year, rng));
        record.plain(&format!("http://books.example.com/books?id={key}&source=gbs_api"));
        record.text(&categories);
        match per_mille(rng, 230) {
            true => record.int_as_float(rng.u64(1..500)),
            false => record.empty(),
        };
        record.end();
    }

    /// An author of all times and a year of all times, or a career of thirty years.
    fn authors_and_year(&self, book: u64, rng: &mut Rng) -> (String, u64) {
        let mut authors = String::new();
        if per_mille(rng, 100) {
            return (authors, rng.u64(1950..2023));
        }
        let modern_authors = (self.count / 3).max(1);
        let (first, year) = match book % CLASSIC_EVERY {
            4 => (rng.u64(..CLASSIC_AUTHORS), rng.u64(1850..2020)),
            _ => {
                let author = CLASSIC_AUTHORS + rng.u64(..modern_authors);
                let debut = 1945 + self.debut.hash(author) % 50;
                (author, debut + rng.u64(..30))
            }
        };
        let mut names = vec![built(|out| push_person(out, first))];
        for _ in 0..rng.u32(..5).saturating_sub(2) {
            let other = CLASSIC_AUTHORS + modern_authors + rng.u64(..modern_authors);
            names.push(built(|out| push_person(out, other)));
        }
        literal::push_list(&mut authors, &names.iter().map(String::as_str).collect::<Vec<_>>());
        (authors, year)
    }
}

/// A year, in one of the ways in which the real file writes dates.
fn published(year: u64, rng: &mut Rng) -> String {
    let (month, day) = (rng.u32(1..=12), rng.u32(1..=28));
    match rng.u32(..1000) {
        0..440 => format!("{year}"),
        440..860 => format!("{year}-{month:02}-{day:02}"),
        860..930 => format!("{year}-{month:02}"),
        930..940 => format!("{year}*"),
        940..943 => format!("{month}/{day}/{:02}", year % 100),
        _ => String::new(),
    }
}

fn write_reviews(
    books: &Books,
    popularity: &Popularity,
    reviews: Stream,
    rows: Range<u64>,
    out: &mut Vec<u8>,
) {
    let mut text = String::new();
    let mut title = String::new();
    for row in rows {
        let rng = &mut reviews.rng(row);
        let book = popularity.draw(rng);
        // The middle of three draws, one of which is what the book is worth; most readers are kind.
        let mut stars = [rng.u64(1..=5), rng.u64(3..=5), books.worth_stars(book)];
        stars.sort_unstable();
        let stars = stars[1];
        title.clear();
        if !per_mille(rng, 3) {
            books.push_title(&mut title, book);
        }
        let mut record = Record::new(out);
        record.int(1_000_000_000 + book).text(&title);
        match per_mille(rng, 160) {
            true => record.amount(rng.u64(300..4000)),
            false => record.empty(),
        };
        push_reviewer(&mut record, &mut text, rng);
        let readers = rng.u64(..12);
        text.clear();
        // Writing to a String cannot fail.
        let _ = write!(text, "{}/{readers}", rng.u64(..=readers));
        record.plain(&text).int_as_float(stars).int(rng.u64(880_000_000..1_360_000_000));

        let mood = match stars {
            1..=2 => Mood::Bad,
            3 => Mood::Mixed,
            _ => Mood::Good,
        };
        text.clear();
        push_prose(&mut text, rng, Language::English, mood, 10);
        record.text(&text);
        text.clear();
        let length = length_like(rng, &REVIEW_LENGTHS);
        push_prose(&mut text, rng, Language::English, mood, length);
        record.text(&text).end();
    }
}

/// An id and a profile name, which may quote a nickname; both empty for the anonymous.
fn push_reviewer(record: &mut Record<'_>, text: &mut String, rng: &mut Rng) {
    if per_mille(rng, 190) {
        record.empty().empty();
        return;
    }
    let user = rng.u64(..1_000_000);
    let mut id = b"A".to_vec();
    push_int(&mut id, 100_000_000_000 + user * 7919);
    record.plain(&String::from_utf8_lossy(&id));
    text.clear();
    push_person(text, user);
    if user.is_multiple_of(5) {
        text.push_str(" \"the reader\"");
    }
    record.text(text);
}
