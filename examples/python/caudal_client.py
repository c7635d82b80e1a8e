#!/usr/bin/env python3
"""A client of a Caudal cluster, in Python, with nothing but pyarrow.

    caudal_client.py --gateway a:7070,b:7070 -t games=games.csv \\
        "SELECT genre, count(*) AS n FROM games GROUP BY genre ORDER BY n DESC"

It does what every client does (docs/protocol.md): opens a session, says that it is there, uploads its
tables in numbered batches, says how many there were, reads the answer, closes the session. Whatever
gateway dies meanwhile, it goes on at the next: batches that were not acknowledged are sent again under
the same numbers, and messages of the answer that come twice are recognised.
"""

import argparse
import base64
import json
import secrets
import sys
import threading
import time

import pyarrow as pa
import pyarrow.csv
import pyarrow.flight as flight

BATCH_ROWS = 64 << 10
WINDOW = 8  # batches that are sent ahead of their acknowledgements
AWAY_SECONDS_MAX = 120  # how long to go on without any gateway


def encoded(message):
    return json.dumps(message).encode()


class Cluster:
    """The gateways, of which one at a time is used."""

    def __init__(self, gateways, token=""):
        self.gateways, self.client, self.session = list(gateways), None, None
        self.options = flight.FlightCallOptions(
            headers=[(b"authorization", b"Bearer " + token.encode())],
            write_options=pa.ipc.IpcWriteOptions(compression="lz4"),
        )

    def carry_out(self, work):
        """Does `work(client)` at one gateway after the other until one of them lives through it."""
        give_up_at = time.monotonic() + AWAY_SECONDS_MAX
        while True:
            try:
                if self.client is None:
                    address = self.gateways[0]
                    uri = address if "://" in address else f"grpc://{address}"
                    self.client = flight.FlightClient(uri)
                    if self.session:
                        self.attach()
                return work(self.client)
            except (flight.FlightUnavailableError, flight.FlightCancelledError) as lost:
                print(f"lost {self.gateways[0]}: {str(lost).splitlines()[0]}", file=sys.stderr)
                if time.monotonic() > give_up_at:
                    raise
                self.client = None
                self.gateways.append(self.gateways.pop(0))
                time.sleep(0.2)

    def action(self, name, request):
        def act(client):
            results = list(client.do_action((name, encoded(request)), self.options))
            return b"".join(result.body.to_pybytes() for result in results)

        return self.carry_out(act)

    def open(self, tables, sql):
        """Opens a session: `tables` are named Arrow tables. Returns what the gateway wants of them."""
        serialized = lambda schema: base64.b64encode(schema.serialize()).decode()
        request = {
            "nonce": secrets.token_hex(16),
            "tables": [{"name": n, "schema": serialized(t.schema)} for n, t in tables.items()],
            "queries": [{"name": "query", "sql": sql, "params": []}],
            "shards": None,
        }
        reply = json.loads(self.action("open", request))
        refused = reply["queries"][0]["refused"]
        if refused:
            raise ValueError("{code}: {message}".format(**refused))
        self.session = reply["session"]
        self.attach()
        return reply

    def close(self):
        self.action("close", {"session": self.session})
        try:
            self.holding.close()
        except (flight.FlightError, pa.ArrowException):
            pass  # It says that the session is over.

    def exchange(self, client, command):
        """A stream both ways. pyarrow sends the descriptor at once, as its first message."""
        descriptor = flight.FlightDescriptor.for_command(encoded(command))
        return client.do_exchange(descriptor, self.options)

    def attach(self):
        """Says that the client is there, as long as this stream is open."""
        command = {"stream": "attach", "session": self.session}
        self.holding, statuses = self.exchange(self.client, command)
        statuses.read_chunk()  # The first status: now the session is this gateway's.

        def watch():
            try:
                while True:
                    status = json.loads(statuses.read_chunk().app_metadata.to_pybytes())
                    for reason in status["waiting_for"]:
                        print(f"waiting: {reason}", file=sys.stderr)
            except (flight.FlightError, pa.ArrowException, StopIteration):
                pass  # Whoever uses the gateway next will notice.

        threading.Thread(target=watch, daemon=True).start()

    def upload(self, index, batches):
        """Sends the batches of a table; returns when all of them are safe."""
        command = {"stream": "table", "session": self.session, "table": index}
        descriptor = flight.FlightDescriptor.for_command(encoded(command))
        acked = 0

        def send(client):
            nonlocal acked
            first = acked  # Acknowledgements count from the beginning of their stream.
            writer, acks = client.do_put(descriptor, batches[0].schema, self.options)

            def await_ack():
                ack = acks.read()
                if ack is None:
                    writer.close()  # Raises what the gateway said, if it has refused a batch.
                    raise flight.FlightUnavailableError("the stream ended too soon")
                return first + json.loads(ack.to_pybytes())["acked"]

            for number in range(first, len(batches)):
                writer.write_with_metadata(batches[number], encoded({"number": number}))
                while number + 1 - acked >= WINDOW:
                    acked = await_ack()
            writer.done_writing()
            while acked < len(batches):
                acked = await_ack()
            writer.close()

        if batches:
            self.carry_out(send)
        self.action("end", {"session": self.session, "table": index, "count": len(batches)})

    def answer(self, shape):
        """The answer of the only query, as an Arrow table."""
        seen = Seen(shape["sources"])
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(shape["schema"])))

        def read(client):
            command = {"stream": "result", "session": self.session, "query": 0}
            writer, reader = self.exchange(client, command)
            while not seen.is_complete():
                try:
                    chunk = reader.read_chunk()
                except StopIteration:
                    raise flight.FlightUnavailableError("the answer ended too soon") from None
                item = json.loads(chunk.app_metadata.to_pybytes())
                seen.take(item, chunk.data)
                writer.write_metadata(encoded({"tag": item["tag"]}))
            writer.close()

        self.carry_out(read)
        return pa.Table.from_batches(seen.rows(), schema)


class Seen:
    """What has come of an answer. A fragment counts once, when all parts of one attempt are there."""

    def __init__(self, sources):
        self.sources = [encoded(source) for source in sources]
        self.parts, self.fragments, self.ends = {}, {}, {}

    def take(self, item, batch):
        if item["type"] == "failed":
            raise RuntimeError("{code}: {message}".format(**item["failure"]))
        if item["type"] == "end":
            self.ends[encoded(item["source"])] = item["count"]
            return
        part, fragment = item["part"], (encoded(item["id"]["source"]), item["id"]["number"])
        if item["end"] is not None:
            self.ends[fragment[0]] = item["end"]
        if fragment in self.fragments:
            return
        parts = self.parts.setdefault((fragment, part["attempt"]), {})
        parts[part["index"]] = batch
        if len(parts) == part["count"]:
            self.fragments[fragment] = [parts[index] for index in sorted(parts)]

    def is_complete(self):
        count = lambda source: sum(1 for fragment in self.fragments if fragment[0] == source)
        return all(self.ends.get(source) == count(source) for source in self.sources)

    def rows(self):
        """In the order of their fragments, which is the answer's where it has one."""
        fragments = (self.fragments[fragment] for fragment in sorted(self.fragments))
        return [batch for parts in fragments for batch in parts if batch is not None]


def needed(table, columns):
    """The batches of a table, with the columns that the gateway asked for."""
    batches = []
    for number, batch in enumerate(table.to_batches(max_chunksize=BATCH_ROWS)):
        # The position after the last column is that of a hidden one, which numbers the rows.
        rows = pa.array([number << 32 | row for row in range(len(batch))], pa.uint64())
        batches.append(batch.append_column("_row", rows).select(columns))
    return batches


def run(gateways, tables, sql, token=""):
    """Answers a query over named Arrow tables."""
    cluster = Cluster(gateways, token)
    reply = cluster.open(tables, sql)
    try:
        for index, needs in enumerate(reply["tables"]):
            if needs["needed"]:
                cluster.upload(index, needed(tables[needs["name"]], needs["columns"]))
        return cluster.answer(reply["queries"][0])
    finally:
        cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sql")
    parser.add_argument("-t", "--table", action="append", default=[], metavar="NAME=FILE.csv")
    parser.add_argument("--gateway", default="127.0.0.1:7070", help="several, separated by commas")
    parser.add_argument("--token", default="")
    args = parser.parse_args()
    named = (table.split("=", 1) for table in args.table)
    tables = {name: pyarrow.csv.read_csv(file) for name, file in named}
    answer = run(args.gateway.split(","), tables, args.sql, args.token)
    pyarrow.csv.write_csv(answer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
