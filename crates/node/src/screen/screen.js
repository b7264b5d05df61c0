// The page of a node: what it shows, and when it asks for it.

import { Refused, ask, listen, token } from './api.js';
import { byId, duration, el, fill, names, short, terms } from './elements.js';
import * as timeline from './timeline.js';

const EVERY = 5000;
let watching = null;
let drawing = false;

function badge(id, text, tone) {
  byId(id).textContent = text;
  byId(id).className = `badge ${tone}`;
}

function trouble(text) {
  byId('trouble').hidden = !text;
  byId('trouble').textContent = text || '';
}

function showStatus(status) {
  document.title = `${status.name} · Tetralith`;
  byId('name').textContent = status.name;
  const uptime = duration(status.uptime_s * 1000);
  byId('about').textContent = `${status.id} · version ${status.version} · ${status.scheme} · up ${uptime}`;
  byId('load').textContent = `${status.ceremonies_running} running, ${status.ceremonies_waiting} waiting`;
  const there = status.peers.filter((peer) => peer.connected).length;
  byId('peer-count').textContent = `${there} of ${status.peers.length} connected`;
  fill('peers', status.peers.map((peer) => {
    const latency = peer.connected && peer.round_trip_ms !== null ? `${peer.round_trip_ms.toFixed(1)} ms` : '';
    const item = el('div', 'item', el('div', 'row',
      el('span', peer.connected ? 'dot on' : 'dot'), el('span', 'name', peer.name),
      el('span', 'faint', peer.connected ? 'connected' : 'not connected'),
      peer.dropped_messages ? el('span', 'badge warn', `${peer.dropped_messages} dropped`) : null,
      el('span', 'push', latency)), el('div', 'mono faint', peer.address));
    item.title = peer.id;
    item.dataset.connected = peer.connected;
    return item;
  }), 'This node has no peers.');
  const shares = [
    ...status.damaged_shares.map((share) => `The share file ${share.file} is damaged: ${share.reason}.`),
    ...status.lost_shares.map((key) => `The share of key ${key} is gone.`),
  ];
  trouble(shares.join(' '));
}

function showKeys(keys) {
  byId('key-count').textContent = keys.length ? `${keys.length}` : '';
  fill('keys', keys.map((key) => {
    const addresses = Object.entries(key.addresses || {});
    const unsettled = key.unsettled_sharings.length ? ` (unsettled: ${key.unsettled_sharings.join(', ')})` : '';
    return el('div', 'item',
      el('div', 'row', el('span', 'name', `${key.threshold} of ${key.parties.length}`),
        el('span', 'mono', short(key.key)),
        el('span', `badge push ${key.confirmed ? 'good' : 'warn'}`, key.confirmed ? 'confirmed' : 'unconfirmed')),
      terms([
        ['Key', key.key, 'mono'], ['Public key', key.public_key, 'mono'], ['Scheme', key.scheme],
        ...addresses.map(([chain, address]) => [chain, address, 'mono']),
        ['Sharing', `${key.sharing}${unsettled}`], ['Parties', names(key.parties)],
      ]));
  }), 'This node has a share of no key.');
  const select = byId('sign').elements.key;
  const chosen = select.value;
  select.replaceChildren(...keys.map((key) => {
    const option = el('option', '', `${short(key.key)} · ${key.threshold} of ${key.parties.length}`);
    option.value = key.key;
    return option;
  }));
  if (keys.some((key) => key.key === chosen)) select.value = chosen;
}

const MEANING = {
  proof: 'Its own signed messages show the fault. Anybody can check the proof: tetralith tss verify-blame FILE.',
  accusation: 'Either this peer or the reporter is at fault.',
  absence: 'It did not answer in time, or could not be reached.',
};

function evidence(ceremony, blame) {
  const details = el('details', '', el('summary', '', 'Evidence'), el('p', 'faint', MEANING[blame.evidence] || ''));
  details.append(terms([['Ceremony', ceremony.id, 'mono'], ['Reported by', blame.reporter.name],
    ['Signed messages', `${blame.receipts.length}`]]));
  if (blame.receipts.length) {
    const lines = blame.receipts.map((r) => `round ${r.round} ${r.to ? 'to one' : 'to all'}  ${r.payload_hash}`);
    details.append(el('code', 'mono', lines.join('\n')));
  }
  if (blame.proof) {
    const link = el('a', '', 'Save the proof');
    link.download = `blame-${ceremony.id.slice(0, 16)}.json`;
    link.href = URL.createObjectURL(new Blob([`${JSON.stringify(blame.proof)}\n`], { type: 'application/json' }));
    details.append(link);
  }
  return details;
}

let shownBlames = '';
function showBlames(ceremonies) {
  const blames = ceremonies.flatMap((ceremony) => ceremony.blames.map((blame) => ({ ceremony, blame })));
  // Drawn anew only where something is new: what somebody has opened stays open.
  const key = blames.map(({ ceremony }) => ceremony.id).join();
  if (key === shownBlames && key) return;
  shownBlames = key;
  byId('blame-count').textContent = blames.length ? `${blames.length} in the latest ceremonies` : '';
  const tones = { proof: 'bad', accusation: 'warn', absence: '' };
  fill('blames', blames.slice(0, 30).map(({ ceremony, blame }) => el('div', 'item',
    el('div', 'row', el('span', `badge ${tones[blame.evidence] || ''}`, blame.evidence),
      el('span', 'name', blame.peer.name),
      el('span', 'faint push', new Date(ceremony.ended_ms || ceremony.started_ms).toLocaleTimeString())),
    el('div', '', `${blame.fault}${blame.round && blame.round < 255 ? `, round ${blame.round}` : ''}`),
    evidence(ceremony, blame))), 'Nobody is blamed.');
}

async function readiness() {
  const answer = await fetch('/readyz', { cache: 'no-store' });
  const value = await answer.json();
  badge('ready', value.ok ? 'ready' : 'not ready', value.ok ? 'good' : 'bad');
  byId('ready').title = value.ok ? 'GET /readyz' : `${value.message} ${value.hint || ''}`;
}

async function refresh() {
  try {
    const [status, keys, log] = await Promise.all([
      ask('/v1/status'), ask('/v1/keys'), ask('/v1/ceremonies?limit=50'), readiness()]);
    showStatus(status);
    showKeys(keys.keys);
    timeline.remember(log.ceremonies);
    showBlames(log.ceremonies);
    redraw();
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      leave('The node does not know this token.');
    } else {
      badge('ready', 'no answer', 'bad');
      trouble(error instanceof Refused ? error.message : 'The node does not answer.');
    }
    return false;
  }
}

/** Draws at the next frame, and on as long as something runs. */
function redraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (timeline.draw()) setTimeout(redraw, 120);
  });
}

function heard(event) {
  if (event.event === 'missed') refresh();
  if (timeline.hear(event)) redraw();
  if (event.event === 'ceremony_ended' || event.event.startsWith('peer_')) later();
}

let soon = null;
/** Asks soon, once for many events. */
function later() {
  soon ||= setTimeout(() => { soon = null; refresh(); }, 200);
}

async function enter() {
  if (!token.read()) return leave();
  if (!(await refresh()) && !token.read()) return undefined;
  document.querySelector('main').hidden = false;
  byId('leave').hidden = false;
  watching = new AbortController();
  const { signal } = watching;
  listen(heard, (on) => badge('live', on ? 'live' : 'connecting', on ? 'good' : 'warn'), signal);
  const timer = setInterval(refresh, EVERY);
  signal.addEventListener('abort', () => clearInterval(timer));
  return undefined;
}

function leave(why) {
  token.forget();
  watching?.abort();
  timeline.forget();
  shownBlames = '';
  document.querySelector('main').hidden = true;
  byId('leave').hidden = true;
  byId('door-trouble').hidden = !why;
  byId('door-trouble').textContent = why || '';
  byId('token').value = '';
  if (!byId('door').open) byId('door').showModal();
}

async function submit(event) {
  event.preventDefault();
  const form = event.target;
  const approve = event.submitter?.value === 'approve';
  const { key, what, content, signers } = form.elements;
  const request = { key: key.value, [what.value]: what.value === 'message' ? content.value : content.value.trim() };
  const named = signers.value.split(',').map((name) => name.trim()).filter(Boolean);
  if (named.length && !approve) request.signers = named;
  const buttons = form.querySelectorAll('button');
  buttons.forEach((button) => { button.disabled = true; });
  try {
    const answer = await ask(approve ? '/v1/approvals' : '/v1/sign', request);
    byId('outcome').replaceChildren(el('div', 'answer good', approve ? 'Approved' : `Signed by ${names(answer.signers)}`,
      terms([['Digest', answer.digest, 'mono'], ['Signature', answer.signature, 'mono']])));
  } catch (error) {
    const hint = error.body?.hint;
    byId('outcome').replaceChildren(el('div', 'answer bad', error.message, hint ? el('div', 'faint', hint) : null));
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

byId('sign').addEventListener('submit', submit);
byId('leave').addEventListener('click', () => leave());
byId('door').addEventListener('cancel', (event) => event.preventDefault());
byId('token-form').addEventListener('submit', () => {
  token.keep(byId('token').value.trim());
  enter();
});
enter();
