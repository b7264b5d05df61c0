// The page's long jobs, and a party of a threshold key. A worker loads only the module that its job needs.
let session;
let share;

async function vdf() {
  return import('./vdf.js');
}

async function tss() {
  return import('./tss.js');
}

const progress = (done, total) => postMessage({ event: 'progress', done, total, time: performance.now() });

/** Squarings a second, from a run of about a fifth of a second. */
function measured({ evaluate }) {
  const seed = Uint8Array.of(1);
  evaluate('rsa2048', seed, 1000);
  let iterations = 4000;
  for (;;) {
    const start = performance.now();
    evaluate('rsa2048', seed, iterations);
    const time = performance.now() - start;
    if (time > 200) return iterations * 1000 / time;
    iterations *= 2;
  }
}

/** Sends what the session has to say, and its output once it has one. */
async function pump(report) {
  for (const { to, message } of session.outgoing()) {
    postMessage({ event: 'outgoing', to, message, round: session.round });
  }
  const output = session.takeOutput();
  if (output !== undefined) {
    session = undefined;
    await report(output);
  }
}

let report;

const JOBS = {
  async evaluate({ seed, iterations }) {
    const { evaluate } = await vdf();
    postMessage({ event: 'result', result: evaluate('rsa2048', seed, iterations, { progress }) });
  },
  async seal({ data, seconds }) {
    const module = await vdf();
    const iterations = Math.round(measured(module) * seconds);
    const result = module.seal(data, { iterations });
    postMessage({ event: 'result', result, iterations });
  },
  async open({ sealed }) {
    const { open } = await vdf();
    postMessage({ event: 'result', result: open(sealed, { progress }) });
  },
  async keygen({ runId, me, threshold, parties }) {
    const { keygen, shareInfo } = await tss();
    session = keygen('dkls23', runId, me, threshold, parties);
    report = (output) => {
      share = output;
      postMessage({ event: 'done', groupKey: shareInfo('dkls23', share).groupKey });
    };
    await pump(report);
  },
  async sign({ runId, signers, digest }) {
    const { shareInfo, sign, verify } = await tss();
    session = sign('dkls23', runId, share, signers, digest);
    report = (signature) => {
      const valid = verify(shareInfo('dkls23', share).groupKey, digest, signature);
      postMessage({ event: 'done', signature, valid });
    };
    await pump(report);
  },
  async receive({ from, message }) {
    session.receive(from, message);
    await pump(report);
  },
};

// One job after the other: a message of another party may arrive while the module still loads.
let before = Promise.resolve();

/** Takes a message of the page. */
export function hear({ job, ...given }) {
  before = before.then(() => JOBS[job](given)).catch((error) => {
    postMessage({ event: 'error', message: error?.message ?? String(error) });
  });
}
