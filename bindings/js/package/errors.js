// The package's error class, and the checks of arguments before they enter WebAssembly, whose glue
// would silently turn a wrong type into zeros.

export class TetralithError extends Error {
  constructor(kind, code, message, hint, suspects = []) {
    super(message);
    this.name = 'TetralithError';
    this.kind = kind;
    this.code = code;
    this.hint = hint || undefined;
    this.suspects = suspects;
  }
}

/** The error of what a module threw: five lines of text, or a trap. */
function failure(thrown) {
  if (typeof thrown === 'string') {
    const [kind, code, hint, suspects, ...message] = thrown.split('\n');
    const parties = suspects === '' ? [] : suspects.split(',').map(Number);
    return new TetralithError(kind, code, message.join('\n'), hint, parties);
  }
  if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) {
    const hint = 'give smaller inputs; if that does not help, report this as a bug';
    return new TetralithError('environment', 'internal', `the module stopped: ${thrown.message}`, hint);
  }
  return thrown;
}

/** Calls a function of a module, and throws its failures as `TetralithError`. */
export function call(work) {
  try {
    return work();
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** Reports done and total to `progress` at most ten times a second; stops if that throws or returns false. */
export function watched(progress, work) {
  if (progress !== undefined && typeof progress !== 'function') wrong('progress', progress, 'a function');
  let told = performance.now();
  let thrown;
  const step = (done, total) => {
    if (progress === undefined || (done < total && performance.now() - told < 100)) return true;
    try {
      const goOn = progress(done, total) !== false;
      told = performance.now();
      return goOn;
    } catch (error) {
      thrown = { error };
      return false;
    }
  };
  try {
    return call(() => work({ step }));
  } catch (error) {
    throw thrown ? thrown.error : error;
  }
}

function described(value) {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return typeof value;
  return Object.prototype.toString.call(value).slice(8, -1);
}

export function wrong(name, value, expected, code = 'usage.arguments') {
  throw new TetralithError('malformed', code, `${name} is ${described(value)}, expected ${expected}`);
}

/** More would not fit into the module's memory together with its copies. */
const MAX_BYTES = 1 << 28;

const typed = Object.getPrototypeOf(Uint8Array.prototype);
const part = (name) => Object.getOwnPropertyDescriptor(typed, name).get;
const [tag, buffer, byteOffset, byteLength] =
  [Symbol.toStringTag, 'buffer', 'byteOffset', 'byteLength'].map(part);

/** A `Uint8Array` of any realm, a `Buffer` too, as a plain one. */
export function bytes(value, name) {
  // The getters are the prototype's own, so that an object cannot lie about its length.
  if (typeof value !== 'object' || value === null || tag.call(value) !== 'Uint8Array') {
    wrong(name, value, 'a Uint8Array');
  }
  const length = byteLength.call(value);
  if (length > MAX_BYTES) {
    const message = `${name} has ${length} bytes, at most ${MAX_BYTES} are possible`;
    throw new TetralithError('malformed', 'input.length', message);
  }
  return new Uint8Array(buffer.call(value), byteOffset.call(value), length);
}

export function text(value, name) {
  if (typeof value !== 'string') wrong(name, value, 'a string');
  return value;
}

export function integer(value, name, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    wrong(name, value, `an integer from ${least} to ${most}`);
  }
  return value;
}

/** A count of 64 bits as a bigint. */
export function count(value, name) {
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!whole || value < 0 || BigInt(value) >> 64n !== 0n) wrong(name, value, 'a count below 2^64');
  return BigInt(value);
}

/** An object of options, of which none has a name that is not known. */
export function options(value, names) {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null) wrong('the last argument', value, 'an object of options');
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      const message = `no option is called ${name}; the options are ${names.join(', ')}`;
      throw new TetralithError('malformed', 'usage.arguments', message);
    }
  }
  return value;
}
