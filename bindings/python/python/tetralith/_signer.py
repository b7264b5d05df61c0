"""XMSS signing from key files."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, TypeAlias

from ._errors import MalformedError, TetralithError
from ._tetralith import NativeSigner, XmssPublicKey, xmss_public_key, xmss_restore, xmss_status

Path: TypeAlias = str | os.PathLike[str]
#: Called with the leaves computed and all of the tree's, about ten times a second.
ProgressCallback: TypeAlias = Callable[[int, int], object]


class Status(NamedTuple):
    """How the indices of a key are spent. ``docs/xmss.md`` explains each count."""

    limit: int
    until: int
    used: int
    lost: int
    leased: int
    skipped: int
    left: int
    next: int
    epoch: int
    #: Why signing would be refused, if it would be.
    refused: TetralithError | None = None


class Signer:
    """A key file that is open for signing, with its durable state.

    Each signature spends an index. The index is committed to the state, durably, before a secret of it
    is used, so a crash loses indices and never repeats one. One process has the state open at a time,
    and a forked child is refused: open the key in the child.

    Use it as a context manager, or call :meth:`close`: otherwise an index that was leased and not
    accounted for is counted as lost. Its methods may be called from several threads.
    """

    __slots__ = ("_native",)

    def __init__(self, native: NativeSigner) -> None:
        if not isinstance(native, NativeSigner):
            raise TypeError("call Signer.open or Signer.create")
        self._native = native

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        passphrase: str | bytes | None = None,
        store: str | None = None,
        wait: float = 10.0,
    ) -> Signer:
        """Opens a key that :meth:`create` or the command ``tetralith xmss keygen`` made.

        ``store``: where the state is, ``sqlite:PATH`` or ``file:PATH``; ``sqlite:KEY.state`` unless
        given. ``wait``: seconds to wait for another process that has the state open.

        Raises :class:`~tetralith.StateError` where the state refuses: it is locked, lost, a copy, or
        was put back from a backup. ``code`` says which, and ``hint`` what to do.
        """
        return cls(NativeSigner.open(os.fspath(path), passphrase, store, wait))

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        passphrase: str | bytes | None,
        params: str | None = None,
        store: str | None = None,
        wait: float = 10.0,
        qrl_seed: bytes | str | None = None,
        resume_at: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Signer:
        """Makes a key and its state, and opens it. A file that exists is never replaced.

        ``passphrase``: encrypts the key file; ``None`` leaves the secret unencrypted. ``params``:
        ``XMSS-SHA2_10_256`` unless given; any of :data:`~tetralith.xmss.PARAMS` with trees of at most
        2^20 leaves, or QRL's such as ``QRL-SHAKE_10_256``.

        ``qrl_seed``: makes the key of a QRL wallet from its 51 bytes or 34 words, which name the
        parameter set. It needs ``resume_at``: an index above every index that the wallet ever used.
        The ledger shows which were used; add a margin. Two signatures of one index let anybody forge.

        Ctrl-C, or an exception of ``progress``, stops it; then there is no key and no state.
        """
        if (qrl_seed is None) != (resume_at is None):
            message = "qrl_seed and resume_at belong together"
            hint = "give both: resume_at is an index above every index that the wallet ever used"
            raise MalformedError(message, "usage.arguments", hint)
        if qrl_seed is not None and params is not None:
            hint = "leave params out"
            raise MalformedError("the QRL seed names the parameter set", "usage.arguments", hint)
        if passphrase is not None and not passphrase:
            hint = "give a passphrase, or None to leave the secret unencrypted"
            raise MalformedError("the passphrase is empty", "key.passphrase_empty", hint)
        name = params or "XMSS-SHA2_10_256"
        native = NativeSigner.create(
            os.fspath(path), passphrase, name, store, wait, qrl_seed, resume_at or 0, progress
        )
        return cls(native)

    def sign(self, message: bytes) -> bytes:
        """Signs a message with the next index. RFC 8391 §4.1.9.

        The signature is verified before it is returned. Ctrl-C while a tree is computed spends no
        index; later it takes effect after the call, and the index is spent.

        Raises :class:`~tetralith.StateError` with the code ``state.exhausted`` when none is left.
        """
        return self._native.sign(message)

    def prepare(self, *, progress: ProgressCallback | None = None) -> None:
        """Computes the trees that the next signature needs, or reads them; no index is spent."""
        self._native.prepare(progress)

    def reserve(self, count: int) -> range:
        """Leases ``count`` indices in one commit, so that the next signatures wait for no disk.

        Those not used when the process ends are lost.
        """
        return range(*self._native.reserve(count))

    @property
    def left(self) -> int:
        """How many signatures this signer can still make."""
        return self._native.left

    @property
    def status(self) -> Status:
        """How the indices are spent, as of the last commit."""
        return Status(*self._native.status())

    @property
    def public_key(self) -> XmssPublicKey:
        """The public key."""
        return self._native.public_key

    def close(self) -> None:
        """Accounts for the indices that were leased, and frees the state. It may be called again."""
        self._native.close()

    def __enter__(self) -> Signer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._native)

    def __reduce__(self) -> str:
        raise TypeError("a signer cannot be pickled: open the key where it is needed")


def status(path: Path, *, store: str | None = None) -> Status:
    """Reads how a key's indices are spent, without its passphrase; another process may be signing."""
    counts, refused = xmss_status(os.fspath(path), store)
    return Status(*counts, refused)


def restore(
    path: Path, *, resume_at: int, store: str | None = None, wait: float = 10.0
) -> Status:
    """Makes a state that was lost, copied or put back usable from the index ``resume_at`` on.

    ``resume_at`` must lie above every index that any copy of the key may have used; what lies beside
    the key is looked at, and a lower index is refused. Two signatures of one index let anybody forge.
    """
    return Status(*xmss_restore(os.fspath(path), resume_at, store, wait))


def public_key(path: Path) -> XmssPublicKey:
    """Reads the public key of a key file, without its passphrase."""
    return xmss_public_key(os.fspath(path))
