import * as wasm from './wasm/vrf.js';
import { byColumns } from './columns.js';
import { TetralithError, bytes, call, text } from './errors.js';
import { load } from './load.js';

await load(wasm, new URL('./wasm/vrf_bg.wasm', import.meta.url));

export const SUITES = Object.freeze(wasm.suites());

const MADE = Symbol('made by this module');

export class SecretKey {
  #key;

  constructor(suite, secret, made) {
    this.#key = made === MADE ? secret
      : call(() => wasm.SecretKey.fromBytes(text(suite, 'suite'), bytes(secret, 'secret')));
  }

  static generate(suite) {
    return new SecretKey(suite, call(() => wasm.SecretKey.generate(text(suite, 'suite'))), MADE);
  }

  get suite() {
    return this.#open().suite();
  }

  get publicKey() {
    return this.#open().publicKey();
  }

  exposeBytes() {
    return this.#open().exposeBytes();
  }

  prove(alpha) {
    const key = this.#open();
    return call(() => key.prove(bytes(alpha, 'alpha')));
  }

  free() {
    this.#key?.free();
    this.#key = undefined;
  }

  #open() {
    if (this.#key === undefined) {
      throw new TetralithError('malformed', 'usage.arguments', 'the key was freed');
    }
    return this.#key;
  }
}

export function verify(suite, publicKey, alpha, proof) {
  return call(() => wasm.vrfVerify(
    text(suite, 'suite'), bytes(publicKey, 'publicKey'), bytes(alpha, 'alpha'), bytes(proof, 'proof')));
}

export function proofToHash(suite, proof) {
  return call(() => wasm.proofToHash(text(suite, 'suite'), bytes(proof, 'proof')));
}

export function validateKey(suite, publicKey) {
  call(() => wasm.validateKey(text(suite, 'suite'), bytes(publicKey, 'publicKey')));
}

export function verifyMany(suite, columns) {
  text(suite, 'suite');
  return byColumns(['publicKey', 'alpha', 'proof'], columns, (parts) => call(() => wasm.verifyMany(suite, ...parts)));
}
