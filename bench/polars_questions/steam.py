"""Steam: games and their reviews."""

import polars as pl

# The header of games lies (39 names over 40 fields), so the columns are named here.
GAMES = [
    "app_id", "name", "release_date", "owners", "peak_ccu", "required_age", "price", "discount",
    "dlc_count", "about", "languages", "audio_languages", "reviews", "header_image", "website",
    "support_url", "support_email", "windows", "mac", "linux", "metacritic_score", "metacritic_url",
    "user_score", "positive", "negative", "score_rank", "achievements", "recommendations", "notes",
    "average_playtime", "average_playtime_two_weeks", "median_playtime",
    "median_playtime_two_weeks", "developers", "publishers", "categories", "genres", "tags",
    "screenshots", "movies",
]  # fmt: skip
GAMES_TYPES = {
    "app_id": pl.Int64,
    "windows": pl.Boolean,
    "mac": pl.Boolean,
    "linux": pl.Boolean,
    "average_playtime": pl.Int64,
}


def questions(scan, params):
    games = scan(
        "games",
        {column: GAMES_TYPES.get(column, pl.String) for column in GAMES},
        has_header=False,
        skip_rows=1,
    )
    reviews = scan("reviews", {"app_id": pl.Int64, "review_score": pl.Int8})
    return {
        "q1": games.select(
            pl.col("windows").sum(), pl.col("linux").sum(), pl.col("mac").sum(), total=pl.len()
        ),
        "q2": games.filter(
            has_genre("Indie"),
            pl.col("release_date").str.tail(4).is_between(pl.lit("2010"), pl.lit("2019")),
        )
        .sort("average_playtime", "app_id", descending=[True, False], nulls_last=True)
        .head(10)
        .select("app_id", "name", "average_playtime"),
        "q3": reviewed(games, "Indie", reviews, 1)
        .sort("reviews", "app_id", descending=[True, False])
        .head(5)
        .rename({"reviews": "positive_reviews"}),
        "q5": reviewed(games, "Action", reviews, -1)
        .filter(pl.col("reviews") >= pl.col("reviews").quantile(0.9, "linear"))
        .sort("app_id")
        .rename({"reviews": "negative_reviews"}),
    }


def has_genre(genre):
    return pl.col("genres").str.split(",").list.contains(genre)


def reviewed(games, genre, reviews, score):
    """The games of a genre that have reviews of this score, and how many."""
    counted = (
        reviews.filter(pl.col("review_score") == score).group_by("app_id").agg(reviews=pl.len())
    )
    return games.filter(has_genre(genre)).select("app_id", "name").join(counted, on="app_id")
