from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[3] / "vectors"

#: The names that RFC 9381's vectors have for the suites.
SUITES = {
    "ECVRF-P256-SHA256-TAI": "rfc9381-p256-sha256-tai",
    "ECVRF-P256-SHA256-SSWU": "rfc9381-p256-sha256-sswu",
    "ECVRF-EDWARDS25519-SHA512-TAI": "rfc9381-edwards25519-sha512-tai",
    "ECVRF-EDWARDS25519-SHA512-ELL2": "rfc9381-edwards25519-sha512-ell2",
}


def vrf_cases() -> list[tuple[str, dict[str, bytes]]]:
    cases: list[tuple[str, dict[str, bytes]]] = []
    for vector in json.loads((VECTORS / "vrf/rfc9381/ecvrf_vectors.json").read_text())["vectors"]:
        suite = SUITES[vector["suite"]]
        fields = {name: bytes.fromhex(vector[name]) for name in ("SK", "PK", "alpha", "pi", "beta")}
        cases.append((suite, fields))
    for path in sorted((VECTORS / "vrf/praos").glob("vrf_ver*")):
        lines = dict(line.split(": ", 1) for line in path.read_text().splitlines() if ": " in line)
        fields = {
            ours: b"" if lines[theirs] == "empty" else bytes.fromhex(lines[theirs])
            for ours, theirs in {
                "SK": "sk", "PK": "pk", "alpha": "alpha", "pi": "pi", "beta": "beta",
            }.items()
        }
        suite = "draft03-cardano" if "ver03" in path.name else "draft13-batchcompat"
        cases.append((suite, fields))
    return cases


@pytest.fixture(scope="session")
def cardano_table() -> dict[str, list[Any]]:
    """Columns of 200 proofs of one suite; row 120 is spoiled."""
    from tetralith import vrf

    key = vrf.SecretKey("draft03-cardano", bytes(range(32)))
    alphas = [f"slot {i}".encode() for i in range(200)]
    proofs = vrf.prove_many(key, alphas).to_pylist()
    proofs[120] = proofs[119]
    return {"public_key": [key.public_key] * 200, "alpha": alphas, "proof": proofs}
