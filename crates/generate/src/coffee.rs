//! Coffee: one file a month of transactions, their items and new users; stores and the menu.
//!
//! As in the real files: user ids are written as floats (`17272.0`) and are often empty; amounts have
//! one or two decimals; rows are in no order; the months begin before 2024, so that a filter on the
//! years has something to leave out; a few sales are made before opening, at 23:00:00 sharp and later.
//! A transaction's amount is the sum of its items, less a voucher's discount.

use std::fmt::Write;

use crate::blocks::{Output, TableFile};
use crate::literal;
use crate::random::{Rng, Stream, per_mille};
use crate::record::Record;
use crate::{Error, Size};

const TRANSACTIONS: u64 = 15_000_000;
const USERS: u64 = 2_200_000;
const MONTHS: u64 = 24;

const STORES: [&str; 10] = [
    "Riverside",
    "Old Mill",
    "Harbor Street",
    "University",
    "Central Station",
    "Lakeview",
    "Market Hall",
    "North Gate",
    "Botanical Garden",
    "Airport",
];

/// Name, category and price in hundredths.
const MENU: [(&str, &str, u64); 8] = [
    ("Espresso", "coffee", 600),
    ("Americano", "coffee", 700),
    ("Cortado", "coffee", 750),
    ("Cappuccino", "coffee", 800),
    ("Flat White", "coffee", 900),
    ("Mocha", "coffee", 950),
    ("Hot Chocolate", "non-coffee", 900),
    ("Matcha Latte", "non-coffee", 1000),
];

pub(crate) fn write(size: Size, output: &mut Output<'_>) -> Result<(), Error> {
    write_stores(output)?;
    write_menu(output)?;
    let chain = Chain {
        users: size.facts(USERS).max(2 * MONTHS * MONTHS),
        registrations: Stream::new(size.seed, "users"),
        sales: Stream::new(size.seed, "sales"),
        regulars: Stream::new(size.seed, "regulars"),
    };
    let per_month = size.facts(TRANSACTIONS).div_ceil(MONTHS);
    for month in (0..MONTHS).map(Month) {
        let stamp = month.stamp();
        let (first, last) = (chain.users_before(month.0), chain.users_before(month.0 + 1));
        output.write(TableFile {
            name: &format!("users/users_{stamp}.csv"),
            header: "user_id,gender,birthdate,registered_at",
            rows: last - first,
            row_bytes: 44,
            fill: |rows, out| rows.for_each(|row| chain.write_user(month, first + row + 1, out)),
        })?;
        output.write(TableFile {
            name: &format!("transactions/transactions_{stamp}.csv"),
            header: "transaction_id,store_id,payment_method_id,voucher_id,user_id,original_amount,\
                     discount_applied,final_amount,created_at",
            rows: per_month,
            row_bytes: 85,
            fill: |rows, out| rows.for_each(|row| chain.sale(month, row).write_transaction(out)),
        })?;
        output.write(TableFile {
            name: &format!("transaction_items/transaction_items_{stamp}.csv"),
            header: "transaction_id,item_id,quantity,unit_price,subtotal,created_at",
            rows: per_month,
            row_bytes: 150,
            fill: |rows, out| rows.for_each(|row| chain.sale(month, row).write_items(out)),
        })?;
    }
    Ok(())
}

fn write_stores(output: &mut Output<'_>) -> Result<(), Error> {
    output.write(TableFile {
        name: "stores/stores.csv",
        header: "store_id,store_name,street,postal_code,city,state,latitude,longitude",
        rows: STORES.len() as u64,
        row_bytes: 100,
        fill: |rows, out| {
            for (id, name) in rows.map(|row| (row + 1, STORES[row as usize])) {
                let mut record = Record::new(out);
                record.int(id).text(&format!("Caudal Coffee @ {name}"));
                record.text(&format!("{id} {name} Road, Ground Floor")).int(1400 + id);
                record.text(name).plain("Buenos Aires").plain("34.603").plain("58.381").end();
            }
        },
    })
}

fn write_menu(output: &mut Output<'_>) -> Result<(), Error> {
    output.write(TableFile {
        name: "menu_items/menu_items.csv",
        header: "item_id,item_name,category,price,is_seasonal,available_from,available_to",
        rows: MENU.len() as u64,
        row_bytes: 50,
        fill: |rows, out| {
            for row in rows {
                let (name, category, price) = MENU[row as usize];
                let mut record = Record::new(out);
                record.int(row + 1).plain(name).plain(category).amount(price);
                record.bool(false).empty().empty().end();
            }
        },
    })
}

/// A month by its number, from July 2023 on.
#[derive(Debug, Clone, Copy)]
struct Month(u64);

impl Month {
    fn year(self) -> u64 {
        2023 + (self.0 + 6) / 12
    }

    fn month(self) -> u64 {
        (self.0 + 6) % 12 + 1
    }

    fn stamp(self) -> String {
        format!("{}{:02}", self.year(), self.month())
    }

    fn days(self) -> u64 {
        match self.month() {
            2 if self.year().is_multiple_of(4) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// `2024-01-31 22:59:59`
    fn push_moment(self, out: &mut String, day: u64, second_of_day: u64) {
        let (hour, minute) = (second_of_day / 3600, second_of_day / 60 % 60);
        push_number(out, self.year(), 4);
        for (separator, part) in
            [('-', self.month()), ('-', day), (' ', hour), (':', minute), (':', second_of_day % 60)]
        {
            out.push(separator);
            push_number(out, part, 2);
        }
    }
}

fn push_number(out: &mut String, value: u64, digits: u32) {
    for place in (0..digits).rev() {
        out.push(char::from(b'0' + (value / 10_u64.pow(place) % 10) as u8));
    }
}

/// The whole chain of shops: sales and users, each computed from its number when it is needed.
struct Chain {
    users: u64,
    registrations: Stream,
    sales: Stream,
    regulars: Stream,
}

impl Chain {
    /// Number of users that registered before a month: more every month.
    fn users_before(&self, month: u64) -> u64 {
        self.users * month * (month + 1) / (MONTHS * (MONTHS + 1))
    }

    fn write_user(&self, month: Month, id: u64, out: &mut Vec<u8>) {
        let rng = &mut self.registrations.rng(id);
        let mut registered = String::with_capacity(20);
        month.push_moment(&mut registered, rng.u64(1..=month.days()), rng.u64(7 * 3600..23 * 3600));
        let mut birthdate = String::with_capacity(10);
        let (year, month, day) = (rng.u64(1950..2010), rng.u64(1..=12), rng.u64(1..=28));
        // Writing to a String cannot fail.
        let _ = write!(birthdate, "{year}-{month:02}-{day:02}");
        let mut record = Record::new(out);
        record.int(id).plain(if rng.bool() { "female" } else { "male" });
        record.plain(&birthdate).plain(&registered).end();
    }

    fn sale(&self, month: Month, number: u64) -> Sale {
        let rng = &mut self.sales.rng(month.0 << 40 | number);
        let mut id = String::with_capacity(36);
        for (group, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
            if group > 0 {
                id.push('-');
            }
            literal::push_hex(&mut id, rng, digits);
        }
        let store = rng.u64(1..=STORES.len() as u64);
        let mut moment = String::with_capacity(19);
        month.push_moment(&mut moment, rng.u64(1..=month.days()), second_of_day(rng));
        let items = (0..rng.usize(1..=3)).map(|_| Item::draw(rng, month)).collect::<Vec<_>>();
        let original: u64 = items.iter().map(Item::subtotal).sum();
        let voucher = per_mille(rng, 60).then(|| rng.u64(1..=400));
        let discount = if voucher.is_some() { original * rng.u64(1..=4) * 5 / 100 } else { 0 };
        let user = per_mille(rng, 300).then(|| self.customer(rng, month, store));
        let payment = rng.u64(1..=5);
        Sale { id, store, payment, voucher, user, original, discount, moment, items }
    }

    /// A user who had registered by then; every store has a few regulars.
    fn customer(&self, rng: &mut Rng, month: Month, store: u64) -> u64 {
        let registered = self.users_before(month.0 + 1);
        let regular = rng.u64(..60) * rng.u64(..60) / 60;
        let regular = 1 + self.regulars.hash(store << 32 | regular) % self.users_before(6);
        match per_mille(rng, 150) && regular <= registered {
            true => regular,
            false => rng.u64(1..=registered),
        }
    }
}

struct Sale {
    id: String,
    store: u64,
    payment: u64,
    voucher: Option<u64>,
    user: Option<u64>,
    original: u64,
    discount: u64,
    moment: String,
    items: Vec<Item>,
}

struct Item {
    item: u64,
    quantity: u64,
}

impl Item {
    /// A random item: the best sellers change with the month.
    fn draw(rng: &mut Rng, month: Month) -> Self {
        let fashionable = per_mille(rng, 100);
        let any = rng.u64(..MENU.len() as u64);
        let item = if fashionable { month.0 * 5 % MENU.len() as u64 } else { any };
        Self { item, quantity: rng.u64(1..=3) }
    }

    fn price(&self) -> u64 {
        MENU[self.item as usize].2
    }

    fn subtotal(&self) -> u64 {
        self.price() * self.quantity
    }
}

impl Sale {
    fn write_transaction(&self, out: &mut Vec<u8>) {
        let mut record = Record::new(out);
        record.plain(&self.id).int(self.store).int(self.payment);
        for id in [self.voucher, self.user] {
            match id {
                Some(id) => record.int_as_float(id),
                None => record.empty(),
            };
        }
        record.amount(self.original).amount(self.discount).amount(self.original - self.discount);
        record.plain(&self.moment).end();
    }

    fn write_items(&self, out: &mut Vec<u8>) {
        for item in &self.items {
            let mut record = Record::new(out);
            record.plain(&self.id).int(item.item + 1).int(item.quantity);
            record.amount(item.price()).amount(item.subtotal()).plain(&self.moment).end();
        }
    }
}

/// Between seven and eleven but for a few: the edges of 06:00:00 and 23:00:00, and the small hours.
fn second_of_day(rng: &mut Rng) -> u64 {
    match rng.u32(..200) {
        0 => [6 * 3600 - 1, 6 * 3600, 23 * 3600, 23 * 3600 + 1][rng.usize(..4)],
        1..3 => rng.u64(..6 * 3600),
        _ => rng.u64(7 * 3600..23 * 3600),
    }
}
