//! Names of people.

use crate::random::{Rng, pick};

const FIRST: &[&str] = &[
    "Alice", "Bruno", "Clara", "Dario", "Elena", "Felix", "Grace", "Hugo", "Irene", "James",
    "Karen", "Louis", "Marta", "Nora", "Oscar", "Paula", "Quentin", "Rosa", "Samuel", "Teresa",
    "Ursula", "Victor", "Wanda", "Xavier", "Yvonne", "Zoe", "Arthur", "Beatrice", "Conrad",
    "Dorothy",
];

const LAST: &[&str] = &[
    "Abbott",
    "Baker",
    "Castle",
    "D'Arcy",
    "Ellison",
    "Fischer",
    "Greene",
    "Hawthorne",
    "Ibsen",
    "Jansen",
    "Keller",
    "Larsen",
    "Mercer",
    "Norwood",
    "O'Kane",
    "Palmer",
    "Quinn",
    "Rossi",
    "Sinclair",
    "Thorne",
    "Underhill",
    "Vance",
    "Whitaker",
    "Yates",
    "Zimmer",
    "O'Hara",
    "Becker",
    "Carver",
    "Dalton",
    "Everett",
    "Fleming",
    "Garrison",
    "Holloway",
    "Irving",
    "Jarvis",
    "Kessler",
    "Lindqvist",
    "Moreau",
    "Nakamura",
    "Okafor",
];

const ARGENTINE_FIRST: &[&str] = &[
    "Agustín",
    "Belén",
    "Camila",
    "Damián",
    "Ernesto",
    "Florencia",
    "Gastón",
    "Hebe",
    "Inés",
    "Julián",
    "Leticia",
    "Mirta",
    "Norberto",
    "Osvaldo",
    "Soledad",
];

const ARGENTINE_LAST: &[&str] = &[
    "Acosta",
    "Benítez",
    "Cabral",
    "Domínguez",
    "Echeverría",
    "Ferreyra",
    "Giménez",
    "Ibáñez",
    "Ledesma",
    "Maldonado",
    "Núñez",
    "Ojeda",
];

/// The name of person `number`; different numbers have different names.
pub(crate) fn push_person(out: &mut String, number: u64) {
    let (firsts, lasts) = (FIRST.len() as u64, LAST.len() as u64);
    let (first, last) = (number % firsts, number / firsts % lasts);
    let namesakes = number / firsts / lasts;
    out.push_str(FIRST[first as usize]);
    if namesakes > 0 {
        // Initials tell namesakes apart: A., B., ... Z., AA., ...
        out.push(' ');
        let mut rest = namesakes;
        while rest > 0 {
            out.push(char::from(b'A' + ((rest - 1) % 26) as u8));
            rest = (rest - 1) / 26;
        }
        out.push('.');
    }
    out.push(' ');
    out.push_str(LAST[last as usize]);
    if number % 97 == 13 {
        out.push_str(", Jr.");
    }
}

/// One of a few Argentine actors, so that they meet again from film to film.
pub(crate) fn push_argentine(out: &mut String, rng: &mut Rng) {
    out.push_str(pick(rng, ARGENTINE_FIRST));
    out.push(' ');
    out.push_str(pick(rng, ARGENTINE_LAST));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_number_has_its_own_name() {
        let names = (0..200_000).map(|number| {
            let mut name = String::new();
            push_person(&mut name, number);
            name
        });
        assert_eq!(names.collect::<HashSet<_>>().len(), 200_000);
    }
}
