import assert from 'node:assert/strict';
import test from 'node:test';
import { NOT_BYTES, fails, fromHex, toHex, utf8, vdf, vector } from './package.mjs';

test('known answers', () => {
  const { x, cases } = JSON.parse(vector('vdf/rsa2048_squaring.json'));
  for (const { t, y } of cases.filter((known) => known.t <= 12)) {
    assert.equal(toHex(vdf.evaluate('rsa2048', fromHex(x), 2 ** t, { raw: true })), y);
  }
  for (const known of JSON.parse(vector('vdf/seeds.json')).cases) {
    const element = vdf.hashToElement(known.modulus, fromHex(known.seed_hex), BigInt(known.iterations));
    assert.equal(toHex(element), known.x);
  }
});

test('proofs of each system', () => {
  for (const system of ['wesolowski', 'n-wesolowski', 'pietrzak']) {
    const { y, proof } = vdf.prove('rsa2048', utf8('input'), 2000, { system });
    assert.equal(y.length, 256);
    vdf.verify(proof, 'rsa2048', utf8('input'), 2000, { y });
    vdf.verify(proof, vdf.modulusBytes('rsa2048'), utf8('input'), 2000n);
    const other = (work) => fails('verification', 'verification.other_statement', work);
    other(() => vdf.verify(proof, 'rsa2048', utf8('other'), 2000));
    other(() => vdf.verify(proof, 'rsa2048', utf8('input'), 2001));
    const bad = proof.slice();
    bad[bad.length - 1] ^= 1;
    assert.throws(() => vdf.verify(bad, 'rsa2048', utf8('input'), 2000), { name: 'TetralithError' });
    for (const cut of [new Uint8Array(), proof.slice(0, -1)]) {
      assert.throws(() => vdf.verify(cut, 'rsa2048', utf8('input'), 2000), { kind: 'malformed' });
    }
  }
  assert.deepEqual(vdf.evaluate('rsa2048', utf8('input'), 2000), vdf.prove('rsa2048', utf8('input'), 2000).y);
});

test('time-locks', () => {
  const sealed = vdf.seal(utf8('later'), { iterations: 3000, bits: 512 });
  assert.equal(vdf.sealedIterations(sealed), 3000n);
  assert.equal(new TextDecoder().decode(vdf.open(sealed)), 'later');
  const bad = sealed.slice();
  bad[bad.length - 1] ^= 1;
  fails('verification', 'verification.failed', () => vdf.open(bad));
  assert.throws(() => vdf.open(sealed.slice(0, 20)), { kind: 'malformed' });
});

test('progress is told and can stop the work', () => {
  const steps = [];
  vdf.evaluate('rsa2048', utf8('x'), 70_000, { progress: (done, total) => { steps.push([done, total]); } });
  assert.deepEqual(steps.at(-1), [70_000, 70_000]);
  assert.ok(steps.length > 2, `told ${steps.length} times`);
  fails('environment', 'interrupted', () => vdf.evaluate('rsa2048', utf8('x'), 2 ** 40, { progress: () => false }));
  const thrown = new Error('enough');
  const progress = () => { throw thrown; };
  assert.throws(() => vdf.prove('rsa2048', utf8('x'), 2 ** 24, { progress }), (error) => error === thrown);
});

test('moduli and wrong arguments', () => {
  const n = BigInt(`0x${toHex(vdf.modulusBytes('rsa2048'))}`);
  assert.deepEqual(vdf.evaluate(n, utf8('s'), 4), vdf.evaluate('rsa2048', utf8('s'), 4));
  for (const bad of [0n, 1n, 4n, 3n << 80n, new Uint8Array(), 'ff'.repeat(2000)]) {
    assert.throws(() => vdf.evaluate(bad, utf8('s'), 1), { name: 'TetralithError', kind: 'malformed' });
  }
  const usage = (work) => fails('malformed', 'usage.arguments', work);
  for (const bad of [-1, 1.5, NaN, 2n ** 64n, -1n, '7', undefined, null, Infinity, 2 ** 60]) {
    usage(() => vdf.evaluate('rsa2048', utf8('s'), bad));
    usage(() => vdf.seal(utf8('s'), { iterations: bad }));
  }
  for (const bad of [undefined, null, 7, true, -1n, {}]) usage(() => vdf.evaluate(bad, utf8('s'), 1));
  for (const bad of NOT_BYTES) {
    usage(() => vdf.evaluate('rsa2048', bad, 1));
    usage(() => vdf.open(bad));
    usage(() => vdf.verify(bad, 'rsa2048', utf8('s'), 1));
  }
  usage(() => vdf.prove('rsa2048', utf8('s'), 1, { system: 'magic' }));
  usage(() => vdf.prove('rsa2048', utf8('s'), 1, { sytem: 'pietrzak' }));
  usage(() => vdf.prove('rsa2048', utf8('s'), 1, { memory: 2 ** 40 }));
  usage(() => vdf.evaluate('rsa2048', utf8('s'), 1, { progress: 'yes' }));
  usage(() => vdf.evaluate('rsa2048', utf8('s'), 1, { raw: 1 }));
  assert.throws(() => vdf.seal(utf8('s'), { iterations: 1, bits: 7 }), { kind: 'malformed' });
});
