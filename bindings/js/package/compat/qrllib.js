// The names and results of npm's `qrllib` and of QRL's `pyqrllib`, over `tetralith/xmss`.
import * as wasm from '../wasm/xmss.js';
import { TetralithError, bytes, call, integer, text, wrong } from '../errors.js';
import { sha256, shake128 as shake128Of, shake256 as shake256Of } from '../xmss.js';

/** A list of bytes with the methods of Emscripten's vectors. */
export class Uint8Vector {
  #bytes;

  constructor(values = []) {
    this.#bytes = Array.from(values, byte);
  }

  push_back(value) { this.#bytes.push(byte(value)); }
  resize(length, value) {
    integer(length, 'length', 0, 2 ** 28);
    while (this.#bytes.length < length) this.#bytes.push(byte(value));
    this.#bytes.length = length;
  }
  size() { return this.#bytes.length; }
  get(index) { return this.#bytes[index]; }
  set(index, value) {
    if (!(index in this.#bytes)) return false;
    this.#bytes[index] = byte(value);
    return true;
  }
  toUint8Array() { return Uint8Array.from(this.#bytes); }
  [Symbol.iterator]() { return this.#bytes[Symbol.iterator](); }
  delete() { this.#bytes.fill(0); this.#bytes.length = 0; }
}

const byte = (value) => integer(value, 'a byte', 0, 255);

/** The bytes of a vector, a list or a `Uint8Array`. */
function data(value, name) {
  if (value instanceof Uint8Vector) return value.toUint8Array();
  if (Array.isArray(value)) return Uint8Array.from(value, byte);
  return bytes(value, name);
}

const malformed = (code, message) => { throw new TetralithError('malformed', code, message); };

const named = (entries) => Object.freeze(Object.fromEntries(
  entries.map(([name, value]) => [name, Object.freeze({ value, valueOf: () => value })])));

export const eHashFunction = named([['SHA2_256', 0], ['SHAKE_128', 1], ['SHAKE_256', 2]]);
export const eSignatureType = named([['XMSS', 0]]);
export const eAddrFormatType = named([['SHA256_2X', 0]]);
export const { SHA2_256, SHAKE_128, SHAKE_256 } = eHashFunction;

const valueOf = (constant, known, name) => {
  const found = Object.values(known).find((each) => each === constant || each.value === constant);
  return found === undefined ? wrong(name, constant, `one of ${Object.keys(known).join(', ')}`) : found.value;
};

export function bin2hstr(value) {
  return Array.from(data(value, 'data'), (each) => each.toString(16).padStart(2, '0')).join('');
}

export function hstr2bin(digits) {
  if (!/^([0-9a-fA-F]{2})*$/.test(text(digits, 'digits'))) {
    malformed('input.hex', 'expected an even number of hexadecimal digits');
  }
  return new Uint8Vector((digits.match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
}

export const str2bin = (value) => new Uint8Vector(new TextEncoder().encode(text(value, 'value')));
export const sha2_256 = (value) => new Uint8Vector(sha256(data(value, 'data')));
export const shake128 = (length, value) => new Uint8Vector(shake128Of(length, data(value, 'data')));
export const shake256 = (length, value) => new Uint8Vector(shake256Of(length, data(value, 'data')));
export const bin2mnemonic = (value) => call(() => wasm.wordsOfBytes(data(value, 'data')));
export const mnemonic2bin = (words) => new Uint8Vector(call(() => wasm.bytesOfWords(text(words, 'mnemonic'))));

/** Random bytes of the environment; `entropy`, which pyqrllib mixes in, is hashed with them. */
export function getRandomSeed(size = 48, entropy = '') {
  const random = crypto.getRandomValues(new Uint8Array(integer(size, 'size', 1, 65536)));
  if (entropy === '') return new Uint8Vector(random);
  const added = new TextEncoder().encode(text(entropy, 'entropy'));
  return new Uint8Vector(shake256Of(size, Uint8Array.of(...random, ...added)));
}

export const getAddressRaw = (key) => new Uint8Vector(call(() => wasm.addressOfKey(data(key, 'epk'))));
export const getAddress = (key) => bin2hstr(getAddressRaw(hstr2bin(key)));

function addressBytes(address) {
  if (text(address, 'address').length < 7) malformed('input.length', 'the address is too short');
  return hstr2bin(address.slice(1)).toUint8Array();
}

export const validateAddress = (address) => validateAddressRaw(addressBytes(address));
export const validateAddressRaw = (address) => wasm.qrlAddressIsValid(`Q${bin2hstr(address)}`);
export const getHashFunction = (address) =>
  Object.values(eHashFunction)[addressBytes(address)[0] & 0x0f] ?? malformed('input.malformed', 'no such hash function');
export const getSignatureType = (address) =>
  addressBytes(address)[0] >> 4 === 0 ? eSignatureType.XMSS : malformed('input.malformed', 'no such signature type');
export const getHeight = (address) => (addressBytes(address)[1] & 0x0f) * 2;

export const QRLHelper = Object.freeze({ getAddress: getAddressRaw, addressIsValid: validateAddressRaw });

let warned = false;

/** Said once, before the first signature. */
function warn() {
  if (warned) return;
  warned = true;
  const message = 'tetralith/compat/qrllib: the next index of an XMSS key is kept in memory only. '
    + 'A second signature of another message at one index is refused in this process; nothing refuses it after '
    + 'a restart or in another process, and two such signatures let anybody forge more. Keep the index durably.';
  if (globalThis.process?.emitWarning) process.emitWarning(message, { code: 'TETRALITH_XMSS_STATE' });
  else console.warn(message);
}

/** Of qrllib's descriptor: SHA2-256 is 0. */
function extended(seed, height, hashFunction) {
  const raw = data(seed, 'seed');
  if (raw.length !== 48) malformed('input.length', `the seed has ${raw.length} bytes, expected 48`);
  if (!Number.isInteger(height) || height < 4 || height > 30 || height % 2 !== 0) {
    malformed('xmss.params', `the height is ${String(height)}, expected an even number from 4 to 30`);
  }
  return Uint8Array.of(valueOf(hashFunction, eHashFunction, 'hashFunction'), height / 2, 0, ...raw);
}

export class Xmss {
  #wallet;
  #seed;
  #index = 0;

  constructor(seed, height, hashFunction = SHAKE_128, addressFormat = eAddrFormatType.SHA256_2X) {
    valueOf(addressFormat, eAddrFormatType, 'addrFormatType');
    const whole = height === undefined ? data(seed, 'extended seed') : extended(seed, height, hashFunction);
    this.#wallet = call(() => wasm.Wallet.fromExtendedSeed(whole));
    this.#seed = whole;
  }

  static fromParameters(seed, height, hashFunction) { return new this(seed, height, hashFunction); }
  static fromHexSeed(digits) { return new this(hstr2bin(digits)); }
  static fromMnemonic(words) { return new this(mnemonic2bin(words)); }
  static verify(message, signature, key) {
    return call(() => wasm.walletVerify(data(message, 'message'), data(signature, 'signature'), data(key, 'pk')));
  }

  getIndex() { return this.#index; }
  getHeight() { return this.#seed[1] * 2; }
  getPKRaw() { return new Uint8Vector(call(() => this.#wallet.publicKey())); }
  getPK() { return bin2hstr(this.getPKRaw()); }
  getAddress() { return call(() => this.#wallet.address()); }
  getAddressRaw() { return hstr2bin(this.getAddress().slice(1)); }
  getHexSeed() { return bin2hstr(this.#seed); }
  getMnemonic() { return bin2mnemonic(this.#seed); }
  getExtendedSeed() { return new Uint8Vector(this.#seed); }
  getSignatureSize() { return 2180 + this.getHeight() * 32; }
  getNumberSignatures() { return this.#wallet.signatures(); }
  getRemainingSignatures() { return this.getNumberSignatures() - this.#index; }

  setIndex(index) {
    this._setIndex(index, this.#index);
    return index;
  }

  /** Sets an index that is not below `least`. */
  _setIndex(index, least) {
    const last = this.#wallet.signatures() - 1;
    if (Number.isInteger(index) && index < least) {
      throw new TetralithError('state', 'state.backward', `cannot rewind from index ${least} to ${index}`);
    }
    this.#index = integer(index, 'index', 0, last);
  }

  /** Signs with the next index, which is spent whatever happens then. */
  sign(message) {
    warn();
    const [index, whole] = [this.#index, data(message, 'message')];
    if (index < this.#wallet.signatures()) this.#index += 1;
    return new Uint8Vector(call(() => this.#wallet.sign(index, whole)));
  }

  delete() {
    this.#wallet.free();
    this.#seed.fill(0);
  }
}

export class XmssFast extends Xmss {}

/** The index may be set back, as qrllib's may; another message at a used index is refused all the same. */
export class XmssBasic extends Xmss {
  constructor(seed, height, hashFunction, addressFormat, w = 16) {
    if (w !== 16) malformed('xmss.params', `the WOTS parameter w is ${String(w)}, and only 16 is supported`);
    super(seed, height, hashFunction, addressFormat);
  }

  static fromParameters(seed, height, hashFunction, addressFormat, w) {
    return new this(seed, height, hashFunction, addressFormat, w);
  }

  static verify(message, signature, key, w = 16) {
    if (w !== 16) malformed('xmss.params', `the WOTS parameter w is ${String(w)}, and only 16 is supported`);
    return Xmss.verify(message, signature, key);
  }

  setIndex(index) {
    this._setIndex(index, 0);
    return index;
  }
}

/** The object with all of it, ready when it is imported; `onRuntimeInitialized` is called when it is set. */
const qrllib = {
  Uint8Vector, eHashFunction, eSignatureType, eAddrFormatType, SHA2_256, SHAKE_128, SHAKE_256,
  bin2hstr, hstr2bin, str2bin, sha2_256, shake128, shake256, bin2mnemonic, mnemonic2bin, getRandomSeed,
  getAddress, getAddressRaw, validateAddress, validateAddressRaw, getHashFunction, getSignatureType, getHeight,
  QRLHelper, Xmss, XmssFast, XmssBasic, calledRun: true,
  set onRuntimeInitialized(ready) { queueMicrotask(ready); },
};
export default qrllib;
