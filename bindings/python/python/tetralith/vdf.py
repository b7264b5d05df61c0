"""Verifiable delay: sequential squaring modulo N, proofs of it, and time-locks.

>>> from tetralith import vdf
>>> y, proof = vdf.prove("rsa2048", b"a public seed", 5000)
>>> vdf.verify(proof, "rsa2048", b"a public seed", 5000, y=y)
>>> sealed = vdf.seal(b"a secret for later", iterations=5000)
>>> vdf.open(sealed)
b'a secret for later'

The seed is hashed into the group together with N and the number of squarings. With ``raw=True`` it is
the number x itself, in big-endian bytes: whoever chooses such an x can combine outputs that are known
already, for y(18) = y(2)·y(3)². Use that only for protocols that fix x in another way.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, TypeAlias

from ._tetralith import (
    Modulus,
    vdf_eval,
    vdf_forget,
    vdf_open,
    vdf_prove,
    vdf_seal,
    vdf_sealed_iterations,
    vdf_verify,
)

__all__ = ["Modulus", "eval", "forget", "open", "prove", "seal", "sealed_iterations", "verify"]

#: Called with the squarings done and those of the whole run, at most ten times a second.
ProgressCallback: TypeAlias = Callable[[int, int], object]
Path: TypeAlias = str | os.PathLike[str]
ProofSystem: TypeAlias = Literal["wesolowski", "n-wesolowski", "pietrzak"]


def _modulus(modulus: Modulus | str | int) -> Modulus:
    if isinstance(modulus, int):
        return Modulus.from_bytes(modulus.to_bytes((modulus.bit_length() + 7) // 8 or 1, "big"))
    return Modulus.parse(modulus) if isinstance(modulus, str) else modulus


def eval(
    modulus: Modulus | str | int,
    seed: bytes,
    iterations: int,
    *,
    raw: bool = False,
    progress: ProgressCallback | None = None,
    checkpoint: Path | None = None,
    save_every: float = 60.0,
) -> bytes:
    """Computes y = x^(2^iterations) mod N, in big-endian bytes as wide as N.

    Each squaring is checked, and a fault of the machine is repaired or raises
    :class:`~tetralith.EnvironmentFailure`.

    ``checkpoint``: a file in which the state is saved every ``save_every`` seconds, when the run is
    interrupted and at the end. The same call resumes from it, also after a crash; :func:`forget`
    removes it. The command ``tetralith vdf eval --checkpoint`` reads and writes the same file.
    """
    path = None if checkpoint is None else os.fspath(checkpoint)
    return vdf_eval(_modulus(modulus), seed, raw, iterations, progress, path, save_every)


def prove(
    modulus: Modulus | str | int,
    seed: bytes,
    iterations: int,
    *,
    raw: bool = False,
    system: ProofSystem = "wesolowski",
    memory: int = 256 << 20,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    checkpoint: Path | None = None,
    save_every: float = 60.0,
) -> tuple[bytes, bytes]:
    """Computes y and an encoded proof that it is ±x^(2^iterations) mod N.

    ``memory``: bytes for values recorded while squaring. ``threads``: all cores unless given.

    ``checkpoint``: the state is kept in files whose names begin with this one, as :func:`eval` keeps its
    state. They stay until :func:`forget`: call it once the proof is stored.
    """
    threads = threads or os.cpu_count() or 1
    path = None if checkpoint is None else os.fspath(checkpoint)
    number = _modulus(modulus)
    return vdf_prove(
        number, seed, raw, iterations, system, memory, threads, progress, path, save_every
    )


def forget(checkpoint: Path) -> None:
    """Removes the files of a checkpoint, if there are any; the run would begin anew.

    Raises :class:`~tetralith.StateError` while another process uses it.
    """
    vdf_forget(os.fspath(checkpoint))


def verify(
    proof: bytes,
    modulus: Modulus | str | int,
    seed: bytes,
    iterations: int,
    *,
    raw: bool = False,
    y: bytes | None = None,
) -> None:
    """Verifies that a proof is valid for exactly this N, seed and number of squarings, and this y if given.

    Raises :class:`~tetralith.VerificationError` if it is not.
    """
    vdf_verify(proof, _modulus(modulus), seed, raw, iterations, y)


def seal(data: bytes, *, iterations: int, bits: int = 2048) -> bytes:
    """Encrypts data so that opening it takes ``iterations`` sequential squarings.

    The time-lock is that of Rivest, Shamir and Wagner, with XChaCha20-Poly1305; its modulus of
    ``bits`` bits is new, and its factors are forgotten.
    """
    return vdf_seal(data, iterations, bits)


def open(sealed: bytes, *, progress: ProgressCallback | None = None) -> bytes:
    """Opens sealed data, however long that takes. Ctrl-C stops it."""
    return vdf_open(sealed, progress)


def sealed_iterations(sealed: bytes) -> int:
    """The squarings that opening takes."""
    return vdf_sealed_iterations(sealed)
