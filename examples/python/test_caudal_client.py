#!/usr/bin/env python3
"""Tests the example against a live cluster:

    test_caudal_client.py 127.0.0.1:7070[,127.0.0.1:7071]
"""

import socket
import sys

import pyarrow as pa
import pyarrow.flight as flight

import caudal_client


def games(rows):
    return pa.table({
        "name": [f"game {row}" for row in range(rows)],
        "genre": [("action", "indie", None)[row % 3] for row in range(rows)],
        "price": [row / 4 for row in range(rows)],
    })


def answers_are_right(gateways):
    sql = "SELECT genre, count(*) AS n, max(price) AS most FROM games GROUP BY genre ORDER BY genre"
    answer = caudal_client.run(gateways, {"games": games(3000)}, sql)
    assert answer.to_pydict() == {
        "genre": ["action", "indie", None],
        "n": [1000, 1000, 1000],
        "most": [749.25, 749.5, 749.75],
    }, answer


def an_order_survives(gateways):
    sql = "SELECT name FROM games WHERE price > 100 ORDER BY price DESC"
    answer = caudal_client.run(gateways, {"games": games(3000)}, sql)
    assert answer["name"].to_pylist() == [f"game {row}" for row in reversed(range(401, 3000))]


def rows_without_columns_and_row_numbers(gateways):
    tables = {"games": games(1234), "empty": games(0)}
    counts = "SELECT (SELECT count(*) FROM games) AS games, (SELECT count(*) FROM empty) AS none"
    assert caudal_client.run(gateways, tables, counts).to_pylist() == [{"games": 1234, "none": 0}]
    last = "SELECT name FROM games ORDER BY _row DESC LIMIT 1"
    assert caudal_client.run(gateways, tables, last).to_pylist() == [{"name": "game 1233"}]


def everything_is_sent_before_anything_is_read(gateways):
    """Far more batches than any queue or window holds, and as many to read in the end."""
    rows = 60_000
    answer = caudal_client.run(gateways, {"games": games(rows)}, "SELECT price FROM games")
    assert sorted(answer["price"].to_pylist()) == [row / 4 for row in range(rows)]


def a_mistake_is_told(gateways):
    try:
        caudal_client.run(gateways, {"games": games(1)}, "SELECT prise FROM games")
    except ValueError as error:
        assert 'there is no column "prise"' in str(error), error
    else:
        raise AssertionError("a column that is not there was found")


def a_dead_gateway_is_passed_by(gateways):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = "127.0.0.1:%d" % unused.getsockname()[1]
    answer = caudal_client.run([dead, *gateways], {}, "SELECT 40 + 2 AS answer")
    assert answer.to_pylist() == [{"answer": 42}]


def main():
    gateways = sys.argv[1].split(",")
    caudal_client.BATCH_ROWS = 100  # Many batches: several windows.
    tests = [
        answers_are_right,
        an_order_survives,
        rows_without_columns_and_row_numbers,
        everything_is_sent_before_anything_is_read,
        a_mistake_is_told,
        a_dead_gateway_is_passed_by,
    ]
    for test in tests:
        test(gateways)
        print(f"{test.__name__}: ok")


if __name__ == "__main__":
    main()
