"""Tables of Arrow as rows that can be compared, whichever library made them."""

import datetime
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "oracle"))
from compare import difference  # noqa: E402, F401


def rows(table):
    return list(zip(*([plain(value) for value in column.to_pylist()] for column in table.columns)))


def plain(value):
    """One value, whichever type holds it: those of times and of nested values differ from library to library."""
    if hasattr(value, "nanosecond"):
        value = str(value) if value.nanosecond else value.to_pydatetime()
    if isinstance(value, datetime.datetime) and value.tzinfo:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, (datetime.time, datetime.timedelta)):
        return str(value)
    if isinstance(value, dict):
        # The pairs of a map are tuples there, and structs here.
        return tuple(map(plain, value.values()))
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return value


def shown(found, most=5):
    return "\n".join(f"    {str(row)[:300]}" for row in sorted(found, key=repr)[:most])
