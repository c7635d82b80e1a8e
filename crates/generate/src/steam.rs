//! Steam: `games.csv` and `reviews.csv`.
//!
//! As in the real files: the header of games names 39 of its 40 fields; some release dates lack the
//! day, some games have no genre; app ids are in no order; reviews have empty names and texts, quotes,
//! commas and line breaks; few games have most of the reviews, and some games are liked far less than
//! others. Some reviews are of games that are not in the table. Fifteen in a hundred are not English.

use std::fmt::Write;
use std::ops::Range;

use crate::blocks::{Output, TableFile};
use crate::literal::{built, push_hex};
use crate::prose::{Language, Mood, push_prose, push_title};
use crate::random::{Permutation, Popularity, Rng, Stream, length_like, per_mille, pick};
use crate::record::Record;
use crate::{Error, Size};

const GAMES: u64 = 97_410;
const REVIEWS: u64 = 6_417_106;

const GAMES_HEADER: &str = "AppID,Name,Release date,Estimated owners,Peak CCU,Required age,Price,\
    DiscountDLC count,About the game,Supported languages,Full audio languages,Reviews,Header image,\
    Website,Support url,Support email,Windows,Mac,Linux,Metacritic score,Metacritic url,User score,\
    Positive,Negative,Score rank,Achievements,Recommendations,Notes,Average playtime forever,\
    Average playtime two weeks,Median playtime forever,Median playtime two weeks,Developers,\
    Publishers,Categories,Genres,Tags,Screenshots,Movies";

const MONTHS: &[&str] =
    &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A genre and how many games of a thousand have it.
const GENRES: &[(&str, u32)] = &[
    ("Action", 430),
    ("Adventure", 400),
    ("Casual", 380),
    ("Indie", 680),
    ("RPG", 180),
    ("Simulation", 190),
    ("Strategy", 190),
    ("Sports", 50),
];

const REVIEW_LENGTHS: [usize; 6] = [12, 29, 105, 311, 762, 3246];

pub(crate) fn write(size: Size, output: &mut Output<'_>) -> Result<(), Error> {
    let count = size.dimension(GAMES);
    let games = Games {
        rows: Stream::new(size.seed, "games"),
        dislike: Stream::new(size.seed, "dislike"),
        ids: Permutation::of(count),
    };
    output.write(TableFile {
        name: "games.csv",
        header: GAMES_HEADER,
        rows: count,
        row_bytes: 3000,
        fill: |rows, out| rows.for_each(|row| games.write_row(row, out)),
    })?;
    let popularity = Popularity::new(count, 10.0);
    let reviews = Stream::new(size.seed, "reviews");
    output.write(TableFile {
        name: "reviews.csv",
        header: "app_id,app_name,review_text,review_score,review_votes",
        rows: size.facts(REVIEWS),
        row_bytes: 340,
        fill: |rows, out| write_reviews(&games, &popularity, reviews, rows, out),
    })
}

/// The games, each computed from its number when it is needed.
struct Games {
    rows: Stream,
    dislike: Stream,
    ids: Permutation,
}

impl Games {
    fn id(&self, game: u64) -> u64 {
        10 * (self.ids.of_index(game) + 1)
    }

    /// Number of negative reviews in a thousand.
    fn dislike_per_mille(&self, game: u64) -> u32 {
        let roll = (self.dislike.hash(game) % 1000) as u32;
        40 + roll * roll / 2500
    }

    fn write_row(&self, game: u64, out: &mut Vec<u8>) {
        let rng = &mut self.rows.rng(game);
        let id = self.id(game);
        let name = built(|out| push_title(out, game));
        let released = built(|out| push_release_date(out, rng));
        let about = built(|out| {
            let length = 200 + rng.usize(..2000);
            push_prose(out, rng, Language::English, Mood::Mixed, length);
        });
        let url = format!("https://cdn.example.com/steam/apps/{id}");
        let genres = built(|out| push_genres(out, rng));
        let screenshots = built(|out| push_screenshots(out, rng, &url));
        let developer = built(|out| push_title(out, rng.u64(..3000)));

        let mut record = Record::new(out);
        record.int(id).text(&name).text(&released).plain("0 - 20000");
        record.int(rng.u64(..50)).int(if per_mille(rng, 30) { 18 } else { 0 });
        record.amount(rng.u64(..40) * 100 + 99).int(0).int(rng.u64(..4));
        record.text(&about).text("['English', 'Spanish - Spain']").plain("[]").empty();
        record.text(&format!("{url}/header.jpg?t={}", 1_600_000_000 + id));
        record.empty().empty().text(&format!("support{id}@example.com"));
        record.bool(per_mille(rng, 999)).bool(per_mille(rng, 240)).bool(per_mille(rng, 170));
        record.int(0).empty().int(0).int(rng.u64(..500)).int(rng.u64(..100)).empty();
        record.int(rng.u64(..40)).int(rng.u64(..200)).empty();
        let playtime = average_playtime(rng);
        record.int(playtime).int(playtime / 50).int(playtime / 2).int(playtime / 60);
        record.text(&developer).text(&developer).text("Single-player,Steam Achievements");
        record.text(&genres).text(&genres).text(&screenshots).text(&format!("{url}/movie.mp4"));
        record.end();
    }
}

fn write_reviews(
    games: &Games,
    popularity: &Popularity,
    reviews: Stream,
    rows: Range<u64>,
    out: &mut Vec<u8>,
) {
    let (mut name, mut text) = (String::new(), String::new());
    for row in rows {
        let rng = &mut reviews.rng(row);
        let game = popularity.draw(rng);
        let negative = per_mille(rng, games.dislike_per_mille(game));
        name.clear();
        text.clear();
        if !per_mille(rng, 35) {
            push_title(&mut name, game);
        }
        if !per_mille(rng, 2) {
            let english = per_mille(rng, 850);
            let language = if english { Language::English } else { Language::foreign(rng) };
            let mood = if negative { Mood::Bad } else { Mood::Good };
            let length = length_like(rng, &REVIEW_LENGTHS);
            push_prose(&mut text, rng, language, mood, length);
        }
        // Ids of the table end in 0: one that ends in 5 is of a game that was withdrawn.
        let id = games.id(game) + if per_mille(rng, 20) { 5 } else { 0 };
        let mut record = Record::new(out);
        record.int(id).text(&name).text(&text);
        record.plain(if negative { "-1" } else { "1" });
        record.int(u64::from(per_mille(rng, 150))).end();
    }
}

fn push_release_date(out: &mut String, rng: &mut Rng) {
    let month = pick(rng, MONTHS);
    // The more recent, the more games: the larger of two draws.
    let year = 2006 + rng.u32(..18).max(rng.u32(..18));
    let day = rng.u32(1..=28);
    // Writing to a String cannot fail.
    let _ = match per_mille(rng, 10) {
        true => write!(out, "{month} {year}"),
        false => write!(out, "{month} {day}, {year}"),
    };
}

fn push_genres(out: &mut String, rng: &mut Rng) {
    if per_mille(rng, 40) {
        return;
    }
    for (genre, chances) in GENRES {
        if per_mille(rng, *chances) {
            if !out.is_empty() {
                out.push(',');
            }
            out.push_str(genre);
        }
    }
}

fn push_screenshots(out: &mut String, rng: &mut Rng, url: &str) {
    for shot in 0..rng.u32(4..13) {
        if shot > 0 {
            out.push(',');
        }
        out.push_str(url);
        out.push_str("/ss_");
        push_hex(out, rng, 40);
        out.push_str(".1920x1080.jpg?t=1650000000");
    }
}

/// In minutes: most games have none on record, a few have a great deal.
fn average_playtime(rng: &mut Rng) -> u64 {
    match rng.u32(..100) {
        0..76 => 0,
        76..98 => rng.u64(1..1000),
        _ => rng.u64(1000..70_000),
    }
}
