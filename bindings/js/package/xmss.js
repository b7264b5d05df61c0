import * as wasm from './wasm/xmss.js';
import { byColumns } from './columns.js';
import { TetralithError, bytes, call, count, integer, options, text, wrong } from './errors.js';
import { load } from './load.js';

await load(wasm, new URL('./wasm/xmss_bg.wasm', import.meta.url));

const MADE = Symbol('made by this module');

export const PARAMS = Object.freeze(wasm.params());

export class PublicKey {
  #key;

  constructor(key) {
    // Of the module, by one of the functions below.
    if (!(key instanceof wasm.PublicKey)) throw new TypeError('use PublicKey.fromBytes, fromPem, fromDer or fromQrl');
    this.#key = key;
  }

  static fromBytes(data, given) {
    const { multiTree = false } = options(given, ['multiTree']);
    return new PublicKey(call(() => wasm.PublicKey.fromBytes(bytes(data, 'data'), multiTree === true)));
  }

  static fromPem(pem) {
    return new PublicKey(call(() => wasm.PublicKey.fromPem(text(pem, 'pem'))));
  }

  static fromDer(der) {
    return new PublicKey(call(() => wasm.PublicKey.fromDer(bytes(der, 'der'))));
  }

  static fromQrl(data) {
    return new PublicKey(call(() => wasm.PublicKey.fromQrl(bytes(data, 'data'))));
  }

  get params() {
    return this.#key.params();
  }

  get signatureSize() {
    return this.#key.signatureSize();
  }

  toBytes() {
    return this.#key.toBytes();
  }

  toPem() {
    return call(() => this.#key.toPem());
  }

  toDer() {
    return call(() => this.#key.toDer());
  }

  toQrl() {
    return call(() => this.#key.toQrl());
  }

  qrlAddress() {
    return call(() => this.#key.qrlAddress());
  }

  verify(message, signature) {
    call(() => this.#key.verify(bytes(message, 'message'), bytes(signature, 'signature')));
  }

  signatureIndex(signature) {
    return call(() => this.#key.signatureIndex(bytes(signature, 'signature')));
  }
}

export function verifyMany(columns, given) {
  const { multiTree = false } = options(given, ['multiTree']);
  return byColumns(['publicKey', 'message', 'signature'], columns,
    (parts) => call(() => wasm.xmssVerifyMany(multiTree === true, ...parts)));
}

export function qrlAddressIsValid(address) {
  return wasm.qrlAddressIsValid(text(address, 'address'));
}

const MAX_OUTPUT = 2 ** 24;

export function sha256(data) {
  return call(() => wasm.sha256(bytes(data, 'data')));
}

export function shake128(length, data) {
  return call(() => wasm.shake128(integer(length, 'length', 0, MAX_OUTPUT), bytes(data, 'data')));
}

export function shake256(length, data) {
  return call(() => wasm.shake256(integer(length, 'length', 0, MAX_OUTPUT), bytes(data, 'data')));
}

export { browserStore, folderStore } from './stores.js';

const seconds = () => Math.floor(Date.now() / 1000);

/** A store is what the caller gives: its functions are asked for before anything is made. */
function checked(store) {
  for (const name of ['lock', 'load', 'commit']) {
    if (typeof store?.[name] !== 'function') wrong('store', store, 'a store, such as browserStore()');
  }
  text(store.place, 'store.place');
  return store;
}

const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, '0')).join('');

export class Signer {
  #keeper;
  #store;
  #id;
  #publicKey;

  constructor(made, keeper, store) {
    if (made !== MADE) throw new TypeError('use Signer.create, Signer.open or Signer.restore');
    this.#keeper = keeper;
    this.#store = store;
    this.#id = hex(keeper.keyId());
    this.#publicKey = new PublicKey(keeper.publicKey());
  }

  static async create(params, store) {
    checked(store);
    const keeper = call(() => wasm.Keeper.generate(text(params, 'params'), store.place, seconds()));
    return Signer.#committed(keeper, store, undefined);
  }

  static async open(secret, store) {
    checked(store);
    const id = hex(call(() => wasm.keyIdOfSecret(bytes(secret, 'secret'))));
    const record = await store.load(id);
    return new Signer(MADE, call(() => wasm.Keeper.open(bytes(secret, 'secret'), store.place, record)), store);
  }

  static async restore(secret, store, next) {
    checked(store);
    const [whole, from] = [bytes(secret, 'secret').slice(), count(next, 'next')];
    const id = hex(call(() => wasm.keyIdOfSecret(whole)));
    return store.lock(id, async () => {
      const record = await store.load(id);
      const keeper = call(() => wasm.Keeper.restore(whole, store.place, record, from, seconds()));
      await store.commit(id, record, keeper.record());
      return new Signer(MADE, keeper, store);
    });
  }

  static async #committed(keeper, store, before) {
    const signer = new Signer(MADE, keeper, store);
    await store.lock(signer.#id, () => store.commit(signer.#id, before, keeper.record()));
    return signer;
  }

  get publicKey() { return this.#publicKey; }
  get remaining() { return this.#opened().left(); }

  exposeSecret() { return this.#opened().exposeSecret(); }

  async sign(message) {
    const whole = bytes(message, 'message').slice();
    this.#opened();
    return this.#store.lock(this.#id, async () => {
      const keeper = this.#opened();
      const before = await this.#store.load(this.#id);
      if (before === undefined) {
        const lost = 'the store has no state for this key any more';
        const hint = 'call Signer.restore with an index above every one that was used';
        throw new TetralithError('state', 'state.missing', lost, hint);
      }
      const after = call(() => keeper.lease(before, seconds()));
      await this.#store.commit(this.#id, before, after);
      keeper.confirm();
      return call(() => keeper.sign(whole, seconds()));
    });
  }

  free() {
    this.#keeper?.free();
    this.#keeper = undefined;
  }

  #opened() {
    if (this.#keeper === undefined) {
      throw new TetralithError('malformed', 'usage.arguments', 'the signer was freed');
    }
    return this.#keeper;
  }
}
