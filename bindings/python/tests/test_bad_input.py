"""Truncated, mutated and wrong bytes: a typed error with a stable code, no crash and no leak."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tetralith
from tetralith import tss, vdf, vrf, xmss
from tetralith.compat import pyqrllib

Decoder = Callable[[bytes], Any]

KEY = vrf.SecretKey("draft03-cardano", bytes(range(32)))
PROOF = KEY.prove(b"input")


@pytest.fixture(scope="module")
def decoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Decoder, bytes]]:
    """Each decoder with an input that it takes."""
    folder = tmp_path_factory.mktemp("keys")
    with xmss.Signer.create(folder / "key", passphrase=None, params="QRL-SHAKE_4_256") as signer:
        key, signature = signer.public_key, signer.sign(b"message")
    y, proof = vdf.prove("rsa2048", b"x", 64, threads=1)
    vdf.eval("rsa2048", b"x", 64, checkpoint=folder / "run")
    run_id = bytes(range(32))
    shares = tss.exchange({me: tss.keygen("frost-ed25519", run_id, me, 2, 2) for me in (1, 2)})

    def from_file(act: Callable[[Path], Any]) -> Decoder:
        def decode(data: bytes) -> Any:
            path = folder / "input"
            # Else a damaged checkpoint is repaired from the one before.
            vdf.forget(path)
            path.write_bytes(data)
            return act(path)

        return decode

    def certificate(data: bytes) -> Any:
        return xmss.PublicKey.from_pem(data.decode("latin-1"))

    standard = xmss.PublicKey.from_bytes(bytes.fromhex("00000001") + bytes(range(64)))
    return {
        "vrf.verify": (lambda data: vrf.verify("draft03-cardano", KEY.public_key, b"input", data), PROOF),
        "vrf.key": (lambda data: vrf.validate_key("draft03-cardano", data), KEY.public_key),
        "xmss.verify": (lambda data: key.verify(b"message", data), signature),
        "xmss.from_qrl": (xmss.PublicKey.from_qrl, key.to_qrl()),
        "xmss.from_der": (xmss.PublicKey.from_der, standard.to_der()),
        "xmss.from_pem": (certificate, standard.to_pem().encode()),
        "xmss.from_bytes": (xmss.PublicKey.from_bytes, standard.to_bytes()),
        "xmss.public_key": (from_file(xmss.public_key), (folder / "key").read_bytes()),
        "vdf.verify": (lambda data: vdf.verify(data, "rsa2048", b"x", 64, y=y), proof),
        "vdf.sealed": (vdf.sealed_iterations, vdf.seal(b"later", iterations=10, bits=1024)),
        "vdf.checkpoint": (
            from_file(lambda path: vdf.eval("rsa2048", b"x", 64, checkpoint=path)),
            (folder / "run").read_bytes(),
        ),
        "tss.share": (lambda data: tss.share_info("frost-ed25519", data), shares[1]),
    }


def mutated(data: bytes, count: int) -> list[bytes]:
    chance = random.Random(len(data))
    cases = [b"", data[:-1], data + b"\0", data * 2, bytes(len(data)), b"\xff" * len(data)]
    for _ in range(count):
        copy = bytearray(data)
        copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
        cases.append(bytes(copy))
        cases.append(data[: chance.randrange(len(data))])
    return cases


def test_bad_bytes_are_typed_errors(decoders: dict[str, tuple[Decoder, bytes]]) -> None:
    for name, (decode, good) in decoders.items():
        decode(good)
        refused = 0
        for data in mutated(good, 60):
            try:
                decode(data)
            except tetralith.TetralithError as error:
                refused += 1
                assert re.fullmatch(r"[a-z_]+(\.[a-z_]+)*", error.code), (name, error.code)
                assert str(error), name
        # Some changed bytes are another good input, such as a time-lock's number of squarings.
        assert refused >= (20 if name == "vdf.sealed" else 60), (name, refused)


@pytest.mark.parametrize("wrong", [None, 5, 1.5, "text", object(), [b"list"]])
def test_wrong_types_are_type_errors(wrong: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: vrf.verify("draft03-cardano", wrong, b"", PROOF),
        lambda: vrf.verify("draft03-cardano", KEY.public_key, b"", wrong),
        lambda: KEY.prove(wrong),
        lambda: xmss.PublicKey.from_bytes(wrong),
        lambda: vdf.verify(wrong, "rsa2048", b"x", 1),
        lambda: vdf.seal(wrong, iterations=1),
        lambda: tss.share_info("dkls23", wrong),
        lambda: pyqrllib.XmssFast(wrong),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError)):
            call()


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_million_calls_keep_nothing() -> None:
    pem, modulus = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "f" * 15 + "e"
    bad: list[Callable[[], Any]] = [
        lambda: vrf.verify("draft03-cardano", bytes(32), bytes(100), bytes(79)),
        lambda: xmss.PublicKey.from_qrl(bytes(66)),
        lambda: xmss.PublicKey.from_pem(pem),
        lambda: vdf.Modulus.parse(modulus),
        lambda: vdf.sealed_iterations(bytes(100)),
        lambda: tss.share_info("dkls23", bytes(100)),
        lambda: pyqrllib.hstr2bin("zz"),
    ]
    good: list[Callable[[], Any]] = [
        lambda: vrf.proof_to_hash("draft03-cardano", PROOF),
        lambda: xmss.qrl_address_is_valid("Q0102"),
        lambda: pyqrllib.bin2mnemonic(bytes(3)),
    ]

    def calls(rounds: int) -> None:
        for _ in range(rounds):
            for call in bad:
                try:
                    call()
                except ValueError:
                    continue
                raise AssertionError("taken")
            for call in good:
                call()

    calls(2_000)
    before = resident()
    calls(100_000)
    assert resident() - before < 4 << 20
