/**
 * Verifiable random functions: RFC 9381 and the drafts that Cardano and Algorand run.
 *
 * ```js
 * import { vrf } from 'tetralith';
 * const key = vrf.SecretKey.generate('draft03-cardano');
 * const proof = key.prove(new TextEncoder().encode('slot 12'));
 * ```
 * @module
 */
import type { Column } from './columns.js';

/** The names of all suites. */
export const SUITES: readonly string[];

/** A secret key of one suite. RFC 9381 §5.5. */
export class SecretKey {
  /**
   * Reads a key from its 32 bytes.
   * @throws {TetralithError} `input.suite`, `input.length`, `input.malformed`
   */
  constructor(suite: string, secret: Uint8Array);
  /** Makes a key from the environment's randomness. */
  static generate(suite: string): SecretKey;
  /** The name of the suite. */
  readonly suite: string;
  /** The public key's encoding. */
  readonly publicKey: Uint8Array;
  /** The 32 secret bytes. JavaScript cannot wipe the copy. */
  exposeBytes(): Uint8Array;
  /** Makes a proof of the output for an input. RFC 9381 §5.1. */
  prove(alpha: Uint8Array): Uint8Array;
  /** Wipes the key now; otherwise that happens at some time after the last use. */
  free(): void;
}

/**
 * Verifies a proof for the input `alpha` and returns its output. RFC 9381 §5.3. Variable time: all is
 * public.
 * @throws {TetralithError} `verification.failed`, `input.length`, `input.malformed`, `input.suite`
 */
export function verify(
  suite: string, publicKey: Uint8Array, alpha: Uint8Array, proof: Uint8Array): Uint8Array;

/** Returns the output that a proof claims, without verifying it. RFC 9381 §5.2. */
export function proofToHash(suite: string, proof: Uint8Array): Uint8Array;

/** Throws unless the public key is fit for the suite. RFC 9381 §5.4.5. */
export function validateKey(suite: string, publicKey: Uint8Array): void;

export type { Column };

/**
 * Verifies a column of proofs. Returns a byte for each row: 1 for a valid proof, 0 for any other. Each
 * verdict is that of {@link verify} alone.
 */
export function verifyMany(
  suite: string, columns: { publicKey: Column; alpha: Column; proof: Column }): Uint8Array;
