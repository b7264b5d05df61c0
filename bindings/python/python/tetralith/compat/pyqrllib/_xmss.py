"""QRL's keys."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NoReturn

from ..._errors import StateError, TetralithError
from ..._tetralith import QrlKey, XmssPublicKey
from ._bytes import Bytes, ByteSequence, shake256, to_bytes
from ._descriptor import SHA256_2X, SHAKE_128, XMSS, QRLDescriptor, QRLHelper
from ._store import state_of, warn_unprotected

#: The chains of a one-time key for each Winternitz parameter.
_CHAINS = {4: 133, 16: 67, 256: 34}


def _chains(w: int) -> int:
    if w not in _CHAINS:
        raise ValueError("the Winternitz parameter must be 4, 16 or 256")
    return _CHAINS[w]


def _only_16(w: int) -> None:
    _chains(w)
    if w != 16:
        raise ValueError("only the Winternitz parameter 16 is supported, which QRL's ledger uses")


#: Refusals of a state that is not the last one of its key.
_STALE = ("state.rolled_back", "state.copied", "state.damaged", "state.unnoted")
_HINT = (
    "delete ADDRESS.state in the store, and call setIndex with an index above every index that any copy "
    "of the key used"
)


@contextmanager
def _hints() -> Iterator[None]:
    """Says what to do here: the key has no file that ``tetralith.xmss.restore`` could open."""
    try:
        yield
    except StateError as error:
        if error.code in _STALE:
            error.hint = _HINT
        raise


class XmssBase:
    """A key that is made from its seed. See :mod:`tetralith.compat.pyqrllib` on its index."""

    def __init__(
        self,
        seed: ByteSequence,
        height: int | None = None,
        hashFunction: int = SHAKE_128,  # noqa: N803
        addrFormatType: int = SHA256_2X,  # noqa: N803
        wotsParamW: int = 16,  # noqa: N803
    ) -> None:
        if type(self) is XmssBase:
            raise AttributeError("No constructor defined - class is abstract")
        _only_16(wotsParamW)
        data = to_bytes(seed)
        if height is None:
            if len(data) != 51:
                message = "Extended seed should be 51 bytes. Other values are not currently supported"
                raise ValueError(message)
            descriptor = QRLDescriptor.fromExtendedSeed(data)
            if descriptor.getSignatureType() != XMSS:
                raise ValueError("the extended seed is not of an XMSS key")
        else:
            if len(data) != 48:
                raise ValueError("Seed should be 48 bytes. Other values are not currently supported")
            descriptor = QRLDescriptor(hashFunction, XMSS, height, addrFormatType)
            data = bytes(descriptor.getBytes()) + data
        # The state is named by the address, which only the key tells: so it is made first.
        self._descriptor = descriptor
        with _hints():
            self._key = QrlKey(data, state_of)
        self._stored = self._key.has_state()

    def sign(self, message: ByteSequence) -> Bytes:
        """Signs with the next index."""
        if self.getIndex() >= self.getNumberSignatures():
            raise ValueError("index too high")
        if not self._stored:
            warn_unprotected()
        with _hints():
            return tuple(self._key.sign(to_bytes(message)))

    @staticmethod
    def verify(
        message: ByteSequence, signature: ByteSequence, pk: ByteSequence, wotsParamW: int = 16  # noqa: N803
    ) -> bool:
        """Whether a signature is valid under a public key of 67 bytes."""
        data, proof, key = to_bytes(message), to_bytes(signature), to_bytes(pk)
        if wotsParamW not in _CHAINS:
            return False
        _only_16(wotsParamW)
        try:
            XmssPublicKey.from_qrl(key).verify(data, proof)
        except TetralithError:
            return False
        return True

    def getSK(self) -> Bytes:  # noqa: N802
        """``index ‖ SK_SEED ‖ SK_PRF ‖ SEED ‖ root``, 132 bytes."""
        return tuple(self.getIndex().to_bytes(4, "big") + self._key.expose_secret())

    def getPK(self) -> Bytes:  # noqa: N802
        """``descriptor ‖ root ‖ SEED``, 67 bytes."""
        return tuple(self._key.public_key())

    def getSKSeed(self) -> Bytes:  # noqa: N802
        return tuple(self._key.expose_secret()[:32])

    def getSKPRF(self) -> Bytes:  # noqa: N802
        return tuple(self._key.expose_secret()[32:64])

    def getPKSeed(self) -> Bytes:  # noqa: N802
        return tuple(self._key.public_key()[35:])

    def getRoot(self) -> Bytes:  # noqa: N802
        return tuple(self._key.public_key()[3:35])

    def getSeed(self) -> Bytes:  # noqa: N802
        return tuple(self._key.expose_seed()[3:])

    def getExtendedSeed(self) -> Bytes:  # noqa: N802
        return tuple(self._key.expose_seed())

    def getDescriptor(self) -> QRLDescriptor:  # noqa: N802
        return self._descriptor

    def getDescriptorBytes(self) -> Bytes:  # noqa: N802
        return self._descriptor.getBytes()

    def getAddress(self) -> Bytes:  # noqa: N802
        return QRLHelper.getAddress(self._key.public_key())

    def getHeight(self) -> int:  # noqa: N802
        return self._descriptor.getHeight()

    def getNumberSignatures(self) -> int:  # noqa: N802
        return 1 << self.getHeight()

    def getRemainingSignatures(self) -> int:  # noqa: N802
        return self.getNumberSignatures() - self.getIndex()

    def getIndex(self) -> int:  # noqa: N802
        with _hints():
            return self._key.index()

    #: Whether the index after the last one may be set.
    _END_ALLOWED = True

    def setIndex(self, new_index: int) -> int:  # noqa: N802
        """Raises the index of the next signature."""
        if new_index >= self.getNumberSignatures() + self._END_ALLOWED:
            raise ValueError("index too high")
        if new_index < self.getIndex():
            raise ValueError("cannot rewind")
        with _hints():
            self._key.set_index(new_index)
        return new_index

    def getSignatureSize(self, wotsParamW: int = 16) -> int:  # noqa: N802, N803
        return self.calculateSignatureBaseSize(wotsParamW) + 32 * self.getHeight()

    @staticmethod
    def calculateSignatureBaseSize(wotsParamW: int = 16) -> int:  # noqa: N802, N803
        return 4 + 32 + 32 * _chains(wotsParamW)

    @staticmethod
    def getHeightFromSigSize(sigSize: int, wotsParamW: int = 16) -> int:  # noqa: N802, N803
        height, rest = divmod(sigSize - XmssBase.calculateSignatureBaseSize(wotsParamW), 32)
        if rest or height % 2 or not 4 <= height <= 30:
            raise ValueError("Invalid signature size")
        return height

    def getSecretKeySize(self) -> int:  # noqa: N802
        return 132

    def getPublicKeySize(self) -> int:  # noqa: N802
        return 67

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied: two copies would sign with one index")


class XmssBasic(XmssBase):
    """pyqrllib's key without kept nodes; here it is as fast as :class:`XmssFast`."""


class XmssFast(XmssBase):
    """pyqrllib's key with kept nodes."""

    _END_ALLOWED = False

    def initialize_tree(self, wotsParamW: int = 16) -> None:  # noqa: N803
        """Does nothing: the tree is there. Refused after the first index, as in pyqrllib."""
        _only_16(wotsParamW)
        if self.getIndex() != 0:
            raise ValueError("cannot reinitialize an XMSS signing key after index zero")


class XmssPool:
    """Makes keys of numbered seeds ahead of their use, on a thread of its own."""

    MAX_POOL_SIZE = 16

    def __init__(
        self, base_seed: ByteSequence, height: int, starting_index: int, pool_size: int
    ) -> None:
        self._seed = to_bytes(base_seed)
        if len(self._seed) != 48:
            raise ValueError("XMSS pool base seed must be 48 bytes")
        if pool_size > self.MAX_POOL_SIZE:
            raise ValueError("XMSS pool size exceeds the supported limit")
        QRLDescriptor(SHAKE_128, XMSS, height, SHA256_2X)
        self._height, self._index, self._size = height, starting_index, pool_size
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(1)
        self._made: deque[Future[XmssFast]] = deque()
        self._fill()

    def _fill(self) -> None:
        while len(self._made) < self._size:
            number = self._index + len(self._made)
            self._made.append(self._executor.submit(self._make, number))

    def _make(self, number: int) -> XmssFast:
        count = number + 1
        suffix = count.to_bytes((count.bit_length() + 7) // 8, "little")
        return XmssFast(shake256(48, self._seed + suffix), self._height)

    def getNextTree(self) -> XmssFast:  # noqa: N802
        """Waits for the next key; no other caller gets it."""
        with self._lock:
            number = self._index
            self._index += 1
            made = self._made.popleft() if self._made else None
            self._fill()
        return made.result() if made is not None else self._make(number)

    def isAvailable(self) -> bool:  # noqa: N802
        """Whether the next key is made already."""
        with self._lock:
            return bool(self._made) and self._made[0].done()

    def getCurrentIndex(self) -> int:  # noqa: N802
        """The number of the next key's seed."""
        with self._lock:
            return self._index
