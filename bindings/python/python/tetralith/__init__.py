"""Fast, trustworthy cryptography for ledgers.

- :mod:`tetralith.vrf`: verifiable random functions, one proof or columns of them.
- :mod:`tetralith.vdf`: sequential squaring, proofs of delay, time-locks.
- :mod:`tetralith.xmss`: post-quantum XMSS signatures with a durable state, QRL's keys and addresses.
- :mod:`tetralith.tss`: threshold signatures as messages in and out.
- :mod:`tetralith.compat.pyqrllib`: the names and results of QRL's package.

Every failure is a :class:`TetralithError` with a stable ``code`` and, if there is one, a ``hint``.
Long calls release the interpreter lock, and Ctrl-C stops them.
"""

from . import tss, vdf, vrf, xmss
from ._errors import (
    EnvironmentFailure,
    MalformedError,
    PeerError,
    StateError,
    TetralithError,
    VerificationError,
)
from ._tetralith import Column, __version__

__all__ = [
    "Column",
    "EnvironmentFailure",
    "MalformedError",
    "PeerError",
    "StateError",
    "TetralithError",
    "VerificationError",
    "__version__",
    "tss",
    "vdf",
    "vrf",
    "xmss",
]
