import * as vrf from './vrf.js';
import { button, element, fromHex, milliseconds, timed, toHex, utf8, verdict } from './elements.js';

const SUITE = 'draft03-cardano';
let key;

function input() {
  return utf8(element('vrf-input').value);
}

function replaceKey() {
  key?.free();
  key = vrf.SecretKey.generate(SUITE);
  element('vrf-public').value = toHex(key.publicKey);
  element('vrf-proof').value = '';
  element('vrf-output').textContent = '';
  verdict('vrf-verdict', true, '');
}

button('vrf-key', 'vrf-verdict', replaceKey);

button('vrf-prove', 'vrf-verdict', () => {
  const [proof, time] = timed(() => key.prove(input()));
  element('vrf-proof').value = toHex(proof);
  element('vrf-output').textContent = '';
  verdict('vrf-verdict', true, `Proved in ${milliseconds(time)}. Now verify it.`);
});

button('vrf-verify', 'vrf-verdict', () => {
  element('vrf-output').textContent = '';
  const proof = fromHex(element('vrf-proof').value, 'proof');
  if (proof.length === 0) throw new Error('There is no proof yet: press Prove first.');
  const [output, time] = timed(() => {
    try {
      return vrf.verify(SUITE, key.publicKey, input(), proof);
    } catch (error) {
      if (error.kind === 'verification') return undefined;
      throw error;
    }
  });
  if (output === undefined) {
    verdict('vrf-verdict', false, 'Not valid: this proof does not belong to this input and key.');
    return;
  }
  verdict('vrf-verdict', true, `Valid. Verified in ${milliseconds(time)}.`);
  element('vrf-output').textContent = `Random output: ${toHex(output)}`;
});

replaceKey();
