// The package under test, which the environment names, and the vectors.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';

const folder = process.env.TETRALITH_PACKAGE;
if (folder === undefined) throw new Error('set TETRALITH_PACKAGE to the folder of the package');

export const packageUrl = pathToFileURL(`${folder}/`);
export const load = (name) => import(new URL(name, packageUrl));
export const { vrf, xmss, vdf, tss, TetralithError } = await load('index.js');

export const vectorsUrl = new URL('../../../vectors/', import.meta.url);
export const vector = (name) => readFileSync(new URL(name, vectorsUrl), 'utf8');
export const fromHex = (digits) => Uint8Array.from(Buffer.from(digits, 'hex'));
export const toHex = (bytes) => Buffer.from(bytes).toString('hex');
export const utf8 = (text) => new TextEncoder().encode(text);

/** Asserts that a call throws the package's error of a kind and with a code. */
export function fails(kind, code, work) {
  assert.throws(work, (error) => {
    assert.ok(error instanceof TetralithError, `${error?.stack ?? error}`);
    assert.deepEqual([error.kind, error.code], [kind, code], error.message);
    assert.notEqual(error.message, '');
    return true;
  });
}

/** What no argument may be: each gives a typed error, never zeros and never a trap. */
export const NOT_BYTES = [
  undefined, null, 7, 7n, 'text', true, Symbol('s'), [1, 2], {}, { length: 32 }, new ArrayBuffer(4),
  new Uint16Array(4), new DataView(new ArrayBuffer(4)), () => 0,
];
