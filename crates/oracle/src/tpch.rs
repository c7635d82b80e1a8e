//! TPC-H: its tables at any scale, and its 22 queries.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use caudal_csv::{Table, Type};

macro_rules! queries {
    ($($number:literal)*) => {
        [$(include_str!(concat!("../tpch/q", $number, ".sql"))),*]
    };
}

/// In the order of their numbers.
pub const QUERIES: [&str; 22] = queries!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);

/// The eight tables as CSV, money as decimals.
pub fn generate(folder: &Path, scale: f64) -> Vec<Table> {
    use tpchgen::csv::*;
    use tpchgen::generators::*;
    macro_rules! table {
        ($name:literal, $generator:ident, $csv:ident) => {{
            let path = folder.join(concat!($name, ".csv"));
            let mut out = BufWriter::new(File::create(&path).expect("a file"));
            writeln!(out, "{}", $csv::header()).expect("written");
            for row in $generator::new(scale, 1, 1).iter() {
                writeln!(out, "{}", $csv::new(row)).expect("written");
            }
            out.flush().expect("written");
            let mut columns = caudal_csv::infer(
                std::slice::from_ref(&path),
                &caudal_csv::Dialect::default(),
                None,
            )
            .expect("plain CSV")
            .columns;
            for column in columns.iter_mut().filter(|column| column.ty == Type::Float64) {
                column.ty = Type::Decimal { precision: 15, scale: 2 };
            }
            Table {
                name: $name.to_string(),
                files: vec![path],
                columns,
                fields: None,
                dialect: caudal_csv::Dialect::default(),
            }
        }};
    }
    vec![
        table!("nation", NationGenerator, NationCsv),
        table!("region", RegionGenerator, RegionCsv),
        table!("part", PartGenerator, PartCsv),
        table!("supplier", SupplierGenerator, SupplierCsv),
        table!("partsupp", PartSuppGenerator, PartSuppCsv),
        table!("customer", CustomerGenerator, CustomerCsv),
        table!("orders", OrderGenerator, OrderCsv),
        table!("lineitem", LineItemGenerator, LineItemCsv),
    ]
}
