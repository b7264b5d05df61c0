// Three workers, a party each. This thread carries messages, and sees neither shares nor nonces.
import { button, count, disable, element, enable, milliseconds, toHex, utf8, verdict, worker } from './elements.js';
import { sha256 } from './xmss.js';

const PARTIES = [1, 2, 3];
const boxes = () => [...document.querySelectorAll('.party input')];
const notes = [...document.querySelectorAll('.party .note')];

const workers = new Map();
/** What each worker's messages go to: the session that runs. */
const hearers = new Map();
let groupKey;

function marked() {
  return boxes().filter((box) => box.checked).map((box) => Number(box.value));
}

/** Runs one session in the workers of `parties`; resolves with what each one puts out. */
function session(parties, begin) {
  return new Promise((resolve, reject) => {
    const outputs = new Map();
    const sent = new Map(parties.map((party) => [party, { messages: 0, bytes: 0 }]));
    const hear = (from) => ({ event, ...data }) => {
      const note = notes[from - 1];
      if (event === 'error') {
        note.textContent = 'failed';
        reject(new Error(`party ${from}: ${data.message}`));
      } else if (event === 'outgoing') {
        const tally = sent.get(from);
        for (const to of data.to === undefined ? parties : [data.to]) {
          if (to === from) continue;
          workers.get(to).postMessage({ job: 'receive', from, message: data.message });
          tally.messages += 1;
          tally.bytes += data.message.length;
        }
        note.textContent = `round ${data.round}: ${tally.messages} messages, ${count(tally.bytes / 1000)} kB sent`;
      } else {
        note.textContent = `done: ${sent.get(from).messages} messages, ${count(sent.get(from).bytes / 1000)} kB sent`;
        outputs.set(from, data);
        if (outputs.size === parties.length) resolve(outputs);
      }
    };
    const runId = crypto.getRandomValues(new Uint8Array(32));
    for (const party of parties) {
      if (!workers.has(party)) workers.set(party, worker((data) => hearers.get(party)(data)));
      hearers.set(party, hear(party));
    }
    // Every worker has its session before any message can be carried to it.
    for (const party of parties) workers.get(party).postMessage({ ...begin, runId, me: party });
  });
}

function restart() {
  for (const party of workers.values()) party.terminate();
  workers.clear();
}

function choose() {
  element('tss-sign').disabled = groupKey === undefined || marked().length !== 2;
}

async function busy(work) {
  disable('tss-keygen', 'tss-sign');
  const start = performance.now();
  try {
    await work(() => milliseconds(performance.now() - start));
  } finally {
    enable('tss-keygen');
    choose();
  }
}

button('tss-keygen', 'tss-verdict', () => busy(async (passed) => {
  restart();
  groupKey = undefined;
  element('tss-signature').textContent = '';
  element('tss-public').textContent = '';
  verdict('tss-verdict', true, 'Making a key…');
  const outputs = await session(PARTIES, { job: 'keygen', threshold: 2, parties: 3 });
  const keys = [...outputs.values()].map((output) => toHex(output.groupKey));
  if (new Set(keys).size !== 1) throw new Error('the parties have different keys');
  ({ groupKey } = outputs.get(1));
  element('tss-public').textContent = `Public key: ${keys[0]}`;
  verdict('tss-verdict', true, `Made in ${passed()}, with the start of the workers.`);
}));

button('tss-sign', 'tss-verdict', () => busy(async (passed) => {
  const signers = marked();
  element('tss-signature').textContent = '';
  verdict('tss-verdict', true, 'Signing…');
  const digest = sha256(utf8(element('tss-message').value));
  const outputs = await session(signers, { job: 'sign', signers, digest });
  if (![...outputs.values()].every((output) => output.valid)) throw new Error('the signature is not valid');
  const { signature } = outputs.get(signers[0]);
  element('tss-signature').textContent = `Signature: ${toHex(signature)}`;
  verdict('tss-verdict', true, `Parties ${signers.join(' and ')} signed in ${passed()}. The signature is valid.`);
}));

disable('tss-sign');
for (const box of boxes()) box.addEventListener('change', choose);
