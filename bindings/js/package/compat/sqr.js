// A prover and a verifier of a delay for programs written for `sqr`: x^(2^(2^t)) modulo RSA-2048, with
// numbers in hexadecimal digits.
import { TetralithError, integer, text } from '../errors.js';
import { evaluate, prove, verify } from '../vdf.js';

const MODULUS = 'rsa2048';

function number(digits, name) {
  if (!/^[0-9a-fA-F]+$/.test(text(digits, name))) {
    throw new TetralithError('malformed', 'input.hex', `${name} is not a number in hexadecimal digits`);
  }
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from(even.match(/../g), (pair) => parseInt(pair, 16));
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const squarings = (t) => 1n << BigInt(integer(t, 't', 0, 63));

/** Computes x^(2^(2^t)) mod N on this thread, as 512 digits. */
export function vdf(t, x, progress) {
  return hex(evaluate(MODULUS, number(x, 'x'), squarings(t), { raw: true, progress }));
}

/** As sqr's example: calls back with 512 digits, or with nothing on a failure. */
export function vdfProver(t, x, callback) {
  let result = '';
  try {
    result = vdf(t, x);
  } catch (error) {
    if (!(error instanceof TetralithError)) throw error;
  }
  queueMicrotask(() => callback(result));
}

/** Computes the result together with a proof of it, both in hexadecimal digits. */
export function vdfProve(t, x, progress) {
  const { y, proof } = prove(MODULUS, number(x, 'x'), squarings(t), { raw: true, progress });
  return { y: hex(y), proof: hex(proof) };
}

/** Whether y is x^(2^(2^t)) mod N up to its sign, by a proof of it: some milliseconds whatever t is. */
export function vdfVerifier(t, x, y, proof) {
  const given = [number(x, 'x'), number(y, 'y'), number(proof, 'proof')];
  try {
    verify(given[2], MODULUS, given[0], squarings(t), { raw: true, y: given[1] });
    return true;
  } catch (error) {
    if (error.kind === 'verification' || error.kind === 'malformed') return false;
    throw error;
  }
}
