"""Movies: films, their ratings and their casts."""

from datetime import date

import polars as pl

MOVIES = {
    "id": pl.Int64,
    "title": pl.String,
    "genres": pl.String,
    "production_countries": pl.String,
    "release_date": pl.Date,
    "budget": pl.String,
}

KEY = "'name': '"


def questions(scan, params):
    # Rows that a raw newline broke in two are padded with nulls, and their second half has no valid id.
    movies = first_of_each_id(
        scan("movies", MOVIES, ignore_errors=True, truncate_ragged_lines=True).filter(
            pl.col("id").is_not_null()
        )
    )
    argentine = movies.filter(made_in("Argentina"), pl.col("release_date") >= date(2000, 1, 1))
    return {
        "q1": movies.filter(
            pl.col("release_date").is_between(date(2000, 1, 1), date(2009, 12, 31)),
            made_in("Argentina"),
            made_in("Spain"),
        ).select("id", "title", names("genres").list.join("|")),
        "q2": lone_spenders(movies),
        "q3": best_and_worst(scan, argentine),
        "q4": busiest_actors(scan, argentine),
    }


def lone_spenders(movies):
    return (
        movies.select(countries=names("production_countries"), budget=pl.col("budget"))
        .filter(pl.col("countries").list.len() == 1)
        .group_by(country=pl.col("countries").list.first())
        .agg(pl.col("budget").cast(pl.Decimal(18, 2), strict=False).sum().cast(pl.Int64))
        .sort("budget", "country", descending=[True, False], nulls_last=True)
        .head(5)
    )


def best_and_worst(scan, argentine):
    ratings = scan("ratings", {"movieId": pl.Int64, "rating": pl.Float64})
    ratings = ratings.join(argentine, left_on="movieId", right_on="id", how="semi")
    averages = ratings.group_by(id="movieId").agg(pl.col("rating").mean())
    rated = argentine.select("id", "title").join(averages, on="id")
    # Both in one expression: of two frames to concatenate each would read the ratings.
    film = pl.struct("id", "title", "rating")
    best = film.sort_by("rating", "id", descending=[True, False], nulls_last=True).first()
    worst = film.sort_by("rating", "id").first()
    picked = rated.select(best=best, worst=worst)
    return picked.unpivot(variable_name="which", value_name="film").unnest("film")


def busiest_actors(scan, argentine):
    credits = scan("credits", {"cast": pl.String, "id": pl.Int64})
    # The semi join first: it leaves few casts to pick the first of, and to take apart.
    casts = first_of_each_id(credits.join(argentine, on="id", how="semi"))
    return (
        casts.select(actor=names("cast").list.unique())
        .explode("actor")
        .filter(pl.col("actor").is_not_null())
        .group_by("actor")
        .agg(movies=pl.len())
        .sort("movies", "actor", descending=[True, False])
        .head(10)
    )


def first_of_each_id(frame):
    return frame.unique(subset="id", keep="first", maintain_order=True)


def made_in(country):
    return pl.col("production_countries").str.contains(f"{KEY}{country}'", literal=True)


def names(column):
    """The names in a Python literal: 'name': 'X' or 'name': "X"."""
    named = pl.col(column).str.extract_all(r"""'name': (?:'[^']*'|"[^"]*")""")
    return named.list.eval(pl.element().str.slice(len(KEY)).str.head(-1))
