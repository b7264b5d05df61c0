import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { NOT_BYTES, fails, fromHex, toHex, utf8, vector, vectorsUrl, xmss } from './package.mjs';

function liboqs(name) {
  const lines = vector(`xmss/liboqs/${name}`).split('\n').filter((line) => line.includes(' = '));
  const fields = new Map(lines.map((line) => line.split(' = ')));
  const [key, message, signature] = ['pk', 'msg', 'sm'].map((field) => fromHex(fields.get(field).trim()));
  return [xmss.PublicKey.fromBytes(key, { multiTree: name.startsWith('XMSSMT') }), message, signature];
}

test('signatures of liboqs', () => {
  const names = readdirSync(new URL('xmss/liboqs', vectorsUrl)).filter((name) => name.endsWith('.rsp'));
  assert.equal(names.length, 37);
  for (const name of names) {
    const [key, message, signature] = liboqs(name);
    key.verify(message, signature);
    assert.equal(signature.length, key.signatureSize);
    assert.ok(key.signatureIndex(signature) >= 0n);
    fails('verification', 'verification.failed', () => key.verify(Uint8Array.of(...message, 1), signature));
    for (const cut of [new Uint8Array(), signature.slice(1)]) {
      fails('malformed', 'input.length', () => key.verify(message, cut));
    }
  }
});

test('columns', () => {
  const [key, message, signature] = liboqs('XMSS-SHA2_10_256.rsp');
  const [other, text, proof] = liboqs('XMSS-SHAKE_10_256.rsp');
  const data = key.toBytes();
  const rows = [
    [data, message, signature, 1], [data, signature, signature, 0], [other.toBytes(), text, proof, 1],
    [data, text, proof, 0], [data.slice(1), message, signature, 0], [data, message, signature.slice(1), 0],
    [other.toBytes(), text, proof, 1],
  ];
  const [publicKey, messages, signatures, expected] = [0, 1, 2, 3].map((i) => rows.map((row) => row[i]));
  const columns = { publicKey, message: messages, signature: signatures };
  assert.deepEqual([...xmss.verifyMany(columns)], expected);
  assert.deepEqual([...xmss.verifyMany(columns, { multiTree: true })], expected.map(() => 0));
  const width = signature.length;
  const wide = { data: Uint8Array.of(...signature, ...signature.slice(1), 7), width };
  assert.deepEqual([...xmss.verifyMany({ publicKey: data, message, signature: wide })], [1, 0]);
  const [tall, words, sealed] = liboqs('XMSSMT-SHA2_20-2_256.rsp');
  const one = { publicKey: tall.toBytes(), message: words, signature: sealed };
  assert.deepEqual([...xmss.verifyMany(one, { multiTree: true })], [1]);
  const many = Array.from({ length: 1030 }, () => signature.slice(1));
  many[1027] = signature;
  const verdicts = xmss.verifyMany({ publicKey: data, message, signature: many });
  assert.deepEqual([verdicts.length, verdicts.indexOf(1), verdicts.lastIndexOf(1)], [1030, 1027, 1027]);
  fails('malformed', 'input.column', () => xmss.verifyMany({ ...columns, message: messages.slice(1) }));
  for (const wrong of NOT_BYTES.filter((value) => !Array.isArray(value) && value?.length === undefined)) {
    fails('malformed', 'usage.arguments', () => xmss.verifyMany({ ...columns, signature: wrong }));
  }
});

test('encodings', () => {
  const [key] = liboqs('XMSS-SHA2_10_256.rsp');
  for (const again of [
    xmss.PublicKey.fromPem(key.toPem()), xmss.PublicKey.fromDer(key.toDer()), xmss.PublicKey.fromBytes(key.toBytes()),
  ]) assert.deepEqual(again.toBytes(), key.toBytes());
  assert.equal(key.params, 'XMSS-SHA2_10_256');
  assert.ok(xmss.PARAMS.includes(key.params));
  assert.throws(() => key.toQrl(), { name: 'TetralithError', kind: 'malformed' });
  fails('malformed', 'input.length', () => xmss.PublicKey.fromBytes(key.toBytes().slice(0, -1)));
  assert.throws(() => xmss.PublicKey.fromPem('-----BEGIN NOTHING-----'), { kind: 'malformed' });
  assert.throws(() => xmss.PublicKey.fromDer(new Uint8Array(40)), { kind: 'malformed' });
});

test('addresses and signatures of QRL', () => {
  const data = fromHex(`010500${'11'.repeat(64)}`);
  const key = xmss.PublicKey.fromQrl(data);
  const address = key.qrlAddress();
  assert.deepEqual(key.toQrl(), data);
  assert.ok(address.startsWith('Q010500') && address.length === 79);
  assert.ok(xmss.qrlAddressIsValid(address));
  assert.ok(!xmss.qrlAddressIsValid(address.slice(0, -1) + (address.endsWith('0') ? '1' : '0')));
  assert.ok(!xmss.qrlAddressIsValid('Q'));
  assert.throws(() => xmss.PublicKey.fromQrl(data.slice(1)), { kind: 'malformed' });
});

test('hash functions', () => {
  for (const data of ['', 'abc', 'x'.repeat(1000)].map(utf8)) {
    assert.equal(toHex(xmss.sha256(data)), createHash('sha256').update(data).digest('hex'));
    for (const length of [1, 32, 168, 500]) {
      const expected = (name) => createHash(name, { outputLength: length }).update(data).digest('hex');
      assert.equal(toHex(xmss.shake128(length, data)), expected('shake128'));
      assert.equal(toHex(xmss.shake256(length, data)), expected('shake256'));
    }
  }
  assert.equal(xmss.shake128(0, utf8('')).length, 0);
  for (const length of [-1, 1.5, 2 ** 30, '32', undefined, NaN]) {
    fails('malformed', 'usage.arguments', () => xmss.shake128(length, utf8('')));
  }
});

test('wrong types', () => {
  const [key, message, signature] = liboqs('XMSS-SHA2_10_256.rsp');
  for (const wrong of NOT_BYTES) {
    const usage = (work) => fails('malformed', 'usage.arguments', work);
    usage(() => key.verify(wrong, signature));
    usage(() => key.verify(message, wrong));
    usage(() => xmss.PublicKey.fromBytes(wrong));
    usage(() => xmss.PublicKey.fromQrl(wrong));
    usage(() => xmss.sha256(wrong));
    if (typeof wrong !== 'string') usage(() => xmss.qrlAddressIsValid(wrong));
  }
});
