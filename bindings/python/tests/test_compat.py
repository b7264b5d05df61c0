"""The names and results of pyqrllib."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import VECTORS

import tetralith
from tetralith import xmss
from tetralith.compat import pyqrllib
from tetralith.compat.pyqrllib import (
    SHA2_256,
    SHA256_2X,
    SHAKE_128,
    SHAKE_256,
    QRLDescriptor,
    QRLHelper,
    XmssBasic,
    XmssFast,
    bin2hstr,
    bin2mnemonic,
    hstr2bin,
    mnemonic2bin,
    str2bin,
    ucharVector,
)

pytestmark = pytest.mark.filterwarnings("ignore:signing without a durable state")

#: The public keys and addresses that pyqrllib 1.2 and 1.3 have for a seed of zeros.
ZEROS = {
    4: (
        "010200c25188b585f731c128e2b457069eafd1e3fa3961605af8c58a1aec4d82ac316d"
        "3191da3442686282b3d5160f25cf162a517fd2131f83fbf2698a58f9c46afc5d",
        "01020095f03f084bcb29b96b0529c17ce92c54c1e8290193a93803812ead95e8e6902506b67897",
    ),
    6: (
        "010300859060f15adc3825adeec85c7483d868e898bc5117d0cff04ab1343916d407af"
        "3191da3442686282b3d5160f25cf162a517fd2131f83fbf2698a58f9c46afc5d",
        "0103008b0e18dd0bac2c3fdc9a48e10fc466eef899ef074449d12ddf050317b2083527aee74bc3",
    ),
}


@pytest.fixture(autouse=True)
def no_store() -> Any:
    pyqrllib.use_store(None)
    yield
    pyqrllib.use_store(None)


def zeros(height: int = 4) -> XmssFast:
    return XmssFast(ucharVector(48, 0), height)


@pytest.mark.parametrize("height", [4, 6])
@pytest.mark.parametrize("kind", [XmssFast, XmssBasic])
def test_keys_and_addresses(kind: type[XmssFast], height: int) -> None:
    key = kind(ucharVector(48, 0), height, SHAKE_128, SHA256_2X)
    public, address = ZEROS[height]
    assert bin2hstr(key.getPK()) == public
    assert bin2hstr(key.getAddress()) == bin2hstr(QRLHelper.getAddress(key.getPK())) == address
    assert QRLHelper.addressIsValid(hstr2bin(address))
    assert xmss.PublicKey.from_qrl(bytes(key.getPK())).qrl_address() == "Q" + address
    assert (key.getHeight(), key.getNumberSignatures()) == (height, 1 << height)
    assert key.getSignatureSize() == 2180 + 32 * height
    assert XmssFast.getHeightFromSigSize(key.getSignatureSize()) == height
    assert bytes(key.getPK()) == bytes(key.getDescriptorBytes() + key.getRoot() + key.getPKSeed())
    assert bytes(key.getSK()) == bytes(4) + bytes(
        key.getSKSeed() + key.getSKPRF() + key.getPKSeed() + key.getRoot()
    )
    assert XmssFast(key.getExtendedSeed()).getPK() == key.getPK()


@pytest.mark.parametrize("function", [SHA2_256, SHAKE_128, SHAKE_256])
def test_signatures(function: int) -> None:
    key = XmssFast(bytes(range(48)), 4, function)
    message = ucharVector(range(32))
    for index in range(16):
        assert (key.getIndex(), key.getRemainingSignatures()) == (index, 16 - index)
        signature = bytearray(key.sign(message))
        assert XmssFast.verify(message, signature, key.getPK())
        assert int.from_bytes(signature[:4], "big") == index
    with pytest.raises(ValueError, match="index too high"):
        key.sign(message)
    for at in (3, 100, -1):
        signature[at] ^= 1
        assert not XmssFast.verify(message, signature, key.getPK())
        signature[at] ^= 1
    message[2] += 1
    assert not XmssFast.verify(message, signature, key.getPK())
    for bad in (b"", signature[:-1], signature + b"\0"):
        assert not XmssFast.verify(message, bad, key.getPK())
    assert not XmssFast.verify(message, signature, b"")


def test_an_index_never_goes_back() -> None:
    key = zeros()
    assert key.setIndex(5) == 5 == key.getIndex()
    assert key.sign(b"")[3] == 5
    for back in (0, 5):
        with pytest.raises(ValueError, match="cannot rewind"):
            key.setIndex(back)
    for high in (16, 20):
        with pytest.raises(ValueError, match="too high"):
            key.setIndex(high)
    assert key.setIndex(15) == 15


def test_a_key_is_not_copied() -> None:
    key = zeros()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copied(key)


def test_a_forked_child_does_not_sign() -> None:
    key = zeros()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            key.sign(b"child")
        except tetralith.StateError as error:
            code = 0 if error.code == "state.forked" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert key.sign(b"parent")[3] == 0


def test_a_store_keeps_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    pyqrllib.use_store(folder)
    key = zeros()
    assert [key.sign(b"message")[3] for _ in range(3)] == [0, 1, 2]
    again = zeros()
    assert again.getIndex() == 3 and again.sign(b"message")[3] == 3
    assert key.getIndex() == 4 and key.sign(b"message")[3] == 4
    assert again.setIndex(8) == 8
    assert key.getIndex() == 8
    with pytest.raises(ValueError, match="cannot rewind"):
        key.setIndex(7)
    assert (key.sign(b"message")[3], again.sign(b"message")[3]) == (8, 9)
    names = {path.name for path in folder.iterdir()}
    assert names >= {f"Q{ZEROS[4][1]}.state"} and folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(ValueError):
        zeros().setIndex(16)
    assert [zeros().sign(b"")[3] for _ in range(6)] == list(range(10, 16))
    with pytest.raises(ValueError, match="too high"):
        zeros().sign(b"")


def test_a_store_from_a_backup_is_refused(tmp_path: Path) -> None:
    pyqrllib.use_store(tmp_path)
    key = zeros()
    key.sign(b"before")
    state = tmp_path / f"Q{ZEROS[4][1]}.state"
    backup = state.read_bytes()
    key.sign(b"after")
    state.write_bytes(backup)
    with pytest.raises(tetralith.StateError) as raised:
        zeros().sign(b"forged")
    assert raised.value.code in ("state.rolled_back", "state.copied")
    assert "setIndex" in (raised.value.hint or "")
    state.unlink()
    with pytest.raises(tetralith.StateError) as lost:
        zeros().sign(b"forged")
    assert lost.value.code == "state.backward"
    again = zeros()
    again.setIndex(9)
    assert again.sign(b"as the hint says")[3] == 9


def test_two_processes_share_a_store(tmp_path: Path) -> None:
    program = (
        "from tetralith.compat.pyqrllib import XmssFast\n"
        "for _ in range(16):\n"
        "    print(int.from_bytes(bytes(XmssFast(bytes(48), 6).sign(b'message'))[:4], 'big'))\n"
    )
    environment = {**os.environ, "TETRALITH_PYQRLLIB_STORE": str(tmp_path)}
    start = [sys.executable, "-c", program]
    running = [
        subprocess.Popen(start, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    indices = [int(line) for one in running for line in one.communicate(timeout=60)[0].split()]
    assert sorted(indices) == list(range(32))


def test_bytes_and_words() -> None:
    assert bin2hstr(b"\x00\x11\x22\x33", 0) == "00112233"
    assert bin2hstr(b"\x00\x11\x22\x33", 3) == "001122\n33"
    assert bin2hstr("test") == "74657374" and bin2hstr(()) == ""
    assert hstr2bin("00fF") == (0, 255) and str2bin("hi") == (104, 105)
    for bad in ("Z", "Z0", "0", " 0", "0x00", "é0", "00 "):
        with pytest.raises(ValueError):
            hstr2bin(bad)
    assert mnemonic2bin("aback absorb") == (0, 0, 16)
    assert mnemonic2bin(" absorb \n absorb") == (1, 0, 16) and mnemonic2bin("") == ()
    assert bin2mnemonic((1, 0, 16)) == "absorb absorb"
    for bad in ("absorb", "absorb bunny bunny", "Absorb absorb", "absorb xyzzy"):
        with pytest.raises(ValueError) as raised:
            mnemonic2bin(bad)
        assert "xyzzy" not in str(raised.value)
    with pytest.raises(ValueError):
        bin2mnemonic(b"\0")
    seed = zeros().getExtendedSeed()
    assert mnemonic2bin(bin2mnemonic(seed)) == seed
    for wrong in (5, None, "text", [256], [-1], ["a"]):
        with pytest.raises((TypeError, ValueError)):
            bin2mnemonic(wrong)  # type: ignore[arg-type]


def test_hashes_and_randomness() -> None:
    hello = str2bin("hello")
    assert bin2hstr(pyqrllib.sha2_256(hello)).startswith("2cf24dba5fb0a30e")
    assert bin2hstr(pyqrllib.shake128(32, hello)).startswith("8eb4b6a932f28033")
    assert bin2hstr(pyqrllib.shake256(64, hello)).startswith("1234075ae4a1e773")
    assert pyqrllib.sha2_256_n(hello, 2) == pyqrllib.sha2_256(pyqrllib.sha2_256(hello))
    with pytest.raises(ValueError):
        pyqrllib.sha2_256_n(hello, 0)
    seeds = [pyqrllib.getRandomSeed(48, "entropy") for _ in range(2)]
    assert seeds[0] != seeds[1] and len(seeds[0]) == 48
    chain = pyqrllib.getHashChainSeed(bytes(48), 1, 2)
    assert chain[1] == pyqrllib.shake256(32, bytes(48) + b"\1\0\0\0\1\0\0\0")


def test_descriptors() -> None:
    descriptor = QRLDescriptor.fromExtendedPK(hstr2bin(ZEROS[4][0]))
    assert (descriptor.getHeight(), descriptor.getHashFunction()) == (4, SHAKE_128)
    assert (descriptor.getSignatureType(), descriptor.getBytes()) == (pyqrllib.XMSS, (1, 2, 0))
    shared = QRLDescriptor.fromBytes((0x11, 0, 0))
    assert shared.getSignatureType() == pyqrllib.MULTISIG
    for bad in ((1, 2), (3, 2, 0), (0x21, 2, 0), (1, 1, 0), (1, 0, 0), (1, 0x12, 0), (1, 2, 1)):
        with pytest.raises(ValueError):
            QRLDescriptor.fromBytes(bad)
    for height in (0, 2, 7, 32):
        with pytest.raises(ValueError):
            XmssFast(bytes(48), height)
    for seed in (bytes(47), bytes(51), bytes(0)):
        with pytest.raises(ValueError):
            XmssFast(seed)
    assert not QRLHelper.addressIsValid(b"")
    with pytest.raises(ValueError):
        QRLHelper.getAddress(bytes(66))


def test_a_pool_hands_each_seed_out_once() -> None:
    pool = pyqrllib.XmssPool(ucharVector(48, 0), 4, 0, 2)
    keys = [pool.getNextTree() for _ in range(3)]
    assert pool.getCurrentIndex() == 3 and len({key.getPK() for key in keys}) == 3
    expected = XmssFast(pyqrllib.shake256(48, bytes(48) + b"\2"), 4)
    assert keys[1].getPK() == expected.getPK()


def test_programs_that_import_pyqrllib_run_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from pyqrllib import pyqrllib\n"
        "from pyqrllib.pyqrllib import XmssFast, bin2hstr\n"
        "key = XmssFast(pyqrllib.ucharVector(48, 0), 4, pyqrllib.SHAKE_128)\n"
        "print(bin2hstr(key.getAddress()), sys.argv[1:])\n"
    )
    monkeypatch.setattr(sys, "argv", ["-m", str(program), "argument"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("pyqrllib", "pyqrllib.pyqrllib"):
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]
    runpy.run_module("tetralith.compat.pyqrllib", run_name="__main__")
    assert capsys.readouterr().out == f"{ZEROS[4][1]} ['argument']\n"


def qrllib_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(
        (VECTORS / "xmss/qrl/qrllib-1.2.4.json").read_text()
    )["cases"]
    return cases


@pytest.mark.parametrize("case", qrllib_cases(), ids=lambda case: f"{case['hf']}-{case['pk'][70:78]}")
def test_keys_and_signatures_are_those_of_qrllib(case: dict[str, Any]) -> None:
    key = XmssFast(bytes.fromhex(case["seed"]), case["h"], getattr(pyqrllib, case["hf"]))
    assert bin2hstr(key.getPK()) == case["pk"]
    assert "Q" + bin2hstr(key.getAddress()) == case["address"]
    assert bin2hstr(key.getExtendedSeed()) == case["hexseed"]
    assert bin2mnemonic(key.getExtendedSeed()) == case["mnemonic"]
    for index, expected in zip((0, 1, 7, 13), case["sigs"], strict=True):
        key.setIndex(index)
        signature = bytes(key.sign(b"message %d" % index))
        assert hashlib.sha256(signature).hexdigest() == expected
    assert key.getIndex() == case["index"]
