"""Books: titles, authors and their reviews."""

import polars as pl

BOOKS = ["Title", "authors", "publisher", "publishedDate", "categories"]


def questions(scan, params):
    # The row that was cut short is padded with nulls: it has no authors, date or category.
    books = scan("books", dict.fromkeys(BOOKS, pl.String), truncate_ragged_lines=True)
    books = books.rename({"Title": "title"}).with_columns(
        year=pl.col("publishedDate").str.head(4).cast(pl.Int32, strict=False)
    )
    reviews = scan("reviews", {"Title": pl.String, "review/score": pl.Float64})
    reviewed = (
        reviews.group_by(title="Title")
        .agg(reviews=pl.len(), rating=pl.col("review/score").mean())
        .filter(pl.col("reviews") >= params["min_reviews"])
    )
    nineties = (
        books.filter(pl.col("year").is_between(1990, 1999))
        .select("title", "authors")
        .join(reviewed, on="title")
    )
    return {
        "q1": books.filter(
            pl.col("title").str.contains("(?i)distributed"),
            pl.col("year").is_between(2000, 2023),
            items("categories").list.contains("Computers"),
        ).select("title", items("authors").list.join("|"), "publisher"),
        "q2": books.select(author=items("authors"), decade=pl.col("year") // 10)
        .explode("author")
        .filter(pl.col("author").is_not_null())
        .group_by("author")
        .agg(pl.col("decade").drop_nulls().n_unique())
        .filter(pl.col("decade") >= params["min_decades"])
        .select("author"),
        "q3": nineties.select("title", items("authors").list.join("|"), "reviews"),
        "q4": nineties.select("title", "rating")
        .sort("rating", "title", descending=[True, False])
        .head(10),
    }


def items(column):
    """The items of a Python list: 'X' or "X"."""
    quoted = pl.col(column).str.extract_all(r"""'(?:[^'\\]|\\.)*'|"[^"]*\"""")
    return quoted.list.eval(pl.element().str.slice(1).str.head(-1))
