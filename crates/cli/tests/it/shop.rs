//! A small suite of a user's own, with its data.

use crate::place::{Place, Ran};

const TABLE: &str = r#"
title = "A shop"

[params.least]
default = 1
description = "sold: how many of an item must have been sold for it to be named"

[[table]]
name = "sales"
files = ["sales_*.csv"]
columns = [
    { name = "id", type = "int" },
    { name = "item", header = "Item", type = "text" },
    { name = "price", type = "decimal(8,2)" },
    { name = "at", type = "timestamp" },
]
"#;

const SALES: [(&str, &str); 2] = [
    (
        "data/sales_1.csv",
        "id,Item,price,at\n1,pen,1.10,2024-01-31 09:00:00\n2,ink,2.20,2024-02-01 10:30:00\n",
    ),
    ("data/sales_2.csv", "at,price,Item,id\n2024-03-05 23:59:59,1.10,pen,3\n"),
];

/// The suite with these queries (name and SQL), and its data in `data`.
pub fn with_queries(queries: &[(&str, &str)]) -> Place {
    let mut manifest = TABLE.to_string();
    for (name, _) in queries {
        let title = name.replace('_', " ");
        manifest += &format!(
            "\n[[query]]\nname = '{name}'\ntitle = 'About {title}'\nfile = '{name}.sql'\n"
        );
    }
    let mut place = Place::with("suite/suite.toml", manifest);
    for (name, sql) in queries {
        place = place.and(&format!("suite/{name}.sql"), sql);
    }
    for (name, rows) in SALES {
        place = place.and(name, rows);
    }
    place
}

/// The suite with one query that reads every column.
pub fn with_all_sales() -> Place {
    with_queries(&[("sales", "SELECT * FROM sales ORDER BY id")])
}

pub fn run(place: &Place, options: &[&str]) -> Ran {
    place.caudal(&[&["run", "suite", "--data", "data"], options].concat())
}
