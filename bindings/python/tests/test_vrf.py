from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from typing import Any

import pytest
from conftest import vrf_cases

import tetralith
from tetralith import vrf


@pytest.mark.parametrize(("suite", "case"), vrf_cases())
def test_published_vectors(suite: str, case: dict[str, bytes]) -> None:
    key = vrf.SecretKey(suite, case["SK"][:32])
    assert key.public_key == case["PK"]
    assert key.prove(case["alpha"]) == case["pi"]
    assert vrf.verify(suite, case["PK"], case["alpha"], case["pi"]) == case["beta"]
    assert vrf.proof_to_hash(suite, case["pi"]) == case["beta"]


def test_there_are_vectors_of_six_suites() -> None:
    assert len({suite for suite, _ in vrf_cases()}) == 6
    assert {suite for suite, _ in vrf_cases()} < set(vrf.SUITES)


@pytest.mark.parametrize(("suite", "case"), vrf_cases()[::4])
def test_bad_input_has_a_type_and_a_code(suite: str, case: dict[str, bytes]) -> None:
    public, alpha, proof = case["PK"], case["alpha"], case["pi"]
    with pytest.raises(tetralith.VerificationError) as wrong:
        vrf.verify(suite, public, alpha + b"!", proof)
    assert wrong.value.code == "verification.failed"
    for cut in (b"", proof[:-1], proof + b"\0"):
        with pytest.raises(tetralith.MalformedError) as short:
            vrf.verify(suite, public, alpha, cut)
        assert short.value.code == "input.length"
        assert str(len(proof)) in str(short.value)
    with pytest.raises(tetralith.MalformedError) as suites:
        vrf.verify("md5", public, alpha, proof)
    assert suites.value.code == "input.suite"
    with pytest.raises(TypeError):
        vrf.verify(suite, "text", alpha, proof)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(wrong.value))
    assert (type(again), again.code) == (tetralith.VerificationError, "verification.failed")


def test_every_byte_of_a_proof_counts() -> None:
    key = vrf.SecretKey("draft03-cardano", bytes(32))
    proof = key.prove(b"input")
    for at in range(len(proof)):
        bad = bytearray(proof)
        bad[at] ^= 1
        with pytest.raises(tetralith.TetralithError):
            vrf.verify("draft03-cardano", key.public_key, b"input", bytes(bad))


def test_columns_of_lists_constants_and_nulls(cardano_table: dict[str, list[Any]]) -> None:
    alphas, proofs = list(cardano_table["alpha"]), list(cardano_table["proof"])
    proofs[7] = None
    valid = vrf.verify_many("draft03-cardano", cardano_table["public_key"][0], alphas, proofs)
    expected = [None if i == 7 else i != 120 for i in range(200)]
    assert valid.to_pylist() == expected
    assert [valid[i] for i in (0, 7, -80, -1)] == [True, None, False, True]
    assert list(valid) == expected
    with pytest.raises(IndexError):
        valid[200]


def test_columns_of_other_lengths_and_types_are_named() -> None:
    import pyarrow

    with pytest.raises(tetralith.MalformedError, match='"proof" has 1 rows, expected 2 as in "alpha"'):
        vrf.verify_many("draft03-cardano", b"", [b"", b""], [b""])
    with pytest.raises(tetralith.MalformedError, match='"alpha" has type Utf8, expected binary'):
        vrf.verify_many("draft03-cardano", b"", pyarrow.array(["text"]), [b""])
    table = pyarrow.table({"key": [b""]})
    with pytest.raises(tetralith.MalformedError, match='no column "public_key"; the columns are key'):
        vrf.verify_batch(table, "draft03-cardano")


def test_no_rows() -> None:
    assert vrf.verify_many("draft03-cardano", [], [], []).to_pylist() == []


def test_the_verdicts_are_those_of_one_by_one() -> None:
    for suite in vrf.SUITES:
        key = vrf.SecretKey.generate(suite)
        proofs = vrf.prove_many([key] * 9, [bytes([i]) for i in range(9)]).to_pylist()
        assert proofs == [key.prove(bytes([i])) for i in range(9)]
        proofs[4] = bytes(len(proofs[4]))
        valid = vrf.verify_many(suite, key.public_key, [bytes([i]) for i in range(9)], proofs)
        assert valid.to_pylist() == [i != 4 for i in range(9)]


def forked(queue: Any, table: dict[str, list[Any]]) -> None:
    valid = vrf.verify_many("draft03-cardano", *table.values())
    queue.put(sum(valid.to_pylist()))


def test_a_forked_process_verifies_too(cardano_table: dict[str, list[Any]]) -> None:
    assert sum(vrf.verify_many("draft03-cardano", *cardano_table.values())) == 199
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=forked, args=(queue, cardano_table))
    child.start()
    child.join(30)
    assert child.exitcode == 0, "the forked process hangs"
    assert queue.get(timeout=5) == 199


def test_the_interpreter_runs_on_meanwhile(cardano_table: dict[str, list[Any]]) -> None:
    columns = [column * 100 for column in cardano_table.values()]
    turns = 0
    done = threading.Event()

    def work() -> None:
        vrf.verify_many("draft03-cardano", *columns)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000


def test_secrets_are_not_shown() -> None:
    key = vrf.SecretKey("draft03-cardano", b"\xab" * 32)
    assert "abab" not in repr(key)
    assert key.expose_bytes() == b"\xab" * 32
