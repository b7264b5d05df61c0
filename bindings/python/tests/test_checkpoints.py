"""Long squarings that outlive their process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tetralith
from tetralith import vdf

SEED, COUNT = b"a public seed", 3 << 19

PROGRAM = """
import sys
from tetralith import vdf
job, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
arguments = dict(checkpoint=path, save_every=0.05, progress=lambda done, of: print(done, flush=True))
if job == "eval":
    vdf.eval("rsa2048", b"a public seed", count, **arguments)
else:
    vdf.prove("rsa2048", b"a public seed", count, threads=1, **arguments)
"""


def run(job: str, path: Path, **arguments: Any) -> bytes:
    if job == "eval":
        return vdf.eval("rsa2048", SEED, COUNT, checkpoint=path, **arguments)
    y, proof = vdf.prove("rsa2048", SEED, COUNT, checkpoint=path, threads=1, **arguments)
    vdf.verify(proof, "rsa2048", SEED, COUNT, y=y)
    return y


@pytest.fixture(scope="session")
def expected() -> bytes:
    return vdf.eval("rsa2048", SEED, COUNT)


@pytest.mark.parametrize("job", ["eval", "prove"])
def test_a_killed_run_is_resumed(job: str, tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "run"
    start = [sys.executable, "-c", PROGRAM, job, str(path), str(COUNT)]
    process = subprocess.Popen(start, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    seen = 0
    while seen < COUNT // 3:
        seen = int(process.stdout.readline())
    with pytest.raises(tetralith.StateError) as raised:
        run(job, path)
    assert raised.value.code == "state.locked" and str(process.pid) in str(raised.value)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    steps: list[int] = []
    assert run(job, path, progress=lambda done, of: steps.append(done)) == expected
    assert steps[0] > COUNT // 10, f"it began anew, at {steps[0]}"
    vdf.forget(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("job", ["eval", "prove"])
def test_ctrl_c_saves_the_state(job: str, tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "run"
    last = 0

    def progress(done: int, of: int) -> None:
        nonlocal last
        if last == 0 and done > of // 4:
            last = done
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(job, path, progress=progress)
    steps: list[int] = []
    assert run(job, path, progress=lambda done, of: steps.append(done)) == expected
    assert steps[0] >= last > COUNT // 4


def test_a_finished_evaluation_is_not_repeated(tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "run"
    assert run("eval", path) == expected
    start = time.monotonic()
    assert run("eval", path) == expected
    assert time.monotonic() - start < 1


def test_checkpoints_of_other_runs_and_of_none(tmp_path: Path) -> None:
    path = tmp_path / "run"
    vdf.eval("rsa2048", SEED, 1000, checkpoint=path)
    for seed, count in ((b"other", 1000), (SEED, 1001)):
        with pytest.raises(tetralith.StateError) as raised:
            vdf.eval("rsa2048", seed, count, checkpoint=path)
        assert raised.value.code == "state.checkpoint"
    for text in (b"", b"TVDC", b"\xff" * 900, path.read_bytes()[:-1]):
        bad = tmp_path / "bad"
        bad.write_bytes(text)
        with pytest.raises(tetralith.TetralithError):
            vdf.eval("rsa2048", SEED, 1000, checkpoint=bad)
    with pytest.raises(tetralith.EnvironmentFailure):
        vdf.eval("rsa2048", SEED, 1000, checkpoint=tmp_path / "missing" / "run")
    (tmp_path / "mine.lock").write_text("not a lock\n")
    with pytest.raises(tetralith.StateError, match="something else"):
        vdf.eval("rsa2048", SEED, 1000, checkpoint=tmp_path / "mine")
    assert (tmp_path / "mine.lock").read_text() == "not a lock\n"
    with pytest.raises(tetralith.MalformedError):
        vdf.eval("rsa2048", SEED, 1000, checkpoint=path, save_every=float("nan"))


def test_one_checkpoint_for_two_threads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    codes: list[str] = []

    def work() -> None:
        try:
            vdf.eval("rsa2048", SEED, 1 << 21, checkpoint=path)
        except tetralith.StateError as error:
            codes.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == ["state.locked"]
