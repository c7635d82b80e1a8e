//! The suites that ship with the product, embedded: the binary needs no files beside it.

/// A suite's files as they stand in `suites/`, in the binary.
pub(crate) struct Embedded {
    pub name: &'static str,
    pub manifest: &'static str,
    pub queries: &'static [(&'static str, &'static str)],
}

macro_rules! embed {
    ($name:literal: $($query:literal)*) => {
        Embedded {
            name: $name,
            manifest: include_str!(concat!("../../../suites/", $name, "/suite.toml")),
            queries: &[
                $(($query, include_str!(concat!("../../../suites/", $name, "/", $query)))),*
            ],
        }
    };
}

const SUITES: [Embedded; 4] = [
    embed!("steam": "q1.sql" "q2.sql" "q3.sql" "q4.sql" "q5.sql"),
    embed!("movies": "q1.sql" "q2.sql" "q3.sql" "q4.sql" "q5.sql"),
    embed!("books": "q1.sql" "q2.sql" "q3.sql" "q4.sql" "q5.sql"),
    embed!("coffee": "q1.sql" "q2_best_selling.sql" "q2_most_profitable.sql" "q3.sql" "q4.sql"),
];

/// The names of the suites that ship with the product.
pub const NAMES: [&str; SUITES.len()] = {
    let mut names = [""; SUITES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = SUITES[i].name;
        i += 1;
    }
    names
};

pub(crate) fn find(name: &str) -> Option<&'static Embedded> {
    SUITES.iter().find(|suite| suite.name == name)
}
