"""Threshold signatures: ECDSA on secp256k1 (DKLs23) and Ed25519 (FROST, RFC 9591).

A party's side of a run is a :class:`Session`. It has no socket: carry its :meth:`~Session.outgoing`
messages to the other parties, over channels that authenticate the sender and keep messages to one
party confidential, hand what arrives to :meth:`~Session.receive`, and take the output at the end.

>>> import secrets
>>> from tetralith import tss
>>> run_id = secrets.token_bytes(32)  # the same for all parties, never used again
>>> parties = {me: tss.keygen("dkls23", run_id, me, 2, 3) for me in (1, 2, 3)}
>>> shares = tss.exchange(parties)  # in one process; a real deployment has a network here
>>> tss.share_info("dkls23", shares[1]).threshold
2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ._tetralith import Session, tss_share_info, tss_verify

__all__ = ["Session", "ShareInfo", "exchange", "keygen", "refresh", "share_info", "sign", "verify"]

Scheme: TypeAlias = Literal["dkls23", "frost-ed25519"]
_SCHEMES = ("dkls23", "frost-ed25519")


class ShareInfo(NamedTuple):
    """What is public of a key share."""

    party: int
    threshold: int
    parties: int
    #: 33 bytes of SEC 1 for ``dkls23``, 32 bytes of RFC 8032 for ``frost-ed25519``.
    group_key: bytes


def _scheme(scheme: str) -> str:
    if scheme not in _SCHEMES:
        from ._errors import MalformedError

        message = f"no scheme is called {scheme!r}"
        raise MalformedError(message, "usage.arguments", f"use one of {', '.join(_SCHEMES)}")
    return scheme


def keygen(scheme: Scheme, run_id: bytes, me: int, threshold: int, parties: int) -> Session:
    """Begins to make a key of which any ``threshold`` of ``parties`` can sign; the output is a share.

    ``run_id``: 32 bytes, the same for all parties and never used again. ``me``: this party, from 1.
    The share is secret: encrypt it before it is stored.
    """
    return Session.keygen(_scheme(scheme), run_id, me, threshold, parties)


def sign(scheme: Scheme, run_id: bytes, share: bytes, signers: Sequence[int], message: bytes) -> Session:
    """Begins to sign; the output is the signature.

    ``message``: a digest of 32 bytes for ``dkls23``, whose signature is ``r ‖ s ‖ recovery id``; any
    bytes for ``frost-ed25519``, whose signature is that of RFC 8032. ``signers``: the parties that
    take part, in ascending order. The caller decides what may be signed.
    """
    return Session.sign(_scheme(scheme), run_id, share, list(signers), message)


def refresh(run_id: bytes, share: bytes) -> Session:
    """Begins to replace all shares of a DKLs23 key, whose public key stays; all parties take part."""
    return Session.refresh(run_id, share)


def share_info(scheme: Scheme, share: bytes) -> ShareInfo:
    """Reads what is public of a share."""
    return ShareInfo(*tss_share_info(_scheme(scheme), share))


def verify(group_key: bytes, digest: bytes, signature: bytes) -> bool:
    """Whether a DKLs23 signature of 65 bytes is valid for a digest."""
    return tss_verify(group_key, digest, signature)


def exchange(parties: Mapping[int, Session]) -> dict[int, bytes]:
    """Runs sessions of one process to their end: for tests, and for parties that trust one machine.

    Raises :class:`~tetralith.PeerError` if a session aborts.
    """
    outputs: dict[int, bytes] = {}
    while len(outputs) < len(parties):
        sent = False
        for me, session in parties.items():
            for to, message in session.outgoing():
                sent = True
                for other in parties if to is None else (to,):
                    if other != me:
                        parties[other].receive(me, message)
        for me, session in parties.items():
            if me not in outputs and (output := session.take_output()) is not None:
                outputs[me] = output
        if not sent and len(outputs) < len(parties):
            waiting = {me: session.waiting_for for me, session in parties.items()}
            raise RuntimeError(f"no session has a message to send; waiting for {waiting}")
    return outputs
