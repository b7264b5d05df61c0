"""Verifiable random functions: RFC 9381 and the drafts that Cardano and Algorand run.

>>> from tetralith import vrf
>>> key = vrf.SecretKey.generate("draft03-cardano")
>>> proof = key.prove(b"slot 12")
>>> output = vrf.verify("draft03-cardano", key.public_key, b"slot 12", proof)
>>> len(output)
64
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from ._columns import close_table, open_table
from ._tetralith import (
    Column,
    SecretKey,
    vrf_kernel,
    vrf_proof_to_hash,
    vrf_prove_many,
    vrf_suites,
    vrf_validate_key,
    vrf_verify,
    vrf_verify_many,
)

if TYPE_CHECKING:
    from ._columns import ByteColumn

__all__ = [
    "SUITES",
    "SecretKey",
    "kernel",
    "proof_to_hash",
    "prove_many",
    "validate_key",
    "verify",
    "verify_batch",
    "verify_many",
]

#: The names of all suites.
SUITES: tuple[str, ...] = tuple(vrf_suites())

Table = TypeVar("Table")


def verify(suite: str, public_key: bytes, alpha: bytes, proof: bytes) -> bytes:
    """Verifies a proof for the input ``alpha`` and returns its output. RFC 9381 §5.3.

    Raises :class:`~tetralith.VerificationError` if the proof is not valid and
    :class:`~tetralith.MalformedError` if it, or the key, is malformed. Variable time: all is public.
    """
    return vrf_verify(suite, public_key, alpha, proof)


def proof_to_hash(suite: str, proof: bytes) -> bytes:
    """Returns the output that a proof claims, without verifying it. RFC 9381 §5.2."""
    return vrf_proof_to_hash(suite, proof)


def validate_key(suite: str, public_key: bytes) -> None:
    """Raises :class:`~tetralith.MalformedError` unless the key is fit for the suite. RFC 9381 §5.4.5."""
    vrf_validate_key(suite, public_key)


def verify_many(
    suite: str, public_key: ByteColumn, alpha: ByteColumn, proof: ByteColumn
) -> Column:
    """Verifies a column of proofs on all cores; each verdict is that of :func:`verify` alone.

    A column is Arrow data of binary type, an iterable of bytes, or one value for all rows. The
    result holds a boolean for each row, and a null where a column has one. It exports Arrow data:
    ``pyarrow.array(result)``, ``polars.Series(result)``, ``result.to_pylist()``.
    """
    return vrf_verify_many(suite, public_key, alpha, proof)[0]


def verify_batch(
    table: Table,
    suite: str,
    *,
    public_key: str = "public_key",
    alpha: str = "alpha",
    proof: str = "proof",
    valid: str = "valid",
    output: str = "output",
) -> Table:
    """Verifies each row of a table, and returns it with the columns ``valid`` and ``output``.

    ``table`` is a pyarrow RecordBatch or Table, a Polars or pandas DataFrame, or anything that
    exports Arrow data; the result is of the same kind. So it runs unchanged in Ray Data's
    ``map_batches(batch_format="pyarrow")``, in Spark's ``mapInArrow`` for each batch, and in DuckDB
    and Polars. The keyword arguments name the columns. ``output`` is null in a row that is not valid.
    """
    batches = open_table(table)
    columns = [batches.column(name) for name in (public_key, alpha, proof)]
    verdicts, outputs = vrf_verify_many(suite, *columns)
    return close_table(table, batches, [(valid, verdicts), (output, outputs)])


def prove_many(keys: SecretKey | Sequence[SecretKey], alpha: ByteColumn) -> Column:
    """Makes a proof for each input, by one key or by a key for each row. Constant time in the keys."""
    return vrf_prove_many([keys] if isinstance(keys, SecretKey) else list(keys), alpha)


def kernel(suite: str, rows: int = 1) -> str:
    """Names the code that verifies ``rows`` proofs here: ``avx512``, ``avx2`` or ``portable``."""
    return vrf_kernel(suite, rows)
