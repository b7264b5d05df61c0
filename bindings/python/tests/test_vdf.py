from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest
from conftest import VECTORS

import tetralith
from tetralith import vdf


def test_known_answers() -> None:
    vectors = json.loads((VECTORS / "vdf/rsa2048_squaring.json").read_text())
    for case in vectors["cases"]:
        if case["t"] <= 16:
            y = vdf.eval("rsa2048", bytes.fromhex(vectors["x"]), 1 << case["t"], raw=True)
            assert y.hex() == case["y"]


@pytest.mark.parametrize("system", ["wesolowski", "n-wesolowski", "pietrzak"])
def test_proofs(system: vdf.ProofSystem) -> None:
    y, proof = vdf.prove("rsa2048", b"input", 3000, system=system, threads=1)
    vdf.verify(proof, "rsa2048", b"input", 3000, y=y)
    vdf.verify(proof, vdf.Modulus.parse("rsa2048"), b"input", 3000)
    for x, count in ((b"other", 3000), (b"input", 3001)):
        with pytest.raises(tetralith.VerificationError) as raised:
            vdf.verify(proof, "rsa2048", x, count)
        assert raised.value.code == "verification.other_statement"
    with pytest.raises(tetralith.TetralithError):
        vdf.verify(proof, "rsa2048", b"input", 3000, y=bytes(256))
    bad = proof[:-1] + bytes([proof[-1] ^ 1])
    with pytest.raises(tetralith.TetralithError):
        vdf.verify(bad, "rsa2048", b"input", 3000)
    with pytest.raises(tetralith.MalformedError):
        vdf.verify(proof[:-1], "rsa2048", b"input", 3000)


def test_moduli() -> None:
    modulus = vdf.Modulus.parse("rsa2048")
    number = int.from_bytes(modulus.to_bytes(), "big")
    assert (modulus.bits, modulus.width) == (2048, 256)
    assert vdf.eval(number, b"\2", 4) == vdf.eval("rsa2048", b"\2", 4)
    assert int.from_bytes(vdf.eval(number, b"\2", 4, raw=True), "big") == pow(2, 1 << 4, number)


def test_seeds_are_bound_to_the_number_of_squarings() -> None:
    number = int.from_bytes(vdf.Modulus.parse("rsa2048").to_bytes(), "big")
    start = [int.from_bytes(vdf.eval(number, b"seed", t), "big") for t in (0, 1)]
    assert pow(start[0], 2, number) != start[1]
    raw = [int.from_bytes(vdf.eval(number, b"seed", t, raw=True), "big") for t in (0, 1)]
    assert pow(raw[0], 2, number) == raw[1]


def test_a_modulus_with_public_factors_proves_nothing() -> None:
    vdf.eval("lcs35", b"seed", 10)
    with pytest.raises(tetralith.MalformedError) as raised:
        vdf.prove("lcs35", b"seed", 10)
    assert raised.value.code == "input.modulus"


def test_bad_moduli() -> None:
    for bad in (0, 1, 4, 3 << 10):
        with pytest.raises(tetralith.MalformedError) as raised:
            vdf.eval(bad, b"\2", 1)
        assert raised.value.code == "input.modulus"
    with pytest.raises(tetralith.MalformedError):
        vdf.prove("rsa2048", b"x", 1, system="magic")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        vdf.eval("rsa2048", b"x", -1)


def test_time_locks() -> None:
    sealed = vdf.seal(b"later", iterations=2000, bits=1024)
    assert vdf.sealed_iterations(sealed) == 2000
    assert vdf.open(sealed) == b"later"
    with pytest.raises(tetralith.VerificationError):
        vdf.open(sealed[:-1] + bytes([sealed[-1] ^ 1]))


def test_progress_and_what_it_raises() -> None:
    steps: list[tuple[int, int]] = []
    total = 1 << 20
    vdf.eval("rsa2048", b"x", total, progress=lambda done, of: steps.append((done, of)))
    assert steps[-1] == (total, total) and steps == sorted(steps)

    def stop(done: int, of: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        vdf.prove("rsa2048", b"x", 1 << 24, progress=stop)


def test_ctrl_c_stops_it() -> None:
    def interrupt() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        vdf.eval("rsa2048", b"x", 1 << 34)
    assert time.monotonic() - start < 20
