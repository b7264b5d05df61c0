// Ceremonies as rounds by party: a bar ends when the party's message of that round was there.

import { byId, duration, el, fill, names, short } from './elements.js';

const MOST_SHOWN = 12;
const MOST_KEPT = 60;
const STATES = { done: 'good', failed: 'bad', interrupted: 'bad', running: 'warn', released: '' };
const KINDS = { keygen: 'New key', sign: 'Signature', reshare: 'New shares' };
/** By name: what is known of each. */
const ceremonies = new Map();
/** The node's clock less this machine's, in milliseconds: bars of a running ceremony grow by it. */
let ahead = 0;

function known(id) {
  if (!ceremonies.has(id)) {
    ceremonies.set(id, { id, state: 'running', participants: [], rounds: new Map(), begun: 0 });
  }
  return ceremonies.get(id);
}

/** Takes in what the log has. */
export function remember(records) {
  for (const record of records) {
    const it = known(record.id);
    it.kind = record.kind;
    it.key = record.key;
    it.proposer = record.proposer;
    it.reason = record.reason;
    it.begun ||= record.started_ms;
    if (!it.started) it.participants = record.participants;
    if (record.state !== 'running') Object.assign(it, { state: record.state, ended: record.ended_ms });
  }
}

/** Takes in an event; says whether it was about a ceremony. */
export function hear(event) {
  if (!event.ceremony) return false;
  const it = known(event.ceremony);
  ahead = Math.max(event.ms - Date.now(), ahead === 0 ? -Infinity : ahead);
  if (event.event === 'ceremony_proposed') {
    Object.assign(it, { kind: event.kind, key: event.key, proposer: event.proposer, begun: event.ms });
    if (!it.started) it.participants = event.candidates;
  } else if (event.event === 'ceremony_started') {
    Object.assign(it, { started: event.ms, participants: event.participants });
  } else if (event.event === 'round') {
    const rounds = it.rounds.get(event.party.id) || [];
    if (!rounds.some((other) => other.round === event.round)) rounds.push({ round: event.round, ms: event.ms });
    it.rounds.set(event.party.id, rounds);
  } else if (event.event === 'ceremony_ended') {
    Object.assign(it, { kind: event.kind, key: event.key, state: event.state, ended: event.ms, reason: event.reason });
  }
  it.begun ||= event.ms;
  return true;
}

/** Nothing is known any more. */
export function forget() {
  ceremonies.clear();
}

function span(from, until, it, end, classes, label, title) {
  const bar = el('div', `span ${classes}`, label ? el('span', label.length > 2 ? 'label long' : 'label', label) : null);
  const whole = Math.max(end - it.begun, 1);
  bar.style.left = `${((from - it.begun) / whole) * 100}%`;
  bar.style.width = `${(Math.max(until - from, 0) / whole) * 100}%`;
  bar.title = title;
  return bar;
}

function lane(it, party, end) {
  const track = el('div', 'lane');
  const rounds = [...(it.rounds.get(party.id) || [])].sort((a, b) => a.ms - b.ms || a.round - b.round);
  let from = it.begun;
  if (it.started) {
    const title = `proposal and joins, ${duration(it.started - it.begun)}`;
    track.append(span(from, it.started, it, end, 'r0', 'join', title));
    from = it.started;
  }
  for (const { round, ms } of rounds) {
    const title = `${party.name}: round ${round} there after ${duration(ms - it.begun)}`;
    track.append(span(from, ms, it, end, `r${((round - 1) % 7) + 1}`, `${round}`, title));
    from = ms;
  }
  if (it.state === 'running') track.append(span(from, end, it, end, 'waits', '', 'is waited for'));
  return [el('span', 'lane-name', party.name), track];
}

function card(it, now) {
  const end = it.ended || Math.max(now, it.begun + 1);
  const head = el('div', 'row',
    el('span', `badge ${STATES[it.state] || ''}`, it.state),
    el('span', 'name', KINDS[it.kind] || it.kind || 'Ceremony'),
    it.key ? el('span', 'mono', short(it.key)) : null,
    el('span', 'faint', it.proposer ? `asked by ${it.proposer.name}` : ''),
    el('span', 'faint push', `${new Date(it.begun).toLocaleTimeString()} · ${duration(end - it.begun)}`));
  const item = el('div', 'item', head);
  item.dataset.ceremony = it.id;
  item.dataset.state = it.state;
  if (it.rounds.size > 0) {
    const scale = el('div', 'scale', el('span', '', '0'), el('span', '', duration(end - it.begun)));
    item.append(el('div', 'lanes', ...it.participants.flatMap((party) => lane(it, party, end)), scale));
  } else if (it.participants.length) {
    item.append(el('div', 'faint', names(it.participants)));
  }
  if (it.reason) item.append(el('div', 'faint', it.reason));
  return item;
}

/** Draws them, the latest first; says whether any runs. */
export function draw() {
  const all = [...ceremonies.values()].sort((a, b) => b.begun - a.begun);
  for (const old of all.slice(MOST_KEPT)) ceremonies.delete(old.id);
  const running = all.filter((it) => it.state === 'running');
  const shown = [...running, ...all.filter((it) => it.state !== 'running')].slice(0, MOST_SHOWN);
  const now = Date.now() + (Number.isFinite(ahead) ? ahead : 0);
  fill('timeline', shown.map((it) => card(it, now)), 'No ceremony yet.');
  byId('timeline').setAttribute('aria-busy', String(running.length > 0));
  return running.length > 0;
}
