import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { NOT_BYTES, fails, fromHex, toHex, utf8, vector, vectorsUrl, vrf } from './package.mjs';

const NAMES = {
  'ECVRF-P256-SHA256-TAI': 'rfc9381-p256-sha256-tai',
  'ECVRF-P256-SHA256-SSWU': 'rfc9381-p256-sha256-sswu',
  'ECVRF-EDWARDS25519-SHA512-TAI': 'rfc9381-edwards25519-sha512-tai',
  'ECVRF-EDWARDS25519-SHA512-ELL2': 'rfc9381-edwards25519-sha512-ell2',
};

function cases() {
  const published = JSON.parse(vector('vrf/rfc9381/ecvrf_vectors.json')).vectors;
  const all = published.map((of) => [NAMES[of.suite], of.SK, of.PK, of.alpha, of.pi, of.beta]);
  for (const name of readdirSync(new URL('vrf/praos', vectorsUrl)).filter((name) => name.startsWith('vrf_ver'))) {
    const lines = new Map(vector(`vrf/praos/${name}`).split('\n').map((line) => line.split(': ')));
    const [sk, pk, alpha, pi, beta] = ['sk', 'pk', 'alpha', 'pi', 'beta'].map((field) => lines.get(field).trim());
    const suite = name.includes('ver03') ? 'draft03-cardano' : 'draft13-batchcompat';
    all.push([suite, sk.slice(0, 64), pk, alpha === 'empty' ? '' : alpha, pi, beta]);
  }
  return all.map(([suite, ...fields]) => [suite, ...fields.map(fromHex)]);
}

test('published vectors of six suites', () => {
  assert.equal(new Set(cases().map(([suite]) => suite)).size, 6);
  for (const [suite, secret, publicKey, alpha, pi, beta] of cases()) {
    const key = new vrf.SecretKey(suite, secret);
    assert.deepEqual(key.publicKey, publicKey);
    assert.deepEqual(key.prove(alpha), pi);
    assert.deepEqual(vrf.verify(suite, publicKey, alpha, pi), beta);
    assert.deepEqual(vrf.proofToHash(suite, pi), beta);
    vrf.validateKey(suite, publicKey);
    fails('verification', 'verification.failed', () => vrf.verify(suite, publicKey, utf8('other'), pi));
    for (const cut of [new Uint8Array(), pi.slice(1), Uint8Array.of(...pi, 0)]) {
      fails('malformed', 'input.length', () => vrf.verify(suite, publicKey, alpha, cut));
    }
  }
});

test('every suite makes keys and proofs', () => {
  assert.ok(vrf.SUITES.length >= 11);
  for (const suite of vrf.SUITES) {
    const key = vrf.SecretKey.generate(suite);
    assert.equal(key.suite, suite);
    assert.deepEqual(new vrf.SecretKey(suite, key.exposeBytes()).publicKey, key.publicKey);
    const proof = key.prove(utf8('input'));
    const output = vrf.verify(suite, key.publicKey, utf8('input'), proof);
    assert.deepEqual(output, vrf.proofToHash(suite, proof));
    const rows = { publicKey: key.publicKey, alpha: utf8('input'), proof: [proof, proof.slice(1), proof] };
    assert.deepEqual([...vrf.verifyMany(suite, rows)], [1, 0, 1]);
    for (let at = 0; at < proof.length; at += 7) {
      const bad = proof.slice();
      bad[at] ^= 4;
      assert.throws(() => vrf.verify(suite, key.publicKey, utf8('input'), bad), { name: 'TetralithError' });
    }
  }
});

test('columns in each form have the verdicts of single rows', () => {
  const suite = 'draft03-cardano';
  const key = new vrf.SecretKey(suite, new Uint8Array(32));
  const rows = 40;
  const alpha = Array.from({ length: rows }, (_, i) => utf8(`slot ${i}`));
  const proof = alpha.map((value) => key.prove(value));
  proof[17] = proof[16];
  const expected = Array.from({ length: rows }, (_, i) => Number(i !== 17));
  const { publicKey } = key;
  const offsets = [0];
  for (const value of alpha) offsets.push(offsets.at(-1) + value.length);
  const data = Uint8Array.from(alpha.flatMap((value) => [...value]));
  const proofs = { data: Uint8Array.from(proof.flatMap((value) => [...value])), width: 80 };
  const keys = Array(rows).fill(publicKey);
  for (const columns of [
    { publicKey, alpha, proof },
    { publicKey: keys, alpha: { data, offsets }, proof: proofs },
    { publicKey, alpha: { data, offsets: Uint32Array.from(offsets) }, proof: proofs },
  ]) {
    assert.deepEqual([...vrf.verifyMany(suite, columns)], expected);
  }
  assert.deepEqual([...vrf.verifyMany(suite, { publicKey, alpha: [], proof: [] })], []);
  const malformed = [
    { publicKey, alpha, proof: proof.slice(1) },
    { publicKey, alpha: { data, offsets: [0, 5, 3] }, proof: proof.slice(0, 2) },
    { publicKey, alpha: { data, offsets: [0, data.length + 1] }, proof: proof.slice(0, 1) },
    { publicKey, alpha: { data, offsets: [-1, 2] }, proof: proof.slice(0, 1) },
    { publicKey, alpha: { data, offsets: 'text' }, proof: proof.slice(0, 1) },
    { publicKey, alpha: { data, width: 0 }, proof },
    { publicKey, alpha: { data, width: 7 }, proof },
  ];
  for (const columns of malformed) fails('malformed', 'input.column', () => vrf.verifyMany(suite, columns));
  fails('malformed', 'usage.arguments', () => vrf.verifyMany(suite, { publicKey, alpha, proofs: proof }));
  fails('malformed', 'usage.arguments', () => vrf.verifyMany(suite, undefined));
  fails('malformed', 'input.suite', () => vrf.verifyMany('md5', { publicKey, alpha, proof }));
});

test('wrong types and values', () => {
  const key = new vrf.SecretKey('draft03-cardano', new Uint8Array(32));
  const proof = key.prove(new Uint8Array());
  for (const wrong of NOT_BYTES) {
    const usage = (work) => fails('malformed', 'usage.arguments', work);
    usage(() => vrf.verify('draft03-cardano', wrong, proof, proof));
    usage(() => vrf.verify('draft03-cardano', key.publicKey, wrong, proof));
    usage(() => vrf.verify('draft03-cardano', key.publicKey, proof, wrong));
    usage(() => key.prove(wrong));
    usage(() => new vrf.SecretKey('draft03-cardano', wrong));
    usage(() => vrf.proofToHash('draft03-cardano', wrong));
    if (typeof wrong !== 'string') usage(() => vrf.verify(wrong, key.publicKey, proof, proof));
  }
  fails('malformed', 'input.suite', () => vrf.SecretKey.generate('md5'));
  fails('malformed', 'input.length', () => new vrf.SecretKey('draft03-cardano', new Uint8Array(31)));
  assert.throws(() => vrf.validateKey('draft03-cardano', new Uint8Array(32)), { kind: 'malformed' });
  const buffer = Buffer.from('slot');
  assert.equal(toHex(key.prove(buffer)), toHex(key.prove(utf8('slot'))));
  class Liar extends Uint8Array { get length() { return 2 ** 31; } }
  assert.equal(toHex(key.prove(new Liar(buffer))), toHex(key.prove(buffer)));
  key.free();
  key.free();
  fails('malformed', 'usage.arguments', () => key.prove(buffer));
});
