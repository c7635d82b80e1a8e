"""Names of columns: in CSV those of its header, in Parquet those that a suite's SQL knows."""

import tomllib
from pathlib import Path

SUITES = Path(__file__).resolve().parent.parent / "suites"


def names_in_parquet(suite):
    """For each table, names in the header of CSV → names in SQL, where they differ."""
    manifest = tomllib.loads((SUITES / suite / "suite.toml").read_text())
    return {
        table["name"]: {
            column["header"]: column["name"] for column in table["columns"] if "header" in column
        }
        for table in manifest["table"]
    }
