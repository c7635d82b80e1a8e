"""Coffee: transactions of a chain of coffee shops."""

from datetime import datetime, time

import polars as pl

MOMENT = pl.col("created_at")


class Texts:
    """In text moments stay text: theirs sorts as they do, and Polars takes several times as long to parse them."""

    in_two_years = MOMENT.is_between(pl.lit("2024"), pl.lit("2026"), closed="left")
    when_open = MOMENT.str.slice(11).is_between(pl.lit("06:00:00"), pl.lit("23:00:00"))
    year = MOMENT.str.head(4)
    in_second_half = MOMENT.str.slice(5, 2) > "06"
    month = MOMENT.str.head(7)
    shown_month = pl.col("month")


class Moments:
    in_two_years = MOMENT.is_between(datetime(2024, 1, 1), datetime(2026, 1, 1), closed="left")
    when_open = MOMENT.dt.time().is_between(time(6), time(23))
    year = MOMENT.dt.year()
    in_second_half = MOMENT.dt.month() > 6
    month = MOMENT.dt.truncate("1mo")
    shown_month = pl.col("month").dt.strftime("%Y-%m")


def questions(scan, params):
    at = Moments if scan.has_moments else Texts
    transactions = scan(
        "transactions",
        {
            "transaction_id": pl.String,
            "store_id": pl.Int64,
            "user_id": pl.Float64,
            "final_amount": pl.Decimal(10, 2),
            "created_at": pl.String,
        },
    ).filter(at.in_two_years)
    stores = scan("stores", {"store_id": pl.Int64, "store_name": pl.String})
    by_day = transactions.filter(at.when_open)
    return {
        "q1": by_day.filter(pl.col("final_amount") >= 75).select("transaction_id", "final_amount"),
        "q2_best_selling": best_of_month(scan, at, "quantity"),
        "q2_most_profitable": best_of_month(scan, at, "profit"),
        "q3": by_day.group_by("store_id", year=at.year, second=at.in_second_half)
        .agg(tpv=pl.col("final_amount").sum())
        .join(stores, on="store_id")
        .select(
            half=pl.format("{}-H{}", "year", pl.col("second").cast(pl.Int8) + 1),
            store_name="store_name",
            tpv="tpv",
        )
        .sort("half", "store_name"),
        "q4": best_customers(scan, transactions, stores),
    }


def best_of_month(scan, at, by):
    items = scan(
        "transaction_items",
        {
            "item_id": pl.Int64,
            "quantity": pl.Int64,
            "subtotal": pl.Decimal(10, 2),
            "created_at": pl.String,
        },
    )
    menu = scan("menu_items", {"item_id": pl.Int64, "item_name": pl.String})
    sold = (
        items.filter(at.in_two_years)
        .group_by("item_id", month=at.month)
        .agg(pl.col("quantity").sum(), profit=pl.col("subtotal").sum())
    )
    return (
        sold.sort("month", by, "item_id", descending=[False, True, False])
        .unique(subset="month", keep="first", maintain_order=True)
        .join(menu, on="item_id")
        .select(at.shown_month, "item_name", by)
    )


def best_customers(scan, transactions, stores):
    users = scan("users", {"user_id": pl.Int64, "birthdate": pl.Date})
    return (
        transactions.filter(pl.col("user_id").is_not_null())
        .group_by("store_id", pl.col("user_id").cast(pl.Int64))
        .agg(purchases=pl.len())
        .sort("store_id", "purchases", "user_id", descending=[False, True, False])
        .group_by("store_id", maintain_order=True)
        .head(3)
        .join(stores, on="store_id")
        .join(users, on="user_id")
        .select("store_name", "user_id", "birthdate", "purchases")
    )
