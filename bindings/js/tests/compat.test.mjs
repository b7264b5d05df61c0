import assert from 'node:assert/strict';
import test from 'node:test';
import { fails, fromHex, load, toHex, utf8, vdf as plain, vector } from './package.mjs';

const { default: qrllib } = await load('compat/qrllib.js');
const { vdf, vdfProve, vdfProver, vdfVerifier } = await load('compat/sqr.js');

const zeros = (length) => {
  const seed = new qrllib.Uint8Vector();
  seed.resize(length, 0);
  return seed;
};

const ADDRESS = 'Q00020096e5c065cf961565169e795803c1e60f521af7a3ea0326b42aa40c0e75390e5d8f4336de';
const HEX_SEED = '0002006963291e58d6e776fe25932964748e774fb22cff112fbf5ece45b17965704697550064a60f40ba7c742694346761d5cc';
const WORDS = 'aback bunny heroic crazy brown miss torch inhere cater crazy hammer ethic kidnap wire clutch vat cope '
  + 'walnut sodden gather lame free enable juicy aboard exert awhile artful leg during neatly employ gritty gill';

test('wallets of qrllib have its addresses and words', () => {
  const xmss = qrllib.Xmss.fromParameters(zeros(48), 4, qrllib.eHashFunction.SHA2_256);
  assert.equal(xmss.getAddress(), ADDRESS);
  assert.equal(qrllib.bin2hstr(xmss.getAddressRaw()), ADDRESS.slice(1));
  assert.equal(`Q${qrllib.getAddress(xmss.getPK())}`, ADDRESS);
  assert.deepEqual([xmss.getIndex(), xmss.getHeight(), xmss.getHexSeed()], [0, 4, `000200${'00'.repeat(48)}`]);
  for (const again of [qrllib.Xmss.fromHexSeed(HEX_SEED), qrllib.XmssFast.fromMnemonic(WORDS)]) {
    assert.equal(again.getAddress(), 'Q000200baea487e62a96f32a2c427def90f020880d2fb0bff756ff6450186904dcc0c88e9018879');
    assert.equal(again.getMnemonic(), WORDS);
    assert.equal(again.getHexSeed(), HEX_SEED);
  }
  assert.equal(qrllib.getHeight(ADDRESS), 4);
  assert.equal(qrllib.getHashFunction(ADDRESS), qrllib.eHashFunction.SHA2_256);
  assert.equal(qrllib.getSignatureType(ADDRESS), qrllib.eSignatureType.XMSS);
  assert.ok(qrllib.validateAddress(ADDRESS) && qrllib.QRLHelper.addressIsValid(xmss.getAddressRaw()));
  assert.ok(!qrllib.validateAddress(ADDRESS.replace('de', 'df')) && !qrllib.validateAddress('Q000200'));
});

test('helpers of qrllib', () => {
  const numbers = new qrllib.Uint8Vector([0, 1, 2, 3, 4, 5]);
  assert.equal(qrllib.bin2mnemonic(numbers), 'aback bag adrift dream');
  assert.deepEqual([...qrllib.mnemonic2bin('aback bag adrift dream')], [...numbers]);
  assert.equal(qrllib.bin2hstr(qrllib.sha2_256([1, 2, 3, 4, 5])), '74f81fe167d99b4cb41d6d0ccda82278caee9f3e2f25d5e5a3936ff3dcec60d0');
  assert.equal(qrllib.shake128(5, numbers).size(), 5);
  assert.equal(qrllib.bin2hstr(qrllib.hstr2bin('00fFa0')), '00ffa0');
  assert.equal(qrllib.getRandomSeed().size(), 48);
  assert.notEqual(qrllib.bin2hstr(qrllib.getRandomSeed(48, 'more')), qrllib.bin2hstr(qrllib.getRandomSeed(48, 'more')));
  assert.ok(new Set(qrllib.getRandomSeed()).size > 16);
  const malformed = { name: 'TetralithError', kind: 'malformed' };
  for (const work of [
    () => qrllib.hstr2bin('abc'), () => qrllib.hstr2bin('zz'), () => qrllib.hstr2bin(7),
    () => qrllib.bin2mnemonic([1, 2]), () => qrllib.bin2mnemonic([300]), () => qrllib.mnemonic2bin('aback'),
    () => qrllib.mnemonic2bin('aback nothing'), () => qrllib.getAddress('00'), () => qrllib.getHeight('Q'),
    () => new qrllib.Uint8Vector([256]), () => qrllib.Xmss.fromParameters(zeros(47), 4, qrllib.SHA2_256),
    () => qrllib.Xmss.fromParameters(zeros(48), 5, qrllib.SHA2_256), () => qrllib.Xmss.fromHexSeed('00'),
    () => qrllib.Xmss.fromParameters(zeros(48), 4, 7), () => qrllib.Xmss.fromMnemonic(''),
    () => qrllib.XmssBasic.fromParameters(zeros(48), 4, qrllib.SHA2_256, qrllib.eAddrFormatType.SHA256_2X, 4),
  ]) assert.throws(work, malformed);
});

test('signatures are those of qrllib', () => {
  const xmss = qrllib.Xmss.fromParameters(zeros(48), 6, qrllib.eHashFunction.SHAKE_128);
  const message = qrllib.hstr2bin('56454c9621c549cd05c112de496ba32f');
  const signature = xmss.sign(message);
  assert.equal(qrllib.bin2hstr(signature), vector('xmss/qrl/zero-seed-6-0.hex').trim());
  assert.equal(signature.size(), xmss.getSignatureSize());
  assert.ok(qrllib.Xmss.verify(message, signature, xmss.getPKRaw()));
  assert.ok(!qrllib.Xmss.verify([...message, 0], signature, xmss.getPKRaw()));
  assert.equal(qrllib.Xmss.verify(message, [1, 2, 3], xmss.getPKRaw()), false);
  assert.equal(qrllib.Xmss.verify(message, signature, [1]), false);
  assert.equal(xmss.getIndex(), 1);
});

test('no index signs two messages in one process, whichever object asks', async () => {
  const make = () => qrllib.Xmss.fromParameters(zeros(48).toUint8Array().fill(9), 4, qrllib.SHA2_256);
  const reused = (work) => fails('state', 'state.used', work);
  const [first, second] = [make(), make()];
  const signature = first.sign(utf8('one'));
  assert.deepEqual([...second.sign(utf8('one'))], [...signature]);
  assert.ok(qrllib.Xmss.verify(utf8('two'), second.sign(utf8('two')), second.getPKRaw()));
  reused(() => first.sign(utf8('another')));
  reused(() => make().sign(utf8('another')));
  fails('state', 'state.backward', () => first.setIndex(0));
  const basic = new qrllib.XmssBasic(new Uint8Array(48).fill(9), 4, qrllib.SHA2_256);
  basic.setIndex(5);
  basic.sign(utf8('five'));
  basic.setIndex(0);
  reused(() => basic.sign(utf8('another')));
  assert.deepEqual([...make().sign(utf8('one'))], [...signature]);
  basic.setIndex(15);
  basic.sign(utf8('last'));
  fails('state', 'state.exhausted', () => basic.sign(utf8('past the end')));
  fails('malformed', 'usage.arguments', () => basic.setIndex(16));
});

test('the first signature warns that the state is volatile', async () => {
  const { execFileSync } = await import('node:child_process');
  const url = new URL('compat/qrllib.js', (await import('./package.mjs')).packageUrl);
  const program = `import q from '${url}'; process.on('warning', (w) => console.log(w.code));
    const x = new q.Xmss(new Uint8Array(48), 4, 0); x.sign([1]); x.sign([2]);`;
  const told = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(told, 'TETRALITH_XMSS_STATE\n');
});

test('a delay of sqr', async () => {
  const { x, cases } = JSON.parse(vector('vdf/rsa2048_squaring.json'));
  const { t, y } = cases.find((known) => known.t === 10) ?? cases[0];
  assert.equal(vdf(t, x), y);
  assert.equal(await new Promise((resolve) => { vdfProver(t, x, resolve); }), y);
  assert.equal(await new Promise((resolve) => { vdfProver(t, 'no number', resolve); }), '');
  const proved = vdfProve(t, x);
  assert.equal(proved.proof.length % 2, 0);
  assert.ok(vdfVerifier(t, x, proved.y, proved.proof));
  assert.ok(!vdfVerifier(t + 1, x, proved.y, proved.proof));
  assert.ok(!vdfVerifier(t, `1${x}`, proved.y, proved.proof));
  assert.ok(!vdfVerifier(t, x, toHex(plain.evaluate('rsa2048', fromHex('07'), 3)), proved.proof));
  assert.ok(!vdfVerifier(t, x, proved.y, 'ff'));
  fails('malformed', 'usage.arguments', () => vdf(64, x));
  fails('malformed', 'input.hex', () => vdf(3, 'x'));
});
