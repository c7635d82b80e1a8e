"""Makes files of every kind that people have, and compares what Caudal reads in them with what others do.

    tools/files/run                all of them
    tools/files/run kinds WORD     those whose names have the word in them

One line for each: what both found, or the error of each. Exit code 1 if any differs.
"""

import concurrent.futures
import os
import sys
import tempfile
from pathlib import Path

import of_arrow
import of_compressed
import of_csv
import of_json
import of_parquet
import of_places
from kind import check

KINDS = [kind for of in (of_csv, of_compressed, of_json, of_parquet, of_arrow, of_places) for kind in of.KINDS]


def main(words):
    chosen = [kind for kind in KINDS if all(word in kind.name for word in words)]
    assert len({kind.name for kind in KINDS}) == len(KINDS), "two kinds have the same name"
    failed = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [pool.submit(check, kind, Path(folder) / str(at)) for at, kind in enumerate(chosen)]
        for kind, checked in zip(chosen, checks):
            try:
                both, different = checked.result()
            except Exception as error:  # noqa: BLE001, the others go on
                both, different = None, f"the comparison failed: {error!r}"
            print(f"DIFFERENT {kind.name}: {different}" if different else f"{kind.name}: {both}", flush=True)
            if different:
                failed.append(kind.name)
    print(f"{len(chosen)} kinds of files, {len(chosen) - len(failed)} read alike")
    for name in failed:
        print(f"FAILED {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
