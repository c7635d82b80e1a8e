//! Casts and crews: the longest fields of all.

use std::fmt::Write;

use super::films::Films;
use crate::literal;
use crate::people::{push_argentine, push_person};
use crate::random::{Rng, Stream, per_mille, pick};
use crate::record::Record;

/// Every so many films has a crew of more than 128 KiB.
const CROWDED_EVERY: u64 = 211;
const CROWD: u32 = 900;

const ACTORS: u64 = 40_000;

const JOBS: &[(&str, &str)] = &[
    ("Directing", "Director"),
    ("Writing", "Screenplay"),
    ("Camera", "Director of Photography"),
    ("Sound", "Original Music Composer"),
    ("Editing", "Editor"),
    ("Art", "Set Decoration"),
];

const CHARACTERS: &[&str] = &[
    "The Captain",
    "Nurse",
    "Himself",
    "Farmer's Wife",
    "Young Man",
    "Inspector",
    "Old Neighbor",
    "Clerk",
    "Señora",
    "Dancer",
    "Guard",
    "Boy on the Train (uncredited)",
];

pub(super) fn write_row(films: &Films, credits: Stream, film: u64, out: &mut Vec<u8>) {
    let rng = &mut credits.rng(film);
    let (mut cast, mut crew) = ("[".to_string(), "[".to_string());
    for order in 0..rng.u32(..25) {
        push_actor(&mut cast, rng, order, films.is_argentine(film));
    }
    let crowded = film % CROWDED_EVERY == 7;
    for order in 0..if crowded { CROWD } else { rng.u32(..18) } {
        push_crew_member(&mut crew, rng, order);
    }
    cast.push(']');
    crew.push(']');
    Record::new(out).text(&cast).text(&crew).int(films.id(film)).end();
}

fn push_actor(out: &mut String, rng: &mut Rng, order: u32, argentine: bool) {
    push_comma(out, order);
    // Writing to a String cannot fail.
    let _ = write!(out, "{{'cast_id': {}, 'character': ", order + 1);
    literal::push_str(out, pick(rng, CHARACTERS));
    push_credit(out, rng);
    let mut name = String::new();
    match argentine {
        true => push_argentine(&mut name, rng),
        false => push_person(&mut name, rng.u64(..ACTORS).min(rng.u64(..ACTORS))),
    }
    let _ =
        write!(out, ", 'gender': {}, 'id': {}, 'name': ", rng.u32(..3), rng.u32(..ACTORS as u32));
    literal::push_str(out, &name);
    let _ = write!(out, ", 'order': {order}, 'profile_path': ");
    push_profile(out, rng);
}

fn push_crew_member(out: &mut String, rng: &mut Rng, order: u32) {
    push_comma(out, order);
    let (department, job) = JOBS[rng.usize(..JOBS.len())];
    out.push_str("{'department': ");
    literal::push_str(out, department);
    push_credit(out, rng);
    let _ = write!(out, ", 'gender': {}, 'job': '{job}', 'name': ", rng.u32(..3));
    let mut name = String::new();
    push_person(&mut name, rng.u64(..ACTORS));
    literal::push_str(out, &name);
    out.push_str(", 'profile_path': ");
    push_profile(out, rng);
}

fn push_comma(out: &mut String, order: u32) {
    if order > 0 {
        out.push_str(", ");
    }
}

fn push_credit(out: &mut String, rng: &mut Rng) {
    out.push_str(", 'credit_id': '");
    literal::push_hex(out, rng, 24);
    out.push('\'');
}

fn push_profile(out: &mut String, rng: &mut Rng) {
    if per_mille(rng, 500) {
        return out.push_str("None}");
    }
    out.push_str("'/");
    literal::push_hex(out, rng, 27);
    out.push_str(".jpg'}");
}
