//! Movies: `movies_metadata.csv`, `ratings.csv` and `credits.csv`.
//!
//! As in the real files: genres, countries and casts are Python literals, with apostrophes and None;
//! overviews hold quotes and line breaks; budget and revenue are text, sometimes `373554033.0`; some
//! ids appear twice, with other values the second time; three rows are broken in two by a raw line
//! break, so that the second half has a date for its id; a few casts are longer than 128 KiB; ratings
//! are also of films that are not in the table.

mod credits;
mod films;

use std::ops::Range;

use crate::blocks::{Output, TableFile};
use crate::random::{Popularity, Stream, per_mille};
use crate::record::Record;
use crate::{Error, Size};

use films::Films;

const FILMS: u64 = 45_466;
const RATINGS: u64 = 26_024_289;

pub(crate) fn write(size: Size, output: &mut Output<'_>) -> Result<(), Error> {
    let films = Films::new(size.seed, size.dimension(FILMS));
    output.write(TableFile {
        name: "movies_metadata.csv",
        header: films::HEADER,
        rows: films.count,
        row_bytes: 900,
        fill: |rows, out| rows.for_each(|film| films.write_row(film, out)),
    })?;
    let credits = Stream::new(size.seed, "credits");
    output.write(TableFile {
        name: "credits.csv",
        header: "cast,crew,id",
        rows: films.count,
        row_bytes: 4200,
        fill: |rows, out| rows.for_each(|film| credits::write_row(&films, credits, film, out)),
    })?;
    let popularity = Popularity::new(films.count, 30.0);
    let ratings = Stream::new(size.seed, "ratings");
    output.write(TableFile {
        name: "ratings.csv",
        header: "userId,movieId,rating,timestamp",
        rows: size.facts(RATINGS),
        row_bytes: 26,
        fill: |rows, out| write_ratings(&films, &popularity, ratings, rows, out),
    })
}

fn write_ratings(
    films: &Films,
    popularity: &Popularity,
    ratings: Stream,
    rows: Range<u64>,
    out: &mut Vec<u8>,
) {
    for row in rows {
        let rng = &mut ratings.rng(row);
        let film = popularity.draw(rng);
        // Odd ids are of films that the table does not have.
        let id = films.id(film) + u64::from(per_mille(rng, 100));
        // Halves from 0.5 to 5, around what the film is worth: the middle of three draws.
        let mut halves = [rng.u64(1..=10), rng.u64(1..=10), films.worth_halves(film)];
        halves.sort_unstable();
        let mut record = Record::new(out);
        record.int(row / 96 + 1).int(id).amount(halves[1] * 50);
        record.int(rng.u64(820_000_000..1_500_000_000)).end();
    }
}
