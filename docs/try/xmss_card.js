import * as xmss from './xmss.js';
import { SAMPLE } from './sample.js';
import { button, element, fromHex, milliseconds, timed, utf8, verdict } from './elements.js';

function restore() {
  element('xmss-message').value = SAMPLE.message;
  element('xmss-public').value = SAMPLE.publicKey;
  element('xmss-signature').value = SAMPLE.signature;
  verdict('xmss-verdict', true, '');
}

button('xmss-reset', 'xmss-verdict', restore);

button('xmss-verify', 'xmss-verdict', () => {
  const key = xmss.PublicKey.fromBytes(fromHex(element('xmss-public').value, 'public key'));
  const signature = fromHex(element('xmss-signature').value, 'signature');
  const message = utf8(element('xmss-message').value);
  const [valid, time] = timed(() => {
    try {
      key.verify(message, signature);
      return true;
    } catch (error) {
      if (error.kind === 'verification') return false;
      throw error;
    }
  });
  if (valid) {
    const index = key.signatureIndex(signature);
    verdict('xmss-verdict', true, `Valid: ${key.params}, index ${index}. Verified in ${milliseconds(time)}.`);
  } else {
    verdict('xmss-verdict', false, 'Not valid: the message or the signature was changed.');
  }
});

restore();
