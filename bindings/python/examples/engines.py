"""One function verifies a table of proofs, unchanged, in each of the engines that people run.

    python engines.py [--rows N] [--job vrf|xmss] [ENGINE ...]

Without engines named, all that are installed run. A table of N rows is written to Parquet, with one
row spoiled, and each engine has to find it. A thousand different rows are repeated to make the table:
verifying takes as long as of N different ones.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from tetralith import vrf, xmss

SUITE = "draft03-cardano"
DIFFERENT = 1000


def verify_vrf(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    return vrf.verify_batch(batch, SUITE)


def verify_xmss(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    return xmss.verify_batch(batch)


# Defined here, so that a worker in another process finds them in the module it is sent.
JOBS: dict[str, Callable[[pyarrow.RecordBatch], pyarrow.RecordBatch]] = {
    "vrf": verify_vrf,
    "xmss": verify_xmss,
}


def vrf_rows() -> dict[str, list[bytes]]:
    key = vrf.SecretKey(SUITE, bytes(range(32)))
    alphas = [b"slot %d" % i for i in range(DIFFERENT)]
    proofs = vrf.prove_many(key, alphas).to_pylist()
    return {"public_key": [key.public_key] * DIFFERENT, "alpha": alphas, "proof": proofs}


def xmss_rows() -> dict[str, list[bytes]]:
    messages = [b"message %d" % i for i in range(DIFFERENT)]
    with tempfile.TemporaryDirectory() as folder:
        with xmss.Signer.create(os.path.join(folder, "key"), passphrase=None) as signer:
            signer.reserve(DIFFERENT)
            signatures = [signer.sign(message) for message in messages]
            key = signer.public_key.to_bytes()
    return {"public_key": [key] * DIFFERENT, "message": messages, "signature": signatures}


def write(path: str, job: str, rows: int) -> int:
    """Writes the table, and returns the number of the spoiled row."""
    table = pyarrow.table(vrf_rows() if job == "vrf" else xmss_rows())
    spoiled = rows * 7 // 11
    evidence = table.column_names[2]
    with pyarrow.parquet.ParquetWriter(path, table.schema.append(NUMBER)) as writer:
        for start in range(0, rows, DIFFERENT):
            part = table.slice(0, min(DIFFERENT, rows - start))
            if start <= spoiled < start + len(part):
                at = spoiled - start
                values = part[evidence].to_pylist()
                values[at] = values[at][:-1] + bytes([values[at][-1] ^ 1])
                part = part.set_column(2, evidence, pyarrow.array(values))
            numbers = pyarrow.array(range(start, start + len(part)), NUMBER.type)
            writer.write_table(part.append_column(NUMBER, numbers), row_group_size=DIFFERENT)
    return spoiled


NUMBER = pyarrow.field("number", pyarrow.int64())


def with_pyarrow(path: str, verify: Callable) -> list[int]:
    found: list[int] = []
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=50_000):
        result = verify(batch)
        found += result.filter(pyarrow.compute.invert(result["valid"]))["number"].to_pylist()
    return found


def with_pandas(path: str, verify: Callable) -> list[int]:
    import pandas

    result = verify(pandas.read_parquet(path))
    return list(result[~result["valid"].astype(bool)]["number"])


def with_polars(path: str, verify: Callable) -> list[int]:
    import polars

    result = verify(polars.read_parquet(path))
    return result.filter(~polars.col("valid"))["number"].to_list()


def with_polars_streaming(path: str, verify: Callable) -> list[int]:
    import polars

    frame = polars.scan_parquet(path)
    schema = verify(frame.head(1).collect()).schema
    verified = frame.map_batches(verify, schema=schema, streamable=True)
    result = verified.filter(~polars.col("valid")).select("number").collect(engine="streaming")
    return result["number"].to_list()


def with_duckdb(path: str, verify: Callable) -> list[int]:
    import duckdb

    names = pyarrow.parquet.read_schema(path).names[:3]

    # DuckDB evaluates annotations, so there are none.
    def valid(key, message, evidence):
        return verify(pyarrow.table([key, message, evidence], names))["valid"]

    connection = duckdb.connect()
    connection.create_function("valid", valid, ["BLOB"] * 3, "BOOLEAN", type="arrow")
    query = f"SELECT number FROM read_parquet(?) WHERE NOT valid({', '.join(names)})"
    return [number for (number,) in connection.execute(query, [path]).fetchall()]


def with_ray(path: str, verify: Callable) -> list[int]:
    import ray

    ray.init(num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.read_parquet(path)
        verified = data.map_batches(verify, batch_format="pyarrow", batch_size=50_000)
        bad = verified.map_batches(
            lambda table: table.filter(pyarrow.compute.invert(table["valid"])).select(["number"]),
            batch_format="pyarrow",
        )
        return [row["number"] for row in bad.take_all()]
    finally:
        ray.shutdown()


def with_spark(path: str, verify: Callable) -> list[int]:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import BinaryType, BooleanType, StructField, StructType

    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.execution.arrow.maxRecordsPerBatch", "50000").getOrCreate()
    try:
        frame = session.read.parquet(path)
        added = [StructField("valid", BooleanType())]
        if "proof" in frame.columns:
            added.append(StructField("output", BinaryType()))
        # Not `frame.schema.add`, which changes the frame's own schema.
        schema = StructType([*frame.schema.fields, *added])

        def batches(parts: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            return map(verify, parts)

        bad = frame.mapInArrow(batches, schema).where("NOT valid").select("number")
        return [row.number for row in bad.collect()]
    finally:
        session.stop()


ENGINES: dict[str, tuple[str, Callable[[str, Callable], list[int]]]] = {
    "pyarrow": ("pyarrow", with_pyarrow),
    "pandas": ("pandas", with_pandas),
    "polars": ("polars", with_polars),
    "polars-streaming": ("polars", with_polars_streaming),
    "duckdb": ("duckdb", with_duckdb),
    "ray": ("ray", with_ray),
    "spark": ("pyspark", with_spark),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--job", choices=JOBS, default="vrf")
    parser.add_argument("engines", nargs="*", metavar="ENGINE")
    options = parser.parse_args(arguments)
    if unknown := set(options.engines) - set(ENGINES):
        parser.error(f"unknown engine {min(unknown)!r}; the engines are {', '.join(ENGINES)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.parquet")
        spoiled = write(path, options.job, options.rows)
        for name, (package, run) in ENGINES.items():
            if options.engines and name not in options.engines:
                continue
            if not options.engines and importlib.util.find_spec(package) is None:
                print(f"{name:17} is not installed", flush=True)
                continue
            start = time.perf_counter()
            found = run(path, JOBS[options.job])
            seconds = time.perf_counter() - start
            right = found == [spoiled]
            failed += not right
            verdict = f"found the spoiled row {spoiled}" if right else f"FOUND {found}, not [{spoiled}]"
            rate = options.rows / seconds
            print(f"{name:17} {options.rows} rows in {seconds:7.2f} s, {rate:9.0f}/s: {verdict}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    # Workers of other processes import the functions by this file's name, not as __main__.
    import engines

    sys.exit(engines.main(sys.argv[1:]))
