"""Signing from Python: no index twice, whatever happens."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tetralith
from tetralith import xmss


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "signer.key"
    with xmss.Signer.create(path, passphrase=None):
        pass
    return path


def index(key: xmss.PublicKey, message: bytes, signature: bytes) -> int:
    key.verify(message, signature)
    return key.signature_index(signature)


def test_indices_go_up_over_openings(path: Path) -> None:
    key = xmss.public_key(path)
    for expected in range(3):
        with xmss.Signer.open(path) as signer:
            assert signer.public_key == key and signer.left == 1024 - expected
            assert index(key, b"message", signer.sign(b"message")) == expected
    status = xmss.status(path)
    assert (status.used, status.lost, status.next, status.left) == (3, 0, 3, 1021)
    assert status.refused is None


def test_the_passphrase(tmp_path: Path) -> None:
    path = tmp_path / "signer.key"
    xmss.Signer.create(path, passphrase="correct horse").close()
    with xmss.Signer.open(path, passphrase=b"correct horse") as signer:
        signer.sign(b"message")
    for wrong, code in (("wrong", "key.passphrase"), (None, "key.passphrase_needed")):
        with pytest.raises(tetralith.MalformedError) as raised:
            xmss.Signer.open(path, passphrase=wrong)
        assert raised.value.code == code and raised.value.hint
    with pytest.raises(TypeError):
        xmss.Signer.create(tmp_path / "other.key")  # type: ignore[call-arg]
    for empty in ("", b""):
        with pytest.raises(tetralith.MalformedError) as refused:
            xmss.Signer.create(tmp_path / "other.key", passphrase=empty)
        assert refused.value.code == "key.passphrase_empty"
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_a_key_is_never_replaced(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(tetralith.MalformedError) as raised:
        xmss.Signer.create(path, passphrase=None)
    assert raised.value.code == "output.exists" and path.read_bytes() == before


def test_what_was_reserved_and_not_used_is_lost(path: Path) -> None:
    key = xmss.public_key(path)
    with xmss.Signer.open(path) as signer:
        assert signer.reserve(10) == range(0, 10)
        assert signer.left == 1024 and signer.status.left == 1014
        assert index(key, b"", signer.sign(b"")) == 0
        assert signer.left == 1023
    status = xmss.status(path)
    assert (status.used, status.lost, status.next) == (1, 9, 10)
    with pytest.raises(tetralith.MalformedError) as raised:
        signer.sign(b"")
    assert "closed" in str(raised.value)


def test_exhaustion_is_a_state_error(tmp_path: Path) -> None:
    path = tmp_path / "small.key"
    with xmss.Signer.create(path, passphrase=None, params="QRL-SHAKE_4_256") as signer:
        for _ in range(16):
            signer.sign(b"message")
        assert signer.left == 0
        with pytest.raises(tetralith.StateError) as raised:
            signer.sign(b"message")
    assert raised.value.code == "state.exhausted" and raised.value.hint == "make a new key"


def test_a_second_signer_is_refused(path: Path) -> None:
    with xmss.Signer.open(path):
        with pytest.raises(tetralith.StateError) as raised:
            xmss.Signer.open(path, wait=0)
    assert raised.value.code == "state.locked" and str(os.getpid()) in str(raised.value)


PROGRAM = """
import sys
from tetralith import StateError, xmss
path, count = sys.argv[1], int(sys.argv[2])
done = 0
while done < count:
    try:
        with xmss.Signer.open(path, wait=30) as signer:
            for _ in range(5):
                print(signer.public_key.signature_index(signer.sign(b"message")), flush=True)
                done += 1
    except StateError as error:
        assert error.code == "state.locked", error.code
"""


def test_two_processes_never_share_an_index(path: Path) -> None:
    start = [sys.executable, "-c", PROGRAM, str(path), "30"]
    running = [subprocess.Popen(start, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    indices = [int(line) for process in running for line in process.communicate(timeout=60)[0].split()]
    assert all(process.returncode == 0 for process in running)
    assert sorted(indices) == list(range(60))


def test_a_killed_process_loses_indices_and_repeats_none(path: Path) -> None:
    start = [sys.executable, "-c", PROGRAM, str(path), "100000"]
    process = subprocess.Popen(start, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    seen = [int(process.stdout.readline()) for _ in range(12)]
    process.kill()
    seen += [int(line) for line in process.communicate()[0].split()]
    with xmss.Signer.open(path) as signer:
        next_index = signer.public_key.signature_index(signer.sign(b"after"))
    assert next_index > max(seen) and len(set(seen)) == len(seen)


def in_child(act: object) -> int:
    """Runs something in a forked child, which ends by its exit code."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()  # type: ignore[operator]
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_cannot_use_the_lease_of_its_parent(path: Path) -> None:
    key = xmss.public_key(path)
    signer = xmss.Signer.open(path)
    signer.reserve(100)
    first = index(key, b"parent", signer.sign(b"parent"))

    def child() -> int:
        for act in (
            lambda: signer.sign(b"child"), lambda: signer.reserve(1),
            lambda: signer.left, lambda: signer.status, signer.prepare,
        ):
            try:
                act()
            except tetralith.StateError as error:
                if error.code != "state.forked" or "in the child" not in (error.hint or ""):
                    return 1
            else:
                return 2
        signer.close()
        # The parent still has the state: its lock was not given up by the child.
        try:
            xmss.Signer.open(path, wait=0)
        except tetralith.StateError as error:
            return 0 if error.code == "state.locked" else 3
        return 4

    assert in_child(child) == 0
    assert index(key, b"again", signer.sign(b"again")) == first + 1
    signer.close()
    assert xmss.status(path).used == 2


def test_a_child_that_frees_the_signer_leaves_the_parents_state_alone(path: Path) -> None:
    holder = [xmss.Signer.open(path)]
    holder[0].sign(b"before")
    assert in_child(lambda: holder.clear() or 0) == 0
    with pytest.raises(tetralith.StateError):
        xmss.Signer.open(path, wait=0)
    holder[0].sign(b"after")
    holder.pop().close()
    status = xmss.status(path)
    assert (status.used, status.lost, status.next) == (2, 0, 2)


def test_a_fork_while_another_thread_signs_does_not_hang(path: Path) -> None:
    signer = xmss.Signer.open(path)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            signer.sign(b"message")

    def child() -> int:
        signal.alarm(10)
        try:
            signer.sign(b"child")
        except tetralith.StateError as error:
            return 0 if error.code == "state.forked" else 1
        return 2

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert [in_child(child) for _ in range(10)] == [0] * 10
    finally:
        stop.set()
        thread.join()
    signer.close()


def test_threads_of_one_process_share_a_signer(path: Path) -> None:
    key = xmss.public_key(path)
    indices: list[int] = []
    with xmss.Signer.open(path) as signer:

        def work() -> None:
            for _ in range(10):
                indices.append(index(key, b"message", signer.sign(b"message")))
                assert signer.left <= 1024

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(indices) == list(range(40))


def test_ctrl_c_while_signing_is_safe(path: Path) -> None:
    """Interrupted at whatever instant, a signer repeats no index."""
    key = xmss.public_key(path)
    indices: list[int] = []
    interrupted = 0
    for delay in (0.001, 0.003, 0.007, 0.02, 0.05):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        try:
            with xmss.Signer.open(path) as signer:
                timer.start()
                until = time.monotonic() + 10
                while time.monotonic() < until:
                    indices.append(index(key, b"message", signer.sign(b"message")))
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
    assert interrupted == 5 and len(set(indices)) == len(indices)
    status = xmss.status(path)
    assert status.next > max(indices) and status.used + status.lost == status.next
    with xmss.Signer.open(path) as signer:
        assert index(key, b"", signer.sign(b"")) >= status.next


def test_ctrl_c_stops_the_making_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "tall.key"
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        xmss.Signer.create(path, passphrase=None, params="XMSS-SHA2_20_256")
    assert time.monotonic() - start < 20 and list(tmp_path.iterdir()) == []

    def stop(done: int, of: int) -> None:
        assert 0 <= done <= of == 1 << 20
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        xmss.Signer.create(path, passphrase=None, params="XMSS-SHA2_20_256", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_state_from_a_backup_is_refused(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copy2(f"{path}.state", backup)
    with xmss.Signer.open(path) as signer:
        signer.sign(b"message")
    shutil.copy2(backup, f"{path}.state")
    with pytest.raises(tetralith.StateError) as raised:
        xmss.Signer.open(path)
    assert raised.value.code == "state.rolled_back"
    assert "xmss.restore" in (raised.value.hint or "")
    refused = xmss.status(path).refused
    assert refused is not None and refused.code == "state.rolled_back"
    with pytest.raises(tetralith.StateError) as backward:
        xmss.restore(path, resume_at=0)
    assert backward.value.code == "state.backward"
    assert xmss.restore(path, resume_at=100).left == 924
    with xmss.Signer.open(path) as signer:
        assert signer.public_key.signature_index(signer.sign(b"message")) == 100


def test_a_lost_state_is_refused(path: Path) -> None:
    os.remove(f"{path}.state")
    with pytest.raises(tetralith.StateError) as raised:
        xmss.Signer.open(path)
    assert raised.value.code == "state.missing"


def test_stores(tmp_path: Path) -> None:
    path, store = tmp_path / "signer.key", f"file:{tmp_path / 'elsewhere.state'}"
    with xmss.Signer.create(path, passphrase=None, store=store) as signer:
        signer.sign(b"message")
    assert xmss.status(path, store=store).used == 1
    with pytest.raises(tetralith.StateError) as raised:
        xmss.Signer.open(path)
    assert raised.value.code == "state.missing" and "elsewhere.state" in (raised.value.hint or "")
    with pytest.raises(tetralith.MalformedError) as unknown:
        xmss.Signer.open(path, store="redis://localhost")
    assert unknown.value.code == "store.url"


def test_qrl_wallets(tmp_path: Path) -> None:
    seed = bytes.fromhex("010200") + bytes(range(48))
    with xmss.Signer.create(
        tmp_path / "wallet.key", passphrase=None, qrl_seed=seed, resume_at=5
    ) as signer:
        key = signer.public_key
        assert key.params == "QRL-SHAKE_4_256" and signer.left == 11
        assert index(key, b"message", signer.sign(b"message")) == 5
    with pytest.raises(tetralith.MalformedError, match="belong together"):
        xmss.Signer.create(tmp_path / "other.key", passphrase=None, qrl_seed=seed)
    for bad in (seed[:-1], seed + b"\0", b"", "aback aback", b"\x07" + seed[1:]):
        with pytest.raises(tetralith.MalformedError):
            xmss.Signer.create(tmp_path / "other.key", passphrase=None, qrl_seed=bad, resume_at=0)


def test_bad_arguments(path: Path, tmp_path: Path) -> None:
    for text in (b"", b"{}", b"\xff" * 100, path.read_bytes()[:-20]):
        bad = tmp_path / "bad.key"
        bad.write_bytes(text)
        with pytest.raises(tetralith.TetralithError) as raised:
            xmss.Signer.open(bad)
        assert raised.value.code in ("key.malformed", "io.file"), raised.value.code
    with pytest.raises(tetralith.EnvironmentFailure) as missing:
        xmss.Signer.open(tmp_path / "nothing.key")
    assert missing.value.code == "io.file"
    with pytest.raises(tetralith.MalformedError) as params:
        xmss.Signer.create(tmp_path / "x.key", passphrase=None, params="XMSS-MD5_10_128")
    assert params.value.code == "xmss.params"
    with pytest.raises(tetralith.MalformedError):
        xmss.Signer.open(path, wait=-1)
    with xmss.Signer.open(path) as signer:
        with pytest.raises(TypeError):
            signer.sign("text")  # type: ignore[arg-type]
        with pytest.raises(OverflowError):
            signer.reserve(-1)
        with pytest.raises(tetralith.StateError) as more:
            signer.reserve(5000)
        assert more.value.code == "state.not_enough"
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(signer)
        assert index(signer.public_key, b"", signer.sign(b"")) == 0
