from __future__ import annotations

from pathlib import Path

import pytest
from conftest import VECTORS

import tetralith
from tetralith import xmss


def liboqs(path: Path) -> tuple[xmss.PublicKey, bytes, bytes]:
    lines = path.read_text().splitlines()
    fields = dict(line.split(" = ", 1) for line in lines if " = " in line)
    pk, msg, sm = (bytes.fromhex(fields[name]) for name in ("pk", "msg", "sm"))
    multi_tree = path.name.startswith("XMSSMT")
    return xmss.PublicKey.from_bytes(pk, multi_tree=multi_tree), msg, sm


FILES = sorted((VECTORS / "xmss/liboqs").glob("*.rsp"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_liboqs_signatures(path: Path) -> None:
    key, message, signature = liboqs(path)
    key.verify(message, signature)
    assert len(signature) == key.signature_size
    assert key.signature_index(signature) >= 0
    with pytest.raises(tetralith.VerificationError):
        key.verify(message + b"!", signature)
    for cut in (b"", signature[:-1], signature + b"\0"):
        with pytest.raises(tetralith.MalformedError) as raised:
            key.verify(message, cut)
        assert raised.value.code == "input.length"


def test_there_are_vectors() -> None:
    assert len(FILES) == 37


def test_encodings() -> None:
    key, _, _ = liboqs(VECTORS / "xmss/liboqs/XMSS-SHA2_10_256.rsp")
    assert xmss.PublicKey.from_pem(key.to_pem()) == key
    assert xmss.PublicKey.from_der(key.to_der()) == key
    assert xmss.PublicKey.from_bytes(key.to_bytes()) == key
    assert len({key, xmss.PublicKey.from_bytes(key.to_bytes())}) == 1
    assert key.params == "XMSS-SHA2_10_256" and key.params in xmss.PARAMS
    with pytest.raises(tetralith.MalformedError):
        key.to_qrl()
    with pytest.raises(tetralith.MalformedError):
        xmss.PublicKey.from_bytes(key.to_bytes()[:-1])


def test_columns() -> None:
    key, message, signature = liboqs(VECTORS / "xmss/liboqs/XMSS-SHA2_10_256.rsp")
    other, its_message, its_signature = liboqs(VECTORS / "xmss/liboqs/XMSSMT-SHA2_20-2_256.rsp")
    bad = signature[:-1] + bytes([signature[-1] ^ 1])
    valid = xmss.verify_many(key, [message] * 4, [signature, bad, None, signature[:-1]])
    assert valid.to_pylist() == [True, False, None, False]
    valid = xmss.verify_many([key, other], [message, its_message], [signature, its_signature])
    assert valid.to_pylist() == [True, True]


def test_tables() -> None:
    import pandas
    import polars
    import pyarrow

    key, message, signature = liboqs(VECTORS / "xmss/liboqs/XMSS-SHA2_10_256.rsp")
    bad = signature[:-1] + bytes([signature[-1] ^ 1])
    columns = {
        "public_key": [key.to_bytes(), key.to_bytes(), b"", key.to_bytes(), None, key.to_bytes()],
        "message": [message] * 6,
        "signature": [signature, bad, signature, signature[:-1], signature, signature],
    }
    expected = [True, False, False, False, None, True]
    table = pyarrow.table(columns)
    result = xmss.verify_batch(table)
    assert isinstance(result, pyarrow.Table) and result["valid"].to_pylist() == expected
    for batch in table.to_batches(max_chunksize=4):
        assert isinstance(xmss.verify_batch(batch), pyarrow.RecordBatch)
    assert xmss.verify_batch(polars.DataFrame(columns))["valid"].to_list() == expected
    frame = xmss.verify_batch(pandas.DataFrame(columns))
    assert [None if value is None else bool(value) for value in frame["valid"]] == expected
    other, its_message, its_signature = liboqs(VECTORS / "xmss/liboqs/XMSSMT-SHA2_20-2_256.rsp")
    tall = {"public_key": [other.to_bytes()], "message": [its_message], "signature": [its_signature]}
    assert xmss.verify_batch(pyarrow.table(tall), multi_tree=True)["valid"].to_pylist() == [True]
    assert xmss.verify_batch(pyarrow.table(tall))["valid"].to_pylist() == [False]
    with pytest.raises(tetralith.MalformedError, match="no column"):
        xmss.verify_batch(pyarrow.table(tall), message="text")


def test_qrl() -> None:
    key = xmss.PublicKey.from_qrl(bytes.fromhex("010500" + "11" * 64))
    address = key.qrl_address()
    assert key.to_qrl() == bytes.fromhex("010500" + "11" * 64)
    assert address.startswith("Q010500") and len(address) == 79
    assert xmss.qrl_address_is_valid(address)
    wrong = address[:-1] + ("0" if address[-1] != "0" else "1")
    for text in (wrong, address[1:], address + "0", "", "Q" + "é" * 39, "Q+1" + address[3:]):
        assert not xmss.qrl_address_is_valid(text)
