"""Tables in, tables of the same kind out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ._tetralith import Batches, Column

if TYPE_CHECKING:

    class ArrowArray(Protocol):
        """Anything with Arrow's C data interface: an array or a chunked array."""

        def __arrow_c_array__(self, requested_schema: Any = ...) -> Any: ...

    class ArrowStream(Protocol):
        """Anything with Arrow's C stream interface: a chunked array, a series, a table."""

        def __arrow_c_stream__(self, requested_schema: Any = ...) -> Any: ...

    #: One value for all rows, Arrow data of binary type, or an iterable of bytes.
    ByteColumn: TypeAlias = bytes | ArrowArray | ArrowStream | Iterable[bytes | None]

Table = TypeVar("Table")


def open_table(table: Any) -> Batches:
    """Reads a pyarrow, Polars or pandas table, or anything that exports Arrow data."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        import pyarrow

        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    return Batches(table)


def close_table(table: Table, batches: Batches, columns: list[tuple[str, Column]]) -> Table:
    """Adds columns, and gives back the kind of table that came."""
    result: Any = batches.with_columns(columns)
    kind = type(table).__module__.partition(".")[0]
    if kind == "polars":
        import polars

        return polars.DataFrame(result)  # type: ignore[return-value]
    try:
        import pyarrow
    except ImportError:
        return result  # type: ignore[no-any-return]
    made = pyarrow.table(result)
    if kind == "pandas":
        return made.to_pandas()  # type: ignore[no-any-return]
    if isinstance(table, pyarrow.RecordBatch):
        combined = made.combine_chunks().to_batches()
        return combined[0] if combined else pyarrow.RecordBatch.from_pylist([], made.schema)  # type: ignore[no-any-return]
    return made  # type: ignore[no-any-return]
