from __future__ import annotations

import hashlib
import secrets

import pytest

import tetralith
from tetralith import tss


def shares(scheme: tss.Scheme) -> dict[int, bytes]:
    run = secrets.token_bytes(32)
    return tss.exchange({me: tss.keygen(scheme, run, me, 2, 3) for me in (1, 2, 3)})


def signature(scheme: tss.Scheme, held: dict[int, bytes], signers: list[int], message: bytes) -> bytes:
    run = secrets.token_bytes(32)
    parties = {me: tss.sign(scheme, run, held[me], signers, message) for me in signers}
    made = set(tss.exchange(parties).values())
    assert len(made) == 1
    return made.pop()


def test_ecdsa() -> None:
    held = shares("dkls23")
    info = tss.share_info("dkls23", held[2])
    assert (info.party, info.threshold, info.parties) == (2, 2, 3)
    digest = hashlib.sha256(b"message").digest()
    made = signature("dkls23", held, [1, 3], digest)
    assert len(made) == 65
    assert tss.verify(info.group_key, digest, made)
    assert not tss.verify(info.group_key, hashlib.sha256(b"other").digest(), made)

    run = secrets.token_bytes(32)
    renewed = tss.exchange({me: tss.refresh(run, share) for me, share in held.items()})
    assert tss.share_info("dkls23", renewed[1]).group_key == info.group_key
    assert tss.verify(info.group_key, digest, signature("dkls23", renewed, [2, 3], digest))


def test_ed25519() -> None:
    held = shares("frost-ed25519")
    made = signature("frost-ed25519", held, [1, 2], b"any message")
    assert len(made) == 64 and len(tss.share_info("frost-ed25519", held[1]).group_key) == 32


def test_a_liar_is_named() -> None:
    run = secrets.token_bytes(32)
    parties = {me: tss.keygen("dkls23", run, me, 2, 2) for me in (1, 2)}
    for round_ in range(10):
        for me, other in ((1, 2), (2, 1)):
            for _, message in parties[me].outgoing():
                if me == 2 and round_ == 1:
                    message = message[:-1] + bytes([message[-1] ^ 1])
                try:
                    parties[other].receive(me, message)
                except tetralith.MalformedError as refused:
                    assert refused.code == "message.refused"
    with pytest.raises(tetralith.PeerError) as raised:
        parties[1].take_output()
    assert raised.value.code == "peers.aborted"
    assert raised.value.suspects == [2]


def test_bad_input() -> None:
    run = secrets.token_bytes(32)
    for arguments in ((0, 2, 3), (4, 2, 3), (1, 1, 3), (1, 4, 3)):
        with pytest.raises(tetralith.MalformedError):
            tss.keygen("dkls23", run, *arguments)
    with pytest.raises(tetralith.MalformedError, match="no scheme is called 'rsa'"):
        tss.keygen("rsa", run, 1, 2, 3)  # type: ignore[arg-type]
    with pytest.raises(tetralith.MalformedError):
        tss.share_info("dkls23", b"no share")
    with pytest.raises(tetralith.MalformedError) as raised:
        tss.sign("dkls23", run, shares("dkls23")[1], [1, 2], b"no digest")
    assert raised.value.code == "input.length"
    session = tss.keygen("dkls23", run, 1, 2, 3)
    with pytest.raises(tetralith.MalformedError):
        session.receive(2, b"junk")
    assert session.waiting_for == [2, 3] and session.take_output() is None
