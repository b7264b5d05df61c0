// The store for browsers, in a browser: two pages at once, a page that is killed, a browser that is killed.
import assert from 'node:assert/strict';
import test from 'node:test';
import { served, withBrowsers } from './browser.mjs';

const PARAMS = 'XMSS-SHA2_10_256';

/** Makes a key in the page; answers its secret. */
async function create(params) {
  const xmss = await import('/xmss.js');
  globalThis.signer = await xmss.Signer.create(params, xmss.browserStore());
  return Array.from(signer.exposeSecret());
}

async function open(secret) {
  const xmss = await import('/xmss.js');
  globalThis.signer = await xmss.Signer.open(Uint8Array.from(secret), xmss.browserStore());
}

/** Signs some messages at once; answers the indices of valid signatures. */
async function sign(page, messages) {
  const made = Array.from({ length: messages }, async (_, i) => {
    const message = new TextEncoder().encode(`message ${i} of ${page}`);
    const signature = await signer.sign(message);
    signer.publicKey.verify(message, signature);
    return Number(signer.publicKey.signatureIndex(signature));
  });
  return Promise.all(made);
}

const ascending = (a, b) => a - b;
const upTo = (count) => Array.from({ length: count }, (_, i) => i);

test('two pages take indices at once', () => served((url) => withBrowsers(async (start) => {
  const browser = await start();
  await browser.open(url);
  const first = await browser.page();
  const secret = await browser.run(create, PARAMS);
  const second = await browser.newPage();
  await browser.to(second);
  await browser.open(url);
  await browser.run(open, secret);
  // A third page tells both to begin, so that neither waits for the other's signatures.
  const begin = `async (page) => {
    const go = new Promise((resolve) => {
      globalThis.channel = new BroadcastChannel('go');
      channel.onmessage = resolve;
    });
    globalThis.signed = go.then(() => (${sign})(page, 20));
  }`;
  await browser.run(begin, 'second');
  await browser.to(first);
  await browser.run(begin, 'first');
  await browser.to(await browser.newPage());
  await browser.open(url);
  await browser.run(async () => new BroadcastChannel('go').postMessage('go'));
  const shares = [];
  for (const page of [first, second]) {
    await browser.to(page);
    shares.push(await browser.run(async () => signed));
  }
  assert.deepEqual(shares.flat().sort(ascending), upTo(40));
})));

test('a page that is closed while it signs blocks nobody, and its index is not used again', () => served((url) =>
  withBrowsers(async (start) => {
    const browser = await start();
    await browser.open(url);
    const first = await browser.page();
    const secret = await browser.run(create, PARAMS);
    await browser.to(await browser.newPage());
    await browser.open(url);
    // The index is durable, the lock is held, and the signature will never be made.
    await browser.run(async (bytes) => {
      const xmss = await import('/xmss.js');
      const inner = xmss.browserStore();
      await new Promise((resolve, reject) => {
        const store = { ...inner, commit: async (...all) => {
          await inner.commit(...all);
          resolve();
          await new Promise(() => undefined);
        } };
        xmss.Signer.open(Uint8Array.from(bytes), store)
          .then((stuck) => stuck.sign(new Uint8Array(1))).catch(reject);
      });
    }, secret);
    const second = await browser.page();
    await browser.to(first);
    await browser.run(`async () => { globalThis.signed = (${sign})('first', 3); }`);
    const early = await browser.run(async () => Promise.race([
      signed, new Promise((resolve) => { setTimeout(() => resolve('waits'), 500); })]));
    assert.equal(early, 'waits');
    await browser.to(second);
    await browser.closePage();
    await browser.to(first);
    assert.deepEqual((await browser.run(async () => signed)).sort(ascending), [1, 2, 3]);
  })));

test('what was committed is there after the browser is killed', () => served((url) =>
  withBrowsers(async (start) => {
    const before = await start();
    await before.open(url);
    const secret = await before.run(create, PARAMS);
    assert.deepEqual((await before.run(sign, 'before', 5)).sort(ascending), upTo(5));
    await before.crash();
    const after = await start();
    await after.open(url);
    await after.run(open, secret);
    assert.deepEqual((await after.run(sign, 'after', 2)).sort(ascending), [5, 6]);
  })));

test('lost, changed and foreign states refuse', () => served((url) => withBrowsers(async (start) => {
  const browser = await start();
  await browser.open(url);
  const secret = await browser.run(create, PARAMS);
  const codes = await browser.run(async (bytes) => {
    const xmss = await import('/xmss.js');
    const key = Uint8Array.from(bytes);
    const found = [];
    const code = async (work) => found.push(await work().then(() => 'none', (error) => `${error.kind} ${error.code}`));
    await code(() => xmss.Signer.open(key, xmss.browserStore('another')));
    const store = xmss.browserStore();
    const records = new Map();
    const spy = { ...store, commit: async (id, expected, record) => {
      records.set(id, expected);
      return store.commit(id, expected, record);
    } };
    const signer = await xmss.Signer.open(key, spy);
    await signer.sign(new Uint8Array(1));
    const [[id, old]] = records;
    await code(() => store.commit(id, old, old));
    const newest = await store.load(id);
    await store.commit(id, newest, old);
    await code(() => signer.sign(new Uint8Array(2)));
    await store.commit(id, old, old.subarray(1));
    await code(() => xmss.Signer.open(key, store));
    await new Promise((resolve) => { indexedDB.deleteDatabase('tetralith-xmss').onsuccess = resolve; });
    await code(() => signer.sign(new Uint8Array(3)));
    return found;
  }, secret);
  assert.deepEqual(codes, [
    'state state.missing', 'state state.conflict', 'state state.rolled_back', 'state state.damaged', 'state state.missing',
  ]);
})));

test('the same in a worker', () => served((url) => withBrowsers(async (start) => {
  const browser = await start();
  await browser.open(url);
  const secret = await browser.run(create, PARAMS);
  const index = await browser.run(async (bytes) => {
    const text = `const xmss = await import('${location.origin}/xmss.js');
      onmessage = async ({ data }) => {
        const signer = await xmss.Signer.open(data, xmss.browserStore());
        const signature = await signer.sign(new Uint8Array(1));
        postMessage(Number(signer.publicKey.signatureIndex(signature)));
      };
      postMessage('ready');`;
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' });
    const next = () => new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = reject;
    });
    await next();
    worker.postMessage(Uint8Array.from(bytes));
    return next();
  }, secret);
  assert.equal(index, 0);
  assert.deepEqual(await browser.run(sign, 'page', 1), [1]);
})));
