//! Films, each computed from its number when it is needed.

use crate::literal::{self, built};
use crate::prose::{Language, Mood, push_prose, push_title};
use crate::random::{Permutation, Rng, Stream, per_mille};
use crate::record::Record;

pub(super) const HEADER: &str = "adult,belongs_to_collection,budget,genres,homepage,id,imdb_id,\
    original_language,original_title,overview,popularity,poster_path,production_companies,\
    production_countries,release_date,revenue,runtime,spoken_languages,status,tagline,title,video,\
    vote_average,vote_count";

const GENRES: &[(u32, &str)] = &[
    (18, "Drama"),
    (35, "Comedy"),
    (53, "Thriller"),
    (10749, "Romance"),
    (28, "Action"),
    (80, "Crime"),
    (99, "Documentary"),
    (12, "Adventure"),
    (14, "Fantasy"),
    (9648, "Mystery"),
];

/// Code, name, language, and how many films of a thousand it takes part in.
const COUNTRIES: &[(&str, &str, &str, u32)] = &[
    ("US", "United States of America", "en", 480),
    ("GB", "United Kingdom", "en", 90),
    ("FR", "France", "fr", 90),
    ("DE", "Germany", "de", 50),
    ("IT", "Italy", "it", 50),
    ("JP", "Japan", "ja", 40),
    ("ES", "Spain", "es", 25),
    ("CI", "Cote D'Ivoire", "fr", 5),
];

const ARGENTINA: (&str, &str) = ("AR", "Argentina");
const SPAIN: (&str, &str) = ("ES", "Spain");

/// Every so many films is Argentine, and every so many a co-production of Argentina and Spain.
const ARGENTINE_EVERY: u64 = 19;
const COPRODUCED_EVERY: u64 = 57;

/// Every so many rows repeats the id of an earlier one.
const REPEATED_EVERY: u64 = 307;

pub(super) struct Films {
    pub count: u64,
    rows: Stream,
    worth: Stream,
    ids: Permutation,
}

impl Films {
    pub(super) fn new(seed: u64, count: u64) -> Self {
        Self {
            count,
            rows: Stream::new(seed, "films"),
            worth: Stream::new(seed, "worth"),
            ids: Permutation::of(count),
        }
    }

    /// Always even.
    pub(super) fn id(&self, film: u64) -> u64 {
        let original = match self.repeats_another(film) {
            true => film - REPEATED_EVERY / 2,
            false => film,
        };
        2 * (self.ids.of_index(original) + 1)
    }

    fn repeats_another(&self, film: u64) -> bool {
        film % REPEATED_EVERY == REPEATED_EVERY - 1
    }

    pub(super) fn is_argentine(&self, film: u64) -> bool {
        film % ARGENTINE_EVERY == 3 || self.is_coproduced(film)
    }

    fn is_coproduced(&self, film: u64) -> bool {
        film % COPRODUCED_EVERY == 5
    }

    /// Value that most of its ratings are near to, in halves.
    pub(super) fn worth_halves(&self, film: u64) -> u64 {
        2 + self.worth.hash(film) % 9
    }

    /// Three of all rows have a line break after their overview, outside of quotes.
    fn is_broken(&self, film: u64) -> bool {
        [1, 2, 3].iter().any(|quarter| film == self.count * quarter / 4)
    }

    /// Appends the countries and returns the language of the first.
    fn push_countries(&self, out: &mut String, film: u64, rng: &mut Rng) -> &'static str {
        let mut language = "es";
        let mut countries = Vec::new();
        if self.is_argentine(film) {
            countries.push(ARGENTINA);
            if self.is_coproduced(film) {
                countries.push(SPAIN);
            }
        } else {
            for (code, name, spoken, chances) in COUNTRIES {
                if per_mille(rng, *chances) {
                    countries.push((*code, *name));
                    language = if countries.len() == 1 { spoken } else { language };
                }
            }
        }
        let quoted = countries.iter().map(|(code, name)| (format!("'{code}'"), *name));
        literal::push_named(out, "iso_3166_1", quoted);
        language
    }

    pub(super) fn write_row(&self, film: u64, out: &mut Vec<u8>) {
        let rng = &mut self.rows.rng(film);
        let id = self.id(film);
        let mut countries = String::new();
        let language = self.push_countries(&mut countries, film, rng);
        let title = built(|out| push_title(out, film));
        let overview = built(|out| {
            let mood = [Mood::Good, Mood::Bad, Mood::Mixed][rng.usize(..3)];
            let length = 80 + rng.usize(..450);
            push_prose(out, rng, Language::English, mood, length);
        });
        let poster = poster_path(rng);
        let (budget, revenue) = money(rng);

        let mut record = Record::new(out);
        record.bool(false).text(&collection(film, rng)).text(&budget).text(&genres(rng));
        record.empty().int(id).plain(&format!("tt{id:07}")).plain(language).text(&title);
        record.text(&overview);
        if self.is_broken(film) {
            record.end();
            record = Record::new(out);
            record.text(" - Written by Ørnås");
        }
        record.plain(&format!("{}.{:06}", rng.u32(..40), rng.u32(..1_000_000))).plain(&poster);
        record.text("[{'name': 'Little Brother\\'s Pictures', 'id': 3}]").text(&countries);
        record.plain(&self.release_date(film, rng)).text(&revenue).amount(rng.u64(60..200) * 100);
        record.text("[{'iso_639_1': 'en', 'name': 'English'}]").plain("Released").empty();
        record.text(&title).bool(false).amount(rng.u64(..100) * 10).int(rng.u64(..5000)).end();
    }

    fn release_date(&self, film: u64, rng: &mut Rng) -> String {
        let year = match self.is_coproduced(film) {
            true => rng.u32(1998..2012),
            false => 1930 + rng.u32(..88).max(rng.u32(..88)),
        };
        if per_mille(rng, 10) {
            return String::new();
        }
        format!("{year}-{:02}-{:02}", rng.u32(1..=12), rng.u32(1..=28))
    }
}

fn genres(rng: &mut Rng) -> String {
    let first = rng.usize(..GENRES.len());
    let count = rng.usize(..4);
    let chosen = (0..count).map(|step| GENRES[(first + 3 * step) % GENRES.len()]);
    built(|out| literal::push_named(out, "id", chosen))
}

fn collection(film: u64, rng: &mut Rng) -> String {
    if !per_mille(rng, 100) {
        return String::new();
    }
    let poster =
        if per_mille(rng, 500) { "None".to_string() } else { format!("'{}'", poster_path(rng)) };
    format!(
        "{{'id': {film}, 'name': \"The Neighbour's Collection\", 'poster_path': {poster}, \
         'backdrop_path': None}}"
    )
}

fn poster_path(rng: &mut Rng) -> String {
    let mut path = "/".to_string();
    literal::push_hex(&mut path, rng, 27);
    path + ".jpg"
}

/// Budget and revenue: often zero, sometimes with a fraction that means nothing.
fn money(rng: &mut Rng) -> (String, String) {
    let spent = rng.u64(1..40_000) * rng.u64(1..5_000);
    let earned = spent * rng.u64(5..600) / 100;
    let mut unless_unknown =
        |amount: u64, unknown_per_mille| match per_mille(rng, unknown_per_mille) {
            true => "0".to_string(),
            false => amount.to_string(),
        };
    let (budget, mut revenue) = (unless_unknown(spent, 450), unless_unknown(earned, 400));
    if per_mille(rng, 150) {
        revenue.push_str(".0");
    }
    (budget, revenue)
}
