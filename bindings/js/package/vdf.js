import * as wasm from './wasm/vdf.js';
import { bytes, call, count, integer, options, text, watched, wrong } from './errors.js';
import { load } from './load.js';

await load(wasm, new URL('./wasm/vdf_bg.wasm', import.meta.url));

/** As the module reads it: a preset's name or hexadecimal digits. */
function parsed(modulus) {
  if (typeof modulus === 'string') return modulus;
  if (typeof modulus === 'bigint' && modulus >= 0n) return modulus.toString(16);
  if (typeof modulus !== 'object') wrong('modulus', modulus, 'a name, hexadecimal digits, a bigint or bytes');
  return Array.from(bytes(modulus, 'modulus'), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function flag(value, name) {
  if (typeof value !== 'boolean') wrong(name, value, 'true or false');
  return value;
}

export function modulusBytes(modulus) {
  return call(() => wasm.modulusBytes(parsed(modulus)));
}

export function hashToElement(modulus, seed, iterations) {
  return call(() => wasm.hashToElement(parsed(modulus), bytes(seed, 'seed'), count(iterations, 'iterations')));
}

export function evaluate(modulus, seed, iterations, given) {
  const { raw = false, progress } = options(given, ['raw', 'progress']);
  return watched(progress, (watch) => wasm.evaluate(
    parsed(modulus), bytes(seed, 'seed'), flag(raw, 'raw'), count(iterations, 'iterations'), watch));
}

/** More than that a page is seldom given. */
const MAX_MEMORY = 2 ** 30;

export function prove(modulus, seed, iterations, given) {
  const { raw = false, system = 'wesolowski', memory = 2 ** 26, progress } =
    options(given, ['raw', 'system', 'memory', 'progress']);
  const both = watched(progress, (watch) => wasm.prove(
    parsed(modulus), bytes(seed, 'seed'), flag(raw, 'raw'), count(iterations, 'iterations'),
    text(system, 'system'), integer(memory, 'memory', 0, MAX_MEMORY), watch));
  const width = modulusBytes(modulus).length;
  return { y: both.slice(0, width), proof: both.slice(width) };
}

export function verify(proof, modulus, seed, iterations, given) {
  const { raw = false, y } = options(given, ['raw', 'y']);
  call(() => wasm.vdfVerify(
    bytes(proof, 'proof'), parsed(modulus), bytes(seed, 'seed'), flag(raw, 'raw'),
    count(iterations, 'iterations'), y === undefined ? undefined : bytes(y, 'y')));
}

export function seal(data, given) {
  const { iterations, bits = 2048 } = options(given, ['iterations', 'bits']);
  return call(() => wasm.seal(
    bytes(data, 'data'), count(iterations, 'iterations'), integer(bits, 'bits', 0, 2 ** 16)));
}

export function open(sealed, given) {
  const { progress } = options(given, ['progress']);
  return watched(progress, (watch) => wasm.open(bytes(sealed, 'sealed'), watch));
}

export function sealedIterations(sealed) {
  return call(() => wasm.sealedIterations(bytes(sealed, 'sealed')));
}
