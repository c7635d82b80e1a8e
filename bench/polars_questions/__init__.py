"""The suites' questions for Polars: one module a suite, each with `questions(scan, params)`.

`scan(table, schema, **options)` gives the lazy frame of a table's files, of which only the columns in the
schema are read; `scan.has_moments` says whether moments are of that type, and not text; `params` are the suite's parameters. The answers come as one dict of lazy frames,
so that Polars can plan them together and scan what they share once.
"""
