"""Bytes, hexadecimal digits, words and hashes, as pyqrllib takes and returns them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import TypeAlias, Union

from ..._tetralith import qrl_words

#: pyqrllib takes any sequence of integers below 256.
ByteSequence: TypeAlias = Union[bytes, bytearray, "ucharVector", Iterable[int]]
#: … and returns tuples of them.
Bytes: TypeAlias = tuple[int, ...]


class ucharVector(bytearray):  # noqa: N801
    """A vector of bytes: ``ucharVector(size, value)``, ``ucharVector(size)`` or ``ucharVector(items)``."""

    def __init__(self, items: ByteSequence | int = b"", value: int = 0) -> None:
        if isinstance(items, int):
            items = bytes([value]) * items
        super().__init__(items)

    def push_back(self, value: int) -> None:
        self.append(value)

    def size(self) -> int:
        return len(self)

    def empty(self) -> bool:
        return not self

    def front(self) -> int:
        return self[0]

    def back(self) -> int:
        return self[-1]

    def assign(self, size: int, value: int) -> None:
        self[:] = bytes([value]) * size

    def resize(self, size: int, value: int = 0) -> None:
        self[:] = self[:size] + bytes([value]) * (size - len(self))


def to_bytes(value: ByteSequence) -> bytes:
    """Takes what a C++ vector of bytes is made from; a string or a number is not."""
    if isinstance(value, (str, int)) or value is None:
        raise TypeError(f"expected a sequence of bytes, found {type(value).__name__}")
    return bytes(value)


def bin2hstr(vec: ByteSequence | str, wrap: int = 0) -> str:
    """Hexadecimal digits, with a line break after every ``wrap`` bytes."""
    data = vec.encode() if isinstance(vec, str) else to_bytes(vec)
    if wrap == 0:
        return data.hex()
    return "\n".join(data[at : at + wrap].hex() for at in range(0, len(data), wrap))


def str2bin(s: str) -> Bytes:
    """The bytes of a string."""
    return tuple(s.encode())


def hstr2bin(s: str) -> Bytes:
    """Decodes hexadecimal digits; raises ``ValueError`` for anything else."""
    if not isinstance(s, str):
        raise TypeError(f"expected a string, found {type(s).__name__}")
    if len(s) % 2:
        raise ValueError("hex string is expected to have an even number of characters")
    if not s.isascii() or not (s == "" or s.isalnum()):
        raise ValueError("invalid hex digits in the string")
    try:
        return tuple(bytes.fromhex(s))
    except ValueError:
        raise ValueError("invalid hex digits in the string") from None


_WORDS: list[str] = qrl_words()
_PLACES: dict[str, int] = {word: place for place, word in enumerate(_WORDS)}


def bin2mnemonic(vec: ByteSequence) -> str:
    """Writes bytes as words of 12 bits each."""
    data = to_bytes(vec)
    if len(data) % 3:
        raise ValueError("byte count needs to be a multiple of 3")
    digits = data.hex()
    return " ".join(_WORDS[int(digits[at : at + 3], 16)] for at in range(0, len(digits), 3))


def mnemonic2bin(mnemonic: str) -> Bytes:
    """Reads words of 12 bits each."""
    words = mnemonic.split()
    if len(words) % 2:
        raise ValueError(f"word count = {len(words)} must be even")
    try:
        digits = "".join(f"{_PLACES[word]:03x}" for word in words)
    except KeyError:
        # The word is not repeated: it may be nearly a secret one.
        raise ValueError("invalid word in mnemonic") from None
    return tuple(bytes.fromhex(digits))


def sha2_256(input: ByteSequence) -> Bytes:
    """SHA-256."""
    return tuple(hashlib.sha256(to_bytes(input)).digest())


def sha2_256_n(input: ByteSequence, count: int) -> Bytes:
    """SHA-256, ``count`` times."""
    if count == 0:
        raise ValueError("Invalid count. It should be > 0")
    data = to_bytes(input)
    for _ in range(count):
        data = hashlib.sha256(data).digest()
    return tuple(data)


def shake128(hash_size: int, input: ByteSequence) -> Bytes:
    """``hash_size`` bytes of SHAKE128."""
    return tuple(hashlib.shake_128(to_bytes(input)).digest(hash_size))


def shake256(hash_size: int, data: ByteSequence) -> Bytes:
    """``hash_size`` bytes of SHAKE256."""
    return tuple(hashlib.shake_256(to_bytes(data)).digest(hash_size))


def getRandomSeed(seed_size: int, entropy: str) -> Bytes:  # noqa: N802
    """``seed_size`` bytes: SHAKE256 of the system's randomness and the caller's entropy."""
    if not isinstance(entropy, str):
        raise TypeError(f"expected a string, found {type(entropy).__name__}")
    return shake256(seed_size, secrets.token_bytes(seed_size) + entropy.encode())


def getHashChainSeed(seed: ByteSequence, seed_shift: int, count: int) -> tuple[Bytes, ...]:  # noqa: N802
    """``count`` values of 32 bytes, each of the seed, the shift and its place."""
    start = to_bytes(seed) + seed_shift.to_bytes(4, "little")
    return tuple(shake256(32, start + place.to_bytes(4, "little")) for place in range(count))
