"""What a column costs over Rust, and how long 10^9 proofs take: ``python -m tetralith.bench [ROWS]``.

Verifies the same proofs by :func:`tetralith.vrf.verify_batch` and by the Rust function under it alone,
in turns, and compares the least times.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from . import vrf
from ._tetralith import vrf_verify_seconds

SUITE = "draft03-cardano"
#: Turns: each way is measured that often, and the least time counts.
TURNS = 9


def proofs(rows: int) -> dict[str, list[Any]]:
    """Columns of valid proofs."""
    key = vrf.SecretKey(SUITE, bytes(range(32)))
    alphas = [b"slot %d" % i for i in range(rows)]
    return {
        "public_key": [key.public_key] * rows,
        "alpha": alphas,
        "proof": vrf.prove_many(key, alphas).to_pylist(),
    }


def measure(rows: int) -> tuple[float, float]:
    """Seconds of Rust alone, and of the whole call with a table in and a table out."""
    import pyarrow

    table = pyarrow.table(proofs(rows))
    columns = [table[name] for name in table.column_names]
    rust, whole = [], []
    for _ in range(TURNS):
        rust.append(vrf_verify_seconds(SUITE, *columns))
        start = time.perf_counter()
        result = vrf.verify_batch(table, SUITE)
        whole.append(time.perf_counter() - start)
        assert all(result["valid"].to_pylist())
    return min(rust), min(whole)


def main(rows: int) -> None:
    rust, whole = measure(rows)
    print(f"{SUITE}, {rows} rows, kernel {vrf.kernel(SUITE, rows)}, all cores")
    print(f"Rust alone      {rust / rows * 1e6:8.3f} us a proof")
    print(f"verify_batch    {whole / rows * 1e6:8.3f} us a proof")
    print(f"a column costs  {(whole / rust - 1) * 100:8.2f} % over Rust")
    print(f"10^9 proofs     {whole / rows * 1e9 / 3600:8.2f} hours on this machine")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
