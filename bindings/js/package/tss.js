import * as wasm from './wasm/tss.js';
import { TetralithError, bytes, call, integer, text, wrong } from './errors.js';
import { load } from './load.js';

await load(wasm, new URL('./wasm/tss_bg.wasm', import.meta.url));

const SCHEMES = ['dkls23', 'frost-ed25519'];

function known(scheme) {
  if (!SCHEMES.includes(text(scheme, 'scheme'))) {
    const message = `no scheme is called ${JSON.stringify(scheme)}`;
    throw new TetralithError('malformed', 'usage.arguments', message, `use one of ${SCHEMES.join(', ')}`);
  }
  return scheme;
}

const party = (value, name) => integer(value, name, 0, 255);

export class Session {
  #run;

  constructor(run) {
    if (!(run instanceof wasm.Session)) throw new TypeError('use keygen, sign or refresh');
    this.#run = run;
  }

  outgoing() {
    const messages = [];
    for (;;) {
      const next = this.#run.next();
      if (next.length === 0) return messages;
      messages.push({ to: next[0] === 0 ? undefined : next[0], message: next.slice(1) });
      next.fill(0);
    }
  }

  receive(from, message) {
    call(() => this.#run.receive(party(from, 'from'), bytes(message, 'message')));
  }

  get round() {
    return this.#run.round();
  }

  get waitingFor() {
    return Array.from(this.#run.waitingFor());
  }

  takeOutput() {
    return call(() => this.#run.takeOutput());
  }
}

export function keygen(scheme, runId, me, threshold, parties) {
  return new Session(call(() => wasm.Session.keygen(
    known(scheme), bytes(runId, 'runId'), party(me, 'me'), party(threshold, 'threshold'),
    party(parties, 'parties'))));
}

export function sign(scheme, runId, share, signers, message) {
  if (!Array.isArray(signers)) wrong('signers', signers, 'an array of parties');
  const indices = Uint8Array.from(signers, (signer) => party(signer, 'a signer'));
  return new Session(call(() => wasm.Session.sign(
    known(scheme), bytes(runId, 'runId'), bytes(share, 'share'), indices, bytes(message, 'message'))));
}

export function refresh(runId, share) {
  return new Session(call(() => wasm.Session.refresh(bytes(runId, 'runId'), bytes(share, 'share'))));
}

export function shareInfo(scheme, share) {
  const info = call(() => wasm.shareInfo(known(scheme), bytes(share, 'share')));
  const [party, threshold, parties] = info;
  return { party, threshold, parties, groupKey: info.slice(3) };
}

export function verify(groupKey, digest, signature) {
  return call(() => wasm.tssVerify(
    bytes(groupKey, 'groupKey'), bytes(digest, 'digest'), bytes(signature, 'signature')));
}

export function exchange(parties) {
  const outputs = new Map();
  while (outputs.size < parties.size) {
    let sent = false;
    for (const [me, session] of parties) {
      for (const { to, message } of session.outgoing()) {
        sent = true;
        for (const [other, receiver] of parties) {
          if (other !== me && (to === undefined || to === other)) receiver.receive(me, message);
        }
      }
    }
    for (const [me, session] of parties) {
      const output = outputs.has(me) ? undefined : session.takeOutput();
      if (output !== undefined) outputs.set(me, output);
    }
    if (!sent && outputs.size < parties.size) {
      const message = 'no session has a message to send: a party of the run is missing';
      throw new TetralithError('malformed', 'usage.arguments', message);
    }
  }
  return outputs;
}
