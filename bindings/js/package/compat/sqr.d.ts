/**
 * A prover and a verifier of a delay for programs written for `sqr`: x^(2^(2^t)) modulo RSA-2048, with
 * numbers in hexadecimal digits. The input x is used as it is given; `tetralith/vdf` hashes it, which is
 * safer where others may choose it.
 * @module
 */
import type { Progress } from '../vdf.js';

/** Computes x^(2^(2^t)) mod N, as 512 digits. It keeps its thread busy until it ends. */
export function vdf(t: number, x: string, progress?: Progress): string;

/** Calls back with the 512 digits of x^(2^(2^t)) mod N, or with an empty string on a failure. */
export function vdfProver(t: number, x: string, callback: (result: string) => void): void;

/** Computes the result together with a proof of it. */
export function vdfProve(t: number, x: string, progress?: Progress): { y: string; proof: string };

/**
 * Whether y is x^(2^(2^t)) mod N or its negative, by the proof that {@link vdfProve} made: some
 * milliseconds whatever t is.
 */
export function vdfVerifier(t: number, x: string, y: string, proof: string): boolean;
