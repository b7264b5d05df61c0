#!/usr/bin/env node
// Prints how long each operation takes here: the least of several runs, for the machine may be busy.
import { vdf, vrf, tss } from './index.js';
import { fastest } from './timing.js';

function print(name, microseconds, unit = 'µs') {
  const value = unit === 'ms' ? microseconds / 1000 : microseconds;
  console.log(`${name.padEnd(44)}${value.toFixed(value < 100 ? 2 : 0).padStart(10)} ${unit}`);
}

function ofVrf() {
  const alpha = new Uint8Array(32);
  for (const suite of ['draft03-cardano', 'rfc9381-edwards25519-sha512-ell2', 'rfc9381-p256-sha256-tai', 'secp256k1-sha256-tai']) {
    const key = new vrf.SecretKey(suite, new Uint8Array(32).fill(7));
    const proof = key.prove(alpha);
    const { publicKey } = key;
    print(`vrf ${suite}: verify`, fastest(() => vrf.verify(suite, publicKey, alpha, proof)));
    print(`vrf ${suite}: prove`, fastest(() => key.prove(alpha)));
  }
}

function ofTss() {
  const runId = new Uint8Array(32);
  const parties = () => new Map([1, 2, 3].map((me) => [me, tss.keygen('dkls23', runId, me, 2, 3)]));
  const keygen = () => tss.exchange(parties());
  const shares = keygen();
  const sign = () => tss.exchange(
    new Map([1, 3].map((me) => [me, tss.sign('dkls23', runId, shares.get(me), [1, 3], runId)])));
  print('tss dkls23 2-of-3: keygen, all parties', fastest(keygen, 3), 'ms');
  print('tss dkls23 2-of-3: sign, both parties', fastest(sign, 3), 'ms');
}

function ofVdf() {
  const seed = new Uint8Array(32);
  const squarings = 2000;
  print('vdf rsa2048: one squaring', fastest(() => vdf.evaluate('rsa2048', seed, squarings), 10) / squarings);
  const { proof } = vdf.prove('rsa2048', seed, squarings);
  print('vdf rsa2048: verify', fastest(() => vdf.verify(proof, 'rsa2048', seed, squarings), 20), 'ms');
}

ofVrf();
ofVdf();
ofTss();
