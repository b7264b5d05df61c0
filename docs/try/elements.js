// What the cards share: elements, hexadecimal digits, verdicts, workers.
export const element = (id) => document.getElementById(id);

export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export function fromHex(text, name) {
  const digits = text.replace(/\s/g, '');
  if (digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) {
    throw new Error(`the ${name} has something other than pairs of hexadecimal digits`);
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const utf8 = (text) => new TextEncoder().encode(text);

export const count = (number) => Math.round(number).toLocaleString('en-US');

/** The result of a call, and the milliseconds that it took. */
export function timed(work) {
  const start = performance.now();
  const result = work();
  return [result, performance.now() - start];
}

export function milliseconds(time) {
  return time < 10 ? `${time.toFixed(2)} ms` : `${Math.round(time)} ms`;
}

export function verdict(id, good, text) {
  element(id).className = `verdict ${good ? 'good' : 'bad'}`;
  element(id).textContent = text;
}

/** The work of a button: it is disabled meanwhile, and a failure becomes the card's verdict. */
export function button(id, verdictId, work) {
  element(id).addEventListener('click', async () => {
    try {
      await work();
    } catch (error) {
      verdict(verdictId, false, `${error?.message ?? error}`);
    }
  });
  element(id).disabled = false;
}

export function enable(...ids) {
  for (const id of ids) element(id).disabled = false;
}

export function disable(...ids) {
  for (const id of ids) element(id).disabled = true;
}

/** A worker that runs `worker.js`. `hear` gets its messages; an error of the worker arrives as one as well. */
export function worker(hear) {
  const made = globalThis.startWorker('worker.js');
  made.onmessage = ({ data }) => hear(data);
  made.onerror = (event) => hear({ event: 'error', message: event.message ?? 'the worker did not start' });
  return made;
}
