"""Columns of the engines that people use, unchanged."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

from tetralith import bench, vrf

Columns = dict[str, list[Any]]


def expect(valid: list[Any], output: list[Any]) -> None:
    assert valid == [i != 120 for i in range(200)]
    assert [value is None for value in output] == [i == 120 for i in range(200)]
    assert len(output[0]) == 64


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view"])
def test_pyarrow_arrays(cardano_table: Columns, kind: str) -> None:
    arrays = [pyarrow.array(column, getattr(pyarrow, kind)()) for column in cardano_table.values()]
    valid = pyarrow.array(vrf.verify_many("draft03-cardano", *arrays))
    assert valid.type == pyarrow.bool_()
    assert valid.to_pylist() == [i != 120 for i in range(200)]
    fixed = pyarrow.array(cardano_table["proof"], pyarrow.binary(80))
    again = vrf.verify_many("draft03-cardano", arrays[0], arrays[1], fixed)
    assert again.to_pylist() == valid.to_pylist()


def test_pyarrow_tables_and_slices(cardano_table: Columns) -> None:
    table = pyarrow.table(cardano_table)
    result = vrf.verify_batch(table, "draft03-cardano")
    assert isinstance(result, pyarrow.Table)
    assert result.column_names == ["public_key", "alpha", "proof", "valid", "output"]
    expect(result["valid"].to_pylist(), result["output"].to_pylist())
    chunked = pyarrow.concat_tables([table.slice(0, 50), table.slice(50)])
    again = vrf.verify_batch(chunked, "draft03-cardano")
    expect(again["valid"].to_pylist(), again["output"].to_pylist())
    assert vrf.verify_batch(again, "draft03-cardano").column_names == again.column_names
    part = vrf.verify_batch(table.slice(115, 10).to_batches()[0], "draft03-cardano")
    assert isinstance(part, pyarrow.RecordBatch)
    assert part["valid"].to_pylist() == [i != 5 for i in range(10)]
    empty = vrf.verify_batch(table.slice(0, 0), "draft03-cardano")
    assert empty.num_rows == 0 and "valid" in empty.column_names


def test_polars(cardano_table: Columns) -> None:
    frame = polars.DataFrame(cardano_table)
    result = vrf.verify_batch(frame, "draft03-cardano")
    assert isinstance(result, polars.DataFrame)
    expect(result["valid"].to_list(), result["output"].to_list())
    series = polars.Series(vrf.verify_many("draft03-cardano", *frame.get_columns()))
    assert series.to_list() == result["valid"].to_list()

    def batch(part: polars.DataFrame) -> polars.DataFrame:
        return vrf.verify_batch(part, "draft03-cardano")

    schema = {**frame.schema, "valid": polars.Boolean(), "output": polars.Binary()}
    lazy = frame.lazy().map_batches(batch, schema=schema)
    for engine in ("in-memory", "streaming"):
        collected = lazy.collect(engine=engine)  # type: ignore[call-overload]
        expect(collected["valid"].to_list(), collected["output"].to_list())


@pytest.mark.parametrize(
    "kind", [pyarrow.large_binary(), pyarrow.binary_view(), pyarrow.binary(80), pyarrow.binary()]
)
def test_a_reader_may_request_a_type(kind: pyarrow.DataType) -> None:
    proofs = vrf.prove_many(vrf.SecretKey.generate("draft03-cardano"), [b"slot 1", b"slot 2"])
    array = pyarrow.array(proofs, kind)
    assert array.type == kind and array.to_pylist() == proofs.to_pylist()
    assert pyarrow.field(proofs).type == pyarrow.binary()


def test_without_pyarrow(cardano_table: Columns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the result is this package's own table, which other engines read."""
    table = pyarrow.table(cardano_table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result: Any = vrf.verify_batch(table, "draft03-cardano")
    monkeypatch.undo()
    assert repr(result) == "<tetralith.Batches of 200 rows: public_key, alpha, proof, valid, output>"
    assert (result.num_rows, result.column_names[3:]) == (200, ["valid", "output"])
    frame = polars.DataFrame(result)
    expect(frame["valid"].to_list(), frame["output"].to_list())
    assert pyarrow.schema(result).names == result.column_names
    again = vrf.verify_batch(result, "draft03-cardano")
    expect(again["valid"].to_pylist(), again["output"].to_pylist())


def test_a_stream_that_fails_is_an_exception(cardano_table: Columns) -> None:
    table = pyarrow.table(cardano_table)

    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield from table.slice(0, 50).to_batches()
        raise OSError("the disk is gone")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, batches())
    with pytest.raises(Exception, match="the disk is gone"):
        vrf.verify_batch(reader, "draft03-cardano")


def test_pandas(cardano_table: Columns) -> None:
    result = vrf.verify_batch(pandas.DataFrame(cardano_table), "draft03-cardano")
    assert isinstance(result, pandas.DataFrame)
    expect(list(result["valid"]), list(result["output"]))


def test_duckdb(cardano_table: Columns) -> None:
    table = pyarrow.table(cardano_table)

    def verify(key: Any, alpha: Any, proof: Any) -> Any:
        return pyarrow.array(vrf.verify_many("draft03-cardano", key, alpha, proof))

    connection = duckdb.connect()
    connection.create_function(
        "vrf_verify", verify, ["BLOB", "BLOB", "BLOB"], "BOOLEAN", type="arrow"
    )
    connection.register("proofs", table)
    query = "SELECT alpha FROM proofs WHERE NOT vrf_verify(public_key, alpha, proof)"
    assert connection.execute(query).fetchall() == [(b"slot 120",)]


def test_the_contract_of_spark(cardano_table: Columns) -> None:
    """`mapInArrow` hands an iterator of batches and takes one; it refuses fixed-size binary."""

    def verify(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield vrf.verify_batch(batch, "draft03-cardano")

    batches = pyarrow.table(cardano_table).to_batches(max_chunksize=64)
    results = list(verify(batches))
    assert [len(batch) for batch in results] == [64, 64, 64, 8]
    assert all(batch.schema.field("output").type == pyarrow.binary() for batch in results)
    table = pyarrow.Table.from_batches(results)
    expect(table["valid"].to_pylist(), table["output"].to_pylist())


def test_the_examples_find_a_spoiled_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Those with packages that are installed here; `make engines` runs all of them."""
    path = Path(__file__).parents[1] / "examples/engines.py"
    spec = importlib.util.spec_from_file_location("engines", path)
    assert spec is not None and spec.loader is not None
    engines = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engines)
    names = ["pyarrow", "pandas", "polars", "polars-streaming", "duckdb"]
    assert engines.main(["--rows", "5000", *names]) == 0
    assert engines.main(["--rows", "1100", "--job", "xmss", "pyarrow", "duckdb"]) == 0
    assert capsys.readouterr().out.count("found the spoiled row") == 7


def test_the_cost_of_a_column_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(300)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and "over Rust" in lines[3] and "10^9 proofs" in lines[4]
    rust, whole = (float(line.split()[-4]) for line in lines[1:3])
    assert 0.1 < rust < 10_000 and 0.1 < whole < 10_000
