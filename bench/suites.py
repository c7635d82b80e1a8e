"""What is compared: the suites, which of their questions, on how much data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    name: str
    # Those that need neither language() nor sentiment(), which only Caudal has.
    queries: tuple
    # Those of them whose memory could grow with the facts: they group or join them.
    aggregating: tuple
    # Each table's file, or files, in the data folder.
    tables: dict
    # The tables that hold the volume.
    facts: tuple
    # At least 1 GB.
    scale: float
    # About 100 MB, for many small files.
    small_scale: float
    # The question that needs language() or sentiment().
    texts: str = ""

    def params(self, scale):
        """Values with which the questions have answers on data of this scale, as `caudal demo` has them."""

        def scaled(full, least):
            return min(max(round(full * scale), least), full)

        if self.name == "steam":
            return {"min_reviews": scaled(5000, 4)}
        if self.name == "books":
            return {"min_reviews": scaled(500, 5), "min_decades": 6 if scale < 0.1 else 10}
        return {}


SUITES = {
    suite.name: suite
    for suite in [
        Suite(
            name="steam",
            queries=("q1", "q2", "q3", "q5"),
            aggregating=("q3", "q5"),
            tables={"games": "games.csv", "reviews": "reviews.csv"},
            facts=("reviews",),
            scale=0.4,
            small_scale=0.04,
            texts="q4",
        ),
        Suite(
            name="movies",
            queries=("q1", "q2", "q3", "q4"),
            aggregating=("q3",),
            tables={
                "movies": "movies_metadata.csv",
                "ratings": "ratings.csv",
                "credits": "credits.csv",
            },
            facts=("ratings",),
            scale=1.2,
            small_scale=0.1,
            texts="q5",
        ),
        Suite(
            name="books",
            queries=("q1", "q2", "q3", "q4"),
            aggregating=("q3", "q4"),
            tables={"books": "books_data.csv", "reviews": "Books_rating.csv"},
            facts=("reviews",),
            scale=0.35,
            small_scale=0.035,
            texts="q5",
        ),
        Suite(
            name="coffee",
            queries=("q1", "q2_best_selling", "q2_most_profitable", "q3", "q4"),
            aggregating=("q2_best_selling", "q2_most_profitable", "q3", "q4"),
            tables={
                "transactions": "transactions/*.csv",
                "transaction_items": "transaction_items/*.csv",
                "users": "users/*.csv",
                "stores": "stores/*.csv",
                "menu_items": "menu_items/*.csv",
            },
            facts=("transactions", "transaction_items"),
            scale=0.32,
            small_scale=0.03,
        ),
    ]
}
