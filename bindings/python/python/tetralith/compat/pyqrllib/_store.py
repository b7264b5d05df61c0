"""Where the states of keys are, if anywhere."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

_folder: Path | None = None
_warned = False
_VARIABLE = "TETRALITH_PYQRLLIB_STORE"


def use_store(folder: str | os.PathLike[str] | None) -> None:
    """Keeps a durable state of each key that is made from now on, ``ADDRESS.state`` in this folder.

    An index is then committed to the state before it signs, and a key that is made again from its seed
    goes on where it stopped. ``None`` ends that. Without a call, the environment variable
    ``TETRALITH_PYQRLLIB_STORE`` names the folder.
    """
    global _folder
    if folder is not None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    _folder = None if folder is None else Path(folder).resolve()


def state_of(address: str) -> str | None:
    """The file of a key's state."""
    if _folder is None and (named := os.environ.get(_VARIABLE)):
        use_store(named)
    return None if _folder is None else str(_folder / f"{address}.state")


def warn_unprotected() -> None:
    """Says once that indices are kept in memory alone."""
    global _warned
    if not _warned:
        _warned = True
        message = (
            "signing without a durable state: the index is lost when the program ends, and an index that "
            "signs twice lets anybody forge; call tetralith.compat.pyqrllib.use_store(folder)"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)
