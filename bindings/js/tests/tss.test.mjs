import assert from 'node:assert/strict';
import { createPublicKey, randomBytes, verify as verifyHere } from 'node:crypto';
import test from 'node:test';
import { NOT_BYTES, fails, tss, utf8, xmss } from './package.mjs';

const random = () => Uint8Array.from(randomBytes(32));

function run(parties, session) {
  return tss.exchange(new Map(parties.map((me) => [me, session(me)])));
}

function made(scheme) {
  const id = random();
  return run([1, 2, 3], (me) => tss.keygen(scheme, id, me, 2, 3));
}

test('a 2-of-3 key of ECDSA signs, and is refreshed', () => {
  const shares = made('dkls23');
  const { groupKey, party, threshold, parties } = tss.shareInfo('dkls23', shares.get(2));
  assert.deepEqual([party, threshold, parties], [2, 2, 3]);
  const digest = xmss.sha256(utf8('a payment'));
  let id = random();
  const fresh = run([1, 2, 3], (me) => tss.refresh(id, shares.get(me)));
  id = random();
  const signature = run([1, 3], (me) => tss.sign('dkls23', id, fresh.get(me), [1, 3], digest)).get(3);
  assert.ok(tss.verify(groupKey, digest, signature));
  assert.ok(!tss.verify(groupKey, random(), signature));
  fails('malformed', 'input.length', () => tss.sign('dkls23', id, fresh.get(1), [1, 3], utf8('long')));
  fails('malformed', 'input.length', () => tss.verify(groupKey.slice(1), digest, signature));
});

test('a key of FROST signs as RFC 8032 says', () => {
  const shares = made('frost-ed25519');
  const { groupKey } = tss.shareInfo('frost-ed25519', shares.get(1));
  const id = random();
  const message = utf8('a message of any length');
  const signature = run([2, 3], (me) => tss.sign('frost-ed25519', id, shares.get(me), [2, 3], message)).get(2);
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), groupKey]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  assert.ok(verifyHere(null, message, key, signature));
});

test('a bad message is refused and the run goes on', () => {
  const id = random();
  const sessions = new Map([1, 2].map((me) => [me, tss.keygen('dkls23', id, me, 2, 2)]));
  const [first] = sessions.get(1).outgoing();
  const refused = (message) =>
    fails('malformed', 'message.refused', () => sessions.get(2).receive(1, message));
  refused(new Uint8Array());
  refused(first.message.slice(0, 7));
  refused(Uint8Array.of(...first.message, 0));
  refused(random());
  assert.deepEqual(sessions.get(2).waitingFor, [1]);
  sessions.get(2).receive(1, first.message);
  refused(first.message);
  assert.equal(sessions.get(2).takeOutput(), undefined);
});

test('a lying party is named', () => {
  const id = random();
  const sessions = new Map([1, 2, 3].map((me) => [me, tss.keygen('frost-ed25519', id, me, 2, 3)]));
  let blamed;
  for (let turn = 0; turn < 20 && blamed === undefined; turn += 1) {
    for (const [me, session] of sessions) {
      for (const { to, message } of session.outgoing()) {
        // The last byte belongs to a proof or to a share.
        const sent = message.slice();
        if (me === 3 && session.round > 1) sent[sent.length - 1] ^= 1;
        for (const other of to === undefined ? [1, 2, 3] : [to]) {
          if (other !== me) {
            // A run that has ended refuses what comes late.
            try {
              sessions.get(other).receive(me, sent);
            } catch (error) {
              assert.equal(error.code, 'message.refused');
            }
          }
        }
      }
    }
    try {
      sessions.get(1).takeOutput();
    } catch (error) {
      blamed = error;
    }
  }
  assert.deepEqual([blamed?.kind, blamed?.code], ['peer', 'peers.aborted']);
  assert.ok(blamed.suspects.includes(3), `${blamed.message}: ${blamed.suspects}`);
});

test('wrong arguments', () => {
  const id = random();
  const usage = (work) => fails('malformed', 'usage.arguments', work);
  for (const [me, t, n] of [[0, 2, 3], [4, 2, 3], [1, 1, 3], [1, 4, 3], [1.5, 2, 3], [256, 2, 3], ['1', 2, 3]]) {
    usage(() => tss.keygen('dkls23', id, me, t, n));
  }
  usage(() => tss.keygen('rsa', id, 1, 2, 3));
  fails('malformed', 'input.length', () => tss.keygen('dkls23', id.slice(1), 1, 2, 3));
  const share = made('frost-ed25519').get(1);
  for (const wrong of NOT_BYTES) {
    usage(() => tss.keygen('dkls23', wrong, 1, 2, 3));
    usage(() => tss.sign('frost-ed25519', id, wrong, [1, 2], id));
    usage(() => tss.shareInfo('frost-ed25519', wrong));
    usage(() => tss.keygen('frost-ed25519', id, 1, 2, 3).receive(2, wrong));
    if (!Array.isArray(wrong)) usage(() => tss.sign('frost-ed25519', id, share, wrong, id));
  }
  for (const signers of [[], [1], [1, 1], [2, 3], [1, 300]]) {
    assert.throws(() => tss.sign('frost-ed25519', id, share, signers, id), { name: 'TetralithError', kind: 'malformed' });
  }
  for (const bad of [share.slice(1), new Uint8Array(), Uint8Array.of(...share, 0)]) {
    fails('malformed', 'input.malformed', () => tss.shareInfo('frost-ed25519', bad));
    fails('malformed', 'input.malformed', () => tss.refresh(id, bad));
  }
  assert.throws(() => new tss.Session({}), TypeError);
});
