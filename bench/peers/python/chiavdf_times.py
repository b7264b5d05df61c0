"""Times chiavdf's prover and verifier: a JSON object of lists of nanoseconds.

usage: chiavdf_times.py ITERATIONS SECONDS

The wheel has no call that evaluates without proving, so `prove` is the time of both.
"""

import hashlib
import json
import sys
import time

import chiavdf

BITS = 1024
iterations, seconds = int(sys.argv[1]), float(sys.argv[2])
challenge = hashlib.sha256(b"tetralith vdf challenge").digest()
start = b"\x08" + bytes(99)  # the generator form
discriminant = chiavdf.create_discriminant(challenge, BITS)


def prove():
    return chiavdf.prove(challenge, start, BITS, iterations, "")


def verify(proof, count=iterations):
    return chiavdf.verify_wesolowski(discriminant, start, proof[:100], proof[100:], count)


def times(call):
    call()
    taken, begun = [], time.perf_counter()
    while len(taken) < 3 or time.perf_counter() - begun < seconds:
        clock = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - clock)
    return taken


proof = prove()
assert verify(proof), "a proof that was made here verifies"
assert not verify(proof, iterations + 1), "a proof of another delay is refused"
print(json.dumps({"prove": times(prove), "verify": times(lambda: verify(proof))}))
