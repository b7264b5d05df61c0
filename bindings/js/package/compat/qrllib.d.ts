/**
 * The names and results of npm's `qrllib` (`Xmss`, `Uint8Vector`, …) and of QRL's `pyqrllib`
 * (`XmssFast`, `QRLHelper`, …).
 *
 * # State
 * As in qrllib, the caller keeps the index of the next signature and sets it after a restart. What this
 * module adds: in one process (one page, one worker), no index of a key signs two different messages,
 * whichever objects ask; the error is `state.used`. What it cannot do: notice the same index in another
 * process, another tab or after a restart. Two messages signed with one index let anybody forge a
 * signature, so commit the index where it survives before you use a signature. A warning says so at the
 * first signature.
 *
 * # Differences
 * WOTS+ parameters other than w = 16 are refused. Failures are `TetralithError`s.
 * @module
 */

type Bytes = Uint8Vector | Uint8Array | readonly number[];

/** A list of bytes with the methods of Emscripten's vectors. */
export class Uint8Vector implements Iterable<number> {
  constructor(values?: Iterable<number>);
  push_back(value: number): void;
  resize(length: number, value: number): void;
  size(): number;
  get(index: number): number | undefined;
  set(index: number, value: number): boolean;
  toUint8Array(): Uint8Array;
  [Symbol.iterator](): Iterator<number>;
  delete(): void;
}

/** A constant of an enumeration. */
export interface Constant { readonly value: number }

export const eHashFunction: { readonly SHA2_256: Constant; readonly SHAKE_128: Constant; readonly SHAKE_256: Constant };
export const eSignatureType: { readonly XMSS: Constant };
export const eAddrFormatType: { readonly SHA256_2X: Constant };
export const SHA2_256: Constant;
export const SHAKE_128: Constant;
export const SHAKE_256: Constant;

export function bin2hstr(data: Bytes): string;
export function hstr2bin(digits: string): Uint8Vector;
export function str2bin(value: string): Uint8Vector;
export function sha2_256(data: Bytes): Uint8Vector;
export function shake128(length: number, data: Bytes): Uint8Vector;
export function shake256(length: number, data: Bytes): Uint8Vector;
export function bin2mnemonic(data: Bytes): string;
export function mnemonic2bin(mnemonic: string): Uint8Vector;
/** Random bytes of the environment; `entropy`, if given, is hashed with them. */
export function getRandomSeed(size?: number, entropy?: string): Uint8Vector;
export function getAddress(epk: string): string;
export function getAddressRaw(epk: Bytes): Uint8Vector;
export function validateAddress(address: string): boolean;
export function validateAddressRaw(address: Bytes): boolean;
export function getHashFunction(address: string): Constant;
export function getSignatureType(address: string): Constant;
export function getHeight(address: string): number;
export const QRLHelper: {
  getAddress(epk: Bytes): Uint8Vector;
  addressIsValid(address: Bytes): boolean;
};

/** A wallet's key. Read the section on state above before you sign. */
export class Xmss {
  /** From a seed of 48 bytes and its parameters, or from an extended seed of 51 bytes alone. */
  constructor(seed: Bytes, height?: number, hashFunction?: Constant | number, addrFormatType?: Constant | number);
  static fromParameters(seed: Bytes, height: number, hashFunction: Constant | number): Xmss;
  static fromHexSeed(digits: string): Xmss;
  static fromMnemonic(words: string): Xmss;
  /** Whether the signature is valid; one that is malformed is not. */
  static verify(message: Bytes, signature: Bytes, pk: Bytes): boolean;
  getIndex(): number;
  /** Sets the index of the next signature, which is not below the present one. */
  setIndex(index: number): number;
  getHeight(): number;
  getPK(): string;
  getPKRaw(): Uint8Vector;
  getAddress(): string;
  getAddressRaw(): Uint8Vector;
  getHexSeed(): string;
  getMnemonic(): string;
  getExtendedSeed(): Uint8Vector;
  getSignatureSize(): number;
  getNumberSignatures(): number;
  getRemainingSignatures(): number;
  /**
   * Signs with the next index, which is spent whatever happens then.
   * @throws {TetralithError} `state.used`, `state.exhausted`
   */
  sign(message: Bytes): Uint8Vector;
  /** Frees and wipes the key. */
  delete(): void;
}

export class XmssFast extends Xmss {}

/** As {@link Xmss}, but the index may be set back. */
export class XmssBasic extends Xmss {
  constructor(seed: Bytes, height: number, hashFunction: Constant | number, addrFormatType?: Constant | number, w?: 16);
  static fromParameters(
    seed: Bytes, height: number, hashFunction: Constant | number, addrFormatType?: Constant | number, w?: 16): XmssBasic;
  static verify(message: Bytes, signature: Bytes, pk: Bytes, w?: 16): boolean;
}

declare const qrllib: {
  Uint8Vector: typeof Uint8Vector; Xmss: typeof Xmss; XmssFast: typeof XmssFast; XmssBasic: typeof XmssBasic;
  QRLHelper: typeof QRLHelper; eHashFunction: typeof eHashFunction; eSignatureType: typeof eSignatureType;
  eAddrFormatType: typeof eAddrFormatType; SHA2_256: Constant; SHAKE_128: Constant; SHAKE_256: Constant;
  bin2hstr: typeof bin2hstr; hstr2bin: typeof hstr2bin; str2bin: typeof str2bin; sha2_256: typeof sha2_256;
  shake128: typeof shake128; shake256: typeof shake256; bin2mnemonic: typeof bin2mnemonic;
  mnemonic2bin: typeof mnemonic2bin; getRandomSeed: typeof getRandomSeed; getAddress: typeof getAddress;
  getAddressRaw: typeof getAddressRaw; validateAddress: typeof validateAddress;
  validateAddressRaw: typeof validateAddressRaw; getHashFunction: typeof getHashFunction;
  getSignatureType: typeof getSignatureType; getHeight: typeof getHeight;
  calledRun: true; onRuntimeInitialized: () => void;
};
export default qrllib;
