"""XMSS: post-quantum signatures with a durable state, their verification, and QRL's formats.

Every parameter set of RFC 8391 and SP 800-208, and QRL's.

>>> from tetralith import xmss
>>> key = xmss.PublicKey.from_qrl(bytes.fromhex("010500" + 64 * "00"))
>>> key.params
'QRL-SHAKE_10_256'
>>> xmss.qrl_address_is_valid(key.qrl_address())
True

Signing needs a key file, whose state lies beside it:

>>> import os, tempfile
>>> folder = tempfile.mkdtemp()
>>> path = os.path.join(folder, "signer.key")
>>> with xmss.Signer.create(path, passphrase="correct horse") as signer:
...     signature = signer.sign(b"a message")
>>> with xmss.Signer.open(path, passphrase="correct horse") as signer:
...     signer.left
1023
>>> xmss.public_key(path).verify(b"a message", signature)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from ._columns import close_table, open_table
from ._signer import Signer, Status, public_key, restore, status
from ._tetralith import (
    Column,
    xmss_params,
    xmss_qrl_address_is_valid,
    xmss_verify_columns,
    xmss_verify_many,
)
from ._tetralith import XmssPublicKey as PublicKey

if TYPE_CHECKING:
    from ._columns import ByteColumn

__all__ = [
    "PARAMS",
    "PublicKey",
    "Signer",
    "Status",
    "public_key",
    "qrl_address_is_valid",
    "restore",
    "status",
    "verify_batch",
    "verify_many",
]

Table = TypeVar("Table")

#: The names of the parameter sets that have an identifier.
PARAMS: tuple[str, ...] = tuple(xmss_params())


def verify_many(
    key: PublicKey | Sequence[PublicKey], message: ByteColumn, signature: ByteColumn
) -> Column:
    """Verifies columns of messages and signatures on all cores, under one key or a key a row.

    Each verdict is that of :meth:`PublicKey.verify`; a malformed signature is not valid.
    """
    keys = [key] if isinstance(key, PublicKey) else list(key)
    return xmss_verify_many(keys, message, signature)


def verify_batch(
    table: Table,
    *,
    public_key: str = "public_key",
    message: str = "message",
    signature: str = "signature",
    valid: str = "valid",
    multi_tree: bool = False,
) -> Table:
    """Verifies each row of a table, and returns it with the column ``valid``.

    ``table`` and the result are as in :func:`tetralith.vrf.verify_batch`, so it runs in the same
    engines. The keys are :meth:`PublicKey.to_bytes` or :meth:`PublicKey.to_qrl`; of XMSS^MT if
    ``multi_tree``. A malformed key or signature is not valid.
    """
    batches = open_table(table)
    keys, messages = batches.column(public_key), batches.column(message)
    verdicts = xmss_verify_columns(keys, messages, batches.column(signature), multi_tree)
    return close_table(table, batches, [(valid, verdicts)])


def qrl_address_is_valid(address: str) -> bool:
    """Checks the form, the descriptor and the checksum of a QRL address."""
    return xmss_qrl_address_is_valid(address)
