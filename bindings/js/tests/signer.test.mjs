import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { TetralithError, toHex, utf8, xmss } from './package.mjs';

const PARAMS = 'XMSS-SHA2_10_256';

async function fails(kind, code, promise) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof TetralithError, `${error?.stack ?? error}`);
    assert.deepEqual([error.kind, error.code], [kind, code], error.message);
    return true;
  });
}

async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), 'tetralith-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a key signs with a state in a folder, from several signers at once', () => inFolder(async (folder) => {
  const store = await xmss.folderStore(join(folder, 'states'));
  const signer = await xmss.Signer.create(PARAMS, store);
  const again = await xmss.Signer.open(signer.exposeSecret(), await xmss.folderStore(join(folder, 'states')));
  const messages = Array.from({ length: 6 }, (_, i) => utf8(`message ${i}`));
  const signatures = await Promise.all(messages.map((message, i) => (i % 2 ? signer : again).sign(message)));
  messages.forEach((message, i) => signer.publicKey.verify(message, signatures[i]));
  const indices = signatures.map((signature) => signer.publicKey.signatureIndex(signature));
  assert.deepEqual([...indices].sort(), [0n, 1n, 2n, 3n, 4n, 5n]);
  assert.deepEqual((await readdir(store.place.split(' ').at(-1))).filter((name) => !name.endsWith('.state')), []);
  signer.free();
  await fails('malformed', 'usage.arguments', signer.sign(utf8('freed')));
}));

test('the index is on the disk before the signature is seen', () => inFolder(async (folder) => {
  const inner = await xmss.folderStore(folder);
  const events = [];
  const store = { ...inner, commit: async (...all) => { await inner.commit(...all); events.push('committed'); } };
  const signer = await xmss.Signer.create(PARAMS, store);
  await signer.sign(utf8('one')).then(() => events.push('signed'));
  assert.deepEqual(events, ['committed', 'committed', 'signed']);
}));

test('a commit that fails gives no signature, and its index is never used', () => inFolder(async (folder) => {
  const inner = await xmss.folderStore(folder);
  let broken = false;
  const store = { ...inner, commit: async (...all) => {
    // The worst case: the record is durable, and its writer does not hear so.
    await inner.commit(...all);
    if (broken) throw new Error('disk');
  } };
  const signer = await xmss.Signer.create(PARAMS, store);
  await signer.sign(utf8('0'));
  broken = true;
  await assert.rejects(signer.sign(utf8('1')), /disk/);
  broken = false;
  await fails('state', 'state.unknown', signer.sign(utf8('2')));
  const again = await xmss.Signer.open(signer.exposeSecret(), inner);
  const signature = await again.sign(utf8('3'));
  assert.equal(again.publicKey.signatureIndex(signature), 2n);
}));

test('lost, copied, old and damaged states refuse', () => inFolder(async (folder) => {
  const states = join(folder, 'states');
  const store = await xmss.folderStore(states);
  const signer = await xmss.Signer.create(PARAMS, store);
  const secret = signer.exposeSecret();
  const [name] = await readdir(states);
  const old = await readFile(join(states, name));
  await signer.sign(utf8('one'));
  const newer = await readFile(join(states, name));
  assert.notEqual(toHex(old), toHex(newer));

  await cp(states, join(folder, 'copy'), { recursive: true });
  const copy = await xmss.folderStore(join(folder, 'copy'));
  await fails('state', 'state.copied', xmss.Signer.open(secret, copy));
  await fails('state', 'state.missing', xmss.Signer.open(secret, await xmss.folderStore(join(folder, 'empty'))));

  await writeFile(join(states, name), old);
  await fails('state', 'state.rolled_back', signer.sign(utf8('rolled back')));

  await writeFile(join(states, name), newer.subarray(1));
  await fails('state', 'state.damaged', xmss.Signer.open(secret, store));
  await rm(join(states, name));
  const fresh = await xmss.Signer.create(PARAMS, store);
  await rm(join(states, (await readdir(states))[0]));
  await fails('state', 'state.missing', fresh.sign(utf8('lost')));

  const restored = await xmss.Signer.restore(secret, store, 7);
  const signature = await restored.sign(utf8('restored'));
  assert.equal(restored.publicKey.signatureIndex(signature), 7n);
  await fails('state', 'state.backward', xmss.Signer.restore(secret, store, 3));
}));

test('wrong arguments', () => inFolder(async (folder) => {
  const store = await xmss.folderStore(folder);
  await fails('malformed', 'xmss.params', xmss.Signer.create('XMSS', store));
  await fails('malformed', 'usage.arguments', xmss.Signer.create(PARAMS, {}));
  await fails('malformed', 'usage.arguments', xmss.Signer.create(PARAMS, undefined));
  await assert.rejects(xmss.Signer.open(new Uint8Array(7), store), { kind: 'malformed' });
  await fails('environment', 'io.file', xmss.folderStore('/dev/null/states'));
  assert.throws(() => xmss.browserStore(), { code: 'environment.store' });
  assert.throws(() => new xmss.Signer(), TypeError);
}));
