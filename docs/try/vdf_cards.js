// Two cards, each with a worker of its own: a call of the module keeps its thread busy until it ends.
import { button, count, disable, element, enable, toHex, utf8, worker } from './elements.js';

/** How many points the plot has. */
const POINTS = 100;
/** The squarings of one run: ten minutes or so. */
const RUN = 50_000_000;

let squaring;
let speeds = [];

function plot() {
  const top = Math.max(...speeds, 1) * 1.15;
  const points = speeds.map((speed, i) =>
    `${(i * 300 / (POINTS - 1)).toFixed(1)},${(60 - speed * 60 / top).toFixed(1)}`);
  element('squaring-plot').querySelector('polyline').setAttribute('points', points.join(' '));
}

function stop(text) {
  squaring?.terminate();
  squaring = undefined;
  enable('squaring-start');
  disable('squaring-stop');
  if (text !== undefined) element('squaring-count').textContent = text;
}

button('squaring-start', 'squaring-count', () => {
  speeds = [];
  let last = { done: 0, time: undefined };
  element('squaring-count').textContent = 'Starting a worker…';
  squaring = worker(({ event, ...data }) => {
    if (event === 'progress') {
      if (last.time !== undefined && data.time > last.time) {
        const speed = (data.done - last.done) * 1000 / (data.time - last.time);
        speeds = [...speeds, speed].slice(-POINTS);
        element('squaring-speed').textContent = count(speed);
        plot();
      }
      last = data;
      element('squaring-count').textContent = `${count(data.done)} squarings, one after the other.`;
    } else if (event === 'result') {
      stop(`${count(RUN)} squarings: y = ${toHex(data.result).slice(0, 32)}…`);
    } else {
      stop(data.message);
    }
  });
  squaring.postMessage({ job: 'evaluate', seed: crypto.getRandomValues(new Uint8Array(32)), iterations: RUN });
  disable('squaring-start');
  enable('squaring-stop');
});

button('squaring-stop', 'squaring-count', () => stop());
disable('squaring-stop');

let sealed;
let locking;

function say(text, result = '') {
  element('lock-state').textContent = text;
  element('lock-result').textContent = result;
}

function idle() {
  locking?.terminate();
  locking = undefined;
  enable('lock-seal');
  element('lock-open').disabled = sealed === undefined;
  disable('lock-cancel');
}

function run(message, hear) {
  disable('lock-seal', 'lock-open');
  enable('lock-cancel');
  element('lock-progress').value = 0;
  locking = worker((data) => {
    if (data.event === 'error') {
      idle();
      say(data.message);
    } else {
      hear(data);
    }
  });
  locking.postMessage(message);
}

button('lock-seal', 'lock-state', () => {
  sealed = undefined;
  const seconds = Number(element('lock-seconds').value);
  say('Measuring this machine and making a modulus…');
  run({ job: 'seal', data: utf8(element('lock-text').value), seconds }, ({ result, iterations }) => {
    sealed = result;
    idle();
    say(`Locked: ${count(sealed.length)} bytes that ${count(Number(iterations))} squarings open.`);
  });
});

button('lock-open', 'lock-state', () => {
  const start = performance.now();
  say('Opening…');
  run({ job: 'open', sealed }, ({ event, done, total, result }) => {
    const passed = (performance.now() - start) / 1000;
    if (event === 'progress') {
      element('lock-progress').value = done / total;
      const left = done === 0 ? '' : `, ${Math.ceil(passed * (total - done) / done)} s to go`;
      say(`${count(done)} of ${count(total)} squarings${left}`);
      return;
    }
    idle();
    element('lock-progress').value = 1;
    say(`Opened after ${passed.toFixed(1)} s.`, new TextDecoder().decode(result));
  });
});

button('lock-cancel', 'lock-state', () => {
  idle();
  element('lock-progress').value = 0;
  say(sealed === undefined ? 'Not locked yet.' : 'Stopped. It is still locked.');
});
idle();
