/**
 * XMSS and XMSS^MT (RFC 8391, SP 800-208) and QRL's formats: verification, addresses, hash functions.
 * @module
 */
import type { Column } from './columns.js';

export type { Column };

/** The names of all parameter sets. */
export const PARAMS: readonly string[];

/** The root of a key's tree and its public seed. */
export class PublicKey {
  private constructor();
  /** Decodes `OID ‖ root ‖ SEED`; of XMSS^MT if `multiTree`. RFC 8391 §4.1.7. */
  static fromBytes(data: Uint8Array, options?: { multiTree?: boolean }): PublicKey;
  /** Reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in PEM. */
  static fromPem(pem: string): PublicKey;
  /** Reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in DER. */
  static fromDer(der: Uint8Array): PublicKey;
  /** Decodes QRL's 67 bytes `descriptor ‖ root ‖ SEED`. */
  static fromQrl(data: Uint8Array): PublicKey;
  /** The name of the parameter set. */
  readonly params: string;
  /** The length of a signature in bytes. */
  readonly signatureSize: number;
  /** Encodes `OID ‖ root ‖ SEED`; a QRL key has no OID, and none is written. */
  toBytes(): Uint8Array;
  /** Encodes a SubjectPublicKeyInfo in PEM. RFC 9802. */
  toPem(): string;
  /** Encodes a SubjectPublicKeyInfo in DER. RFC 9802. */
  toDer(): Uint8Array;
  /** Encodes QRL's 67 bytes. */
  toQrl(): Uint8Array;
  /** The QRL address: `Q` and 78 hexadecimal digits. */
  qrlAddress(): string;
  /**
   * Verifies a signature. RFC 8391 §4.1.10. Variable time: all is public.
   * @throws {TetralithError} `verification.failed` if it is not valid; `input.length` or
   * `input.malformed` if it has the wrong length or an impossible index
   */
  verify(message: Uint8Array, signature: Uint8Array): void;
  /** The index of the one-time key that made a signature. */
  signatureIndex(signature: Uint8Array): bigint;
}

/**
 * Verifies columns of public keys (`OID ‖ root ‖ SEED`; of XMSS^MT if `multiTree`), messages and signatures.
 * Returns a byte for each row: 1 for a valid signature, 0 for any other and for a malformed key.
 */
export function verifyMany(
  columns: { publicKey: Column; message: Column; signature: Column },
  options?: { multiTree?: boolean }): Uint8Array;

/** Whether the text is a QRL address: its form, its descriptor and its checksum. */
export function qrlAddressIsValid(address: string): boolean;

/** SHA-256. FIPS 180-4. */
export function sha256(data: Uint8Array): Uint8Array;
/** The first `length` bytes, at most 2^24, of SHAKE128's output. FIPS 202. */
export function shake128(length: number, data: Uint8Array): Uint8Array;
/** The first `length` bytes, at most 2^24, of SHAKE256's output. FIPS 202. */
export function shake256(length: number, data: Uint8Array): Uint8Array;

/**
 * Where the states of keys are kept. `commit` must be durable when it resolves, and must change nothing
 * if the record is not `expected` any more; `lock` runs `work` while nobody else holds the key's lock.
 */
export interface Store {
  /** Where this store is, in a form that a copy of it does not share. */
  readonly place: string;
  lock<T>(keyId: string, work: () => Promise<T>): Promise<T>;
  load(keyId: string): Promise<Uint8Array | undefined>;
  commit(keyId: string, expected: Uint8Array | undefined, record: Uint8Array): Promise<void>;
}

/**
 * A store in IndexedDB with strict durability, locked by `navigator.locks` across the tabs and workers
 * of one origin. Users who clear the site's data lose the state: the key then refuses to sign.
 */
export function browserStore(name?: string): Store;

/**
 * A store of files in a folder, for Node. Files are written aside, synced and renamed, and the folder is
 * synced. A copied or moved folder is refused. Do not point it at a folder of the `tetralith` command.
 */
export function folderStore(folder: string): Promise<Store>;

/**
 * A secret key that signs with a durable state: no signature exists before the use of its index is
 * committed, and a key whose state is lost refuses to sign. There is no other way to sign.
 *
 * The secret and the state belong together: a secret that signs with the state of an older backup, or
 * with two stores, can repeat an index, which lets anybody forge signatures.
 */
export class Signer {
  private constructor();
  /** Makes a key of a parameter set such as `XMSS-SHA2_10_256`, and its state. */
  static create(params: string, store: Store): Promise<Signer>;
  /**
   * Opens a key from its secret.
   * @throws {TetralithError} `state.missing` if the store has no state of this key, `state.copied` if it was copied there
   */
  static open(secret: Uint8Array, store: Store): Promise<Signer>;
  /**
   * Makes a lost or copied state usable again. `next` must lie above every index that any copy of the
   * state may have used.
   */
  static restore(secret: Uint8Array, store: Store, next: number | bigint): Promise<Signer>;
  readonly publicKey: PublicKey;
  /** The indices that can still be used, as of the last signature here. */
  readonly remaining: number;
  /** The secret key's bytes, to be encrypted and stored by the caller. */
  exposeSecret(): Uint8Array;
  /**
   * Signs a message with the next index, which is committed first.
   * @throws {TetralithError} `state.exhausted`, `state.missing`, `state.rolled_back`, `state.conflict`,
   * `state.unknown`, `state.locked`, `io.file`
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
  /** Wipes the key now. */
  free(): void;
}
