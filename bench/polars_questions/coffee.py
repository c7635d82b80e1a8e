"""Coffee: transactions of a chain of coffee shops."""

from datetime import datetime, time

import polars as pl


def questions(scan, params):
    transactions = scan(
        "transactions",
        {
            "transaction_id": pl.String,
            "store_id": pl.Int64,
            "user_id": pl.Float64,
            "final_amount": pl.Decimal(10, 2),
            "created_at": pl.Datetime("us"),
        },
    ).filter(in_two_years())
    stores = scan("stores", {"store_id": pl.Int64, "store_name": pl.String})
    by_day = transactions.filter(pl.col("created_at").dt.time().is_between(time(6), time(23)))
    return {
        "q1": by_day.filter(pl.col("final_amount") >= 75).select("transaction_id", "final_amount"),
        "q2_best_selling": best_of_month(scan, "quantity"),
        "q2_most_profitable": best_of_month(scan, "profit"),
        "q3": by_day.group_by(
            "store_id",
            year=pl.col("created_at").dt.year(),
            second=pl.col("created_at").dt.month() > 6,
        )
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


def best_of_month(scan, by):
    items = scan(
        "transaction_items",
        {
            "item_id": pl.Int64,
            "quantity": pl.Int64,
            "subtotal": pl.Decimal(10, 2),
            "created_at": pl.Datetime("us"),
        },
    )
    menu = scan("menu_items", {"item_id": pl.Int64, "item_name": pl.String})
    sold = (
        items.filter(in_two_years())
        .group_by("item_id", month=pl.col("created_at").dt.truncate("1mo"))
        .agg(pl.col("quantity").sum(), profit=pl.col("subtotal").sum())
    )
    return (
        sold.sort("month", by, "item_id", descending=[False, True, False])
        .unique(subset="month", keep="first", maintain_order=True)
        .join(menu, on="item_id")
        .select(pl.col("month").dt.strftime("%Y-%m"), "item_name", by)
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


def in_two_years():
    return pl.col("created_at").is_between(
        datetime(2024, 1, 1), datetime(2026, 1, 1), closed="left"
    )
