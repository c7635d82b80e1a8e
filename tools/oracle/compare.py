"""Answers as multisets of rows; floats to 1e-9 relative, as everywhere in Caudal."""

import datetime
import math
from decimal import ROUND_HALF_UP, Context, Decimal

TOLERANCE = 1e-9


def plain(value):
    """One value, whichever engine it came from."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    return value


def order_of(value):
    """Sorts values of every type; floats that are nearly equal end up beside each other."""
    if value is None:
        return (0, 0)
    if isinstance(value, (int, float, Decimal)):
        if isinstance(value, float) and math.isnan(value):
            return (2, 0)
        return (1, float(value))
    if isinstance(value, tuple):
        return (5, tuple(order_of(item) for item in value))
    return (3, str(value))


def same(a, b):
    if a is None or b is None:
        return a is b
    numbers = (int, float, Decimal)
    if isinstance(a, numbers) and isinstance(b, numbers):
        if not isinstance(a, float) and not isinstance(b, float):
            return a == b
        # A decimal that another engine gives as a float has all the digits that its type has.
        exact = next((value for value in (a, b) if isinstance(value, Decimal)), None)
        last_digit = 10.0 ** exact.as_tuple().exponent if exact is not None else 0
        a, b = float(a), float(b)
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or abs(a - b) <= max(TOLERANCE * max(abs(a), abs(b)), last_digit, 1e-12)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def as_coarse(rows, others):
    """Decimals with no more digits after the point than the other engine's, which rounds them in a UNION."""
    scales = [scale(column) for column in zip(*others)]
    if scales == [scale(column) for column in zip(*rows)]:
        return rows
    return [tuple(map(rounded, row, scales)) for row in rows]


def scale(column):
    return max((-value.as_tuple().exponent for value in column if isinstance(value, Decimal)), default=None)


def rounded(value, digits):
    if digits is None or not isinstance(value, Decimal) or -value.as_tuple().exponent <= digits:
        return value
    return value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=Context(prec=100))


def same_rows(ours, theirs):
    return len(ours) == len(theirs) and all(len(x) == len(y) and all(map(same, x, y)) for x, y in zip(ours, theirs))


def difference(ours, theirs, ordered):
    """None if the answers are equal, or else where they are not."""
    ours = [tuple(map(plain, row)) for row in ours]
    theirs = [tuple(map(plain, row)) for row in theirs]
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}"
    if any(len(row) != len(ours[0]) for row in ours + theirs):
        return "another number of columns"
    ours = as_coarse(ours, theirs)
    if same_rows(ours, theirs):
        return None
    if ordered and not swapped(ours, theirs):
        return "other rows, or another order"
    key = lambda row: tuple(map(order_of, row))
    ours, theirs = sorted(ours, key=key), sorted(theirs, key=key)
    if same_rows(ours, theirs) or matched(ours, theirs):
        return None
    return "other rows"


def swapped(ours, theirs):
    """Whether rows come in another order for last digits only: ordered by one column after the other, they differ behind a float
    of which there is another, nearly equal.
    """
    noisy = [nearly(column) for column in zip(*(ours + theirs))]

    def is_excused(x, y):
        alike = [same(a, b) for a, b in zip(x, y)]
        before = range(alike.index(False) if False in alike else 0)
        return all(alike) or any(same(x[at], value) for at in before for value in noisy[at])

    return all(map(is_excused, ours, theirs))


def nearly(column):
    """Floats of which there are others that are nearly the same."""
    values = sorted({v for v in column if isinstance(v, float) and math.isfinite(v)})
    return [a for a, b in zip(values, values[1:]) if same(a, b)]


def matched(ours, theirs):
    """Nearly equal floats may sort differently: pairs each row with one that is the same."""
    if len(ours) > 20000:
        return False
    left = []
    rest = list(theirs)
    for row in ours:
        for at in range(min(len(rest), 200)):
            if same_rows([row], [rest[at]]):
                del rest[at]
                break
        else:
            left.append(row)
    return not left and not rest
