/**
 * Verifiable delay: sequential squaring modulo N, proofs of it, and time-locks.
 *
 * The seed is hashed into the group together with N and the number of squarings. With `raw: true` it is
 * the number x itself, in big-endian bytes: whoever chooses such an x can combine outputs that are known
 * already, because y(18) = y(2)·y(3)². Use that only for protocols that fix x in another way.
 *
 * A call keeps its thread busy until it ends: use a worker for long ones.
 * @module
 */

/** A preset's name (`rsa2048`), hexadecimal digits, a number, or its big-endian bytes: 64 to 8192 bits. */
export type Modulus = string | bigint | Uint8Array;

/**
 * Called with the squarings done and those of the whole run, at most ten times a second. The run stops
 * with `interrupted` if it returns `false`, and with its error if it throws.
 */
export type Progress = (done: number, total: number) => unknown;

/** The modulus in big-endian bytes. */
export function modulusBytes(modulus: Modulus): Uint8Array;

/** The element x that a seed is hashed to. */
export function hashToElement(modulus: Modulus, seed: Uint8Array, iterations: number | bigint): Uint8Array;

/**
 * Computes y = x^(2^iterations) mod N, in big-endian bytes as wide as N. The result is checked against
 * faults of the machine.
 */
export function evaluate(
  modulus: Modulus, seed: Uint8Array, iterations: number | bigint,
  options?: { raw?: boolean; progress?: Progress }): Uint8Array;

/**
 * Computes y and an encoded proof that it is ±x^(2^iterations) mod N.
 *
 * `memory`: bytes for values recorded while squaring, at most 2^30; 2^26 unless given.
 */
export function prove(
  modulus: Modulus, seed: Uint8Array, iterations: number | bigint,
  options?: {
    raw?: boolean;
    system?: 'wesolowski' | 'n-wesolowski' | 'pietrzak';
    memory?: number;
    progress?: Progress;
  }): { y: Uint8Array; proof: Uint8Array };

/**
 * Verifies that a proof is valid for exactly this N, seed and number of squarings, and this y if given.
 * @throws {TetralithError} `verification.failed`, `verification.other_statement`, `input.malformed`
 */
export function verify(
  proof: Uint8Array, modulus: Modulus, seed: Uint8Array, iterations: number | bigint,
  options?: { raw?: boolean; y?: Uint8Array }): void;

/**
 * Encrypts data so that opening it takes `iterations` sequential squarings, modulo a new number of
 * `bits` bits (2048 unless given) whose factors are forgotten.
 */
export function seal(
  data: Uint8Array, options: { iterations: number | bigint; bits?: number }): Uint8Array;

/** Opens sealed data, however long that takes. */
export function open(sealed: Uint8Array, options?: { progress?: Progress }): Uint8Array;

/** The squarings that opening takes. */
export function sealedIterations(sealed: Uint8Array): bigint;
