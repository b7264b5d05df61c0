// The page docs/try, made of the package under test and opened from the disk in a headless Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'node:test';
import { packageUrl } from './package.mjs';
import { withBrowsers } from './browser.mjs';

const BUNDLE = fileURLToPath(new URL('../../../docs/try/bundle.mjs', import.meta.url));
/** Where pictures go, for who wants to look at the page. */
const PICTURES = process.env.TETRALITH_PICTURES;

const put = (browser, css, value) => browser.run(async (selector, text) => {
  document.querySelector(selector).value = text;
}, css, value);

const value = (browser, css) => browser.run(async (selector) => document.querySelector(selector).value, css);

async function picture(browser, name) {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  const { cssContentSize } = await browser.devtools('Page.getLayoutMetrics');
  const clip = { ...cssContentSize, scale: 1 };
  const { data } = await browser.devtools('Page.captureScreenshot', { captureBeyondViewport: true, clip });
  writeFileSync(join(PICTURES, `${name}.png`), Buffer.from(data, 'base64'));
}

async function inPage(work) {
  const folder = mkdtempSync(join(tmpdir(), 'tetralith-'));
  try {
    const file = join(folder, 'index.html');
    execFileSync(process.execPath, [BUNDLE, fileURLToPath(packageUrl), file]);
    await withBrowsers(async (start) => {
      const browser = await start();
      await browser.resize(1280, 900);
      await browser.open(pathToFileURL(file).href);
      await browser.text('#state', /Ready/);
      await work(browser);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the page to try it', () => inPage(async (browser) => {
  await browser.click('#vrf-prove');
  await browser.text('#vrf-verdict', /Proved in/);
  await browser.click('#vrf-verify');
  await browser.text('#vrf-verdict', /^Valid/);
  assert.match(await browser.text('#vrf-output', /./), /^Random output: [0-9a-f]{128}$/);
  const proof = await value(browser, '#vrf-proof');
  await put(browser, '#vrf-input', 'slot 13');
  await browser.click('#vrf-verify');
  await browser.text('#vrf-verdict', /^Not valid/);
  assert.equal(await browser.text('#vrf-output', /^$/), '');
  await put(browser, '#vrf-proof', 'no digits');
  await browser.click('#vrf-verify');
  await browser.text('#vrf-verdict', /hexadecimal/);
  await put(browser, '#vrf-input', 'slot 12');
  await put(browser, '#vrf-proof', proof);
  await browser.click('#vrf-verify');
  await browser.text('#vrf-verdict', /^Valid/);

  await browser.click('#xmss-verify');
  await browser.text('#xmss-verdict', /^Valid: XMSS-SHA2_10_256, index 0/);
  const message = await value(browser, '#xmss-message');
  await put(browser, '#xmss-message', `${message}!`);
  await browser.click('#xmss-verify');
  await browser.text('#xmss-verdict', /^Not valid/);
  await put(browser, '#xmss-signature', '00');
  await browser.click('#xmss-verify');
  await browser.text('#xmss-verdict', /signature/);
  await browser.click('#xmss-reset');
  await browser.click('#xmss-verify');
  await browser.text('#xmss-verdict', /^Valid/);

  await browser.click('#squaring-start');
  await browser.text('#squaring-count', /^[1-9][\d,]* squarings, one after the other/);
  await browser.text('#squaring-speed', /^[1-9][\d,]*$/);

  await put(browser, '#lock-seconds', '60');
  await browser.click('#lock-seal');
  await browser.text('#lock-state', /^Locked: [\d,]+ bytes/);
  await browser.click('#lock-open');
  await browser.text('#lock-state', /^[\d,]+ of [\d,]+ squarings, \d+ s to go/);
  await browser.click('#lock-cancel');
  await browser.text('#lock-state', /still locked/);
  await put(browser, '#lock-seconds', '2');
  await put(browser, '#lock-text', 'hello, später');
  await browser.click('#lock-seal');
  await browser.text('#lock-state', /^Locked: [\d,]+ bytes/);
  await browser.click('#lock-open');
  await browser.text('#lock-state', /^Opened after/);
  assert.equal(await browser.text('#lock-result', /./), 'hello, später');
  await new Promise((resolve) => { setTimeout(resolve, PICTURES === undefined ? 0 : 4000); });
  await browser.click('#squaring-stop');

  await browser.click('#tss-keygen');
  await browser.text('#tss-verdict', /^Made in/);
  assert.match(await browser.text('#tss-public', /./), /^Public key: 0[23][0-9a-f]{64}$/);
  await browser.click('#tss-sign');
  await browser.text('#tss-verdict', /^Parties 1 and 3 signed in .* The signature is valid\.$/);
  assert.match(await browser.text('#tss-signature', /./), /^Signature: [0-9a-f]{130}$/);

  await picture(browser, 'desktop');
  // A phone: nothing may be wider than its screen.
  const phone = { width: 390, height: 844, deviceScaleFactor: 2, mobile: true };
  await browser.devtools('Emulation.setDeviceMetricsOverride', phone);
  const [wide, small] = await browser.run(async () => [
    document.documentElement.scrollWidth,
    [...document.querySelectorAll('button')].filter((button) => button.offsetHeight < 44).map(({ id }) => id),
  ]);
  assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
  assert.deepEqual(small, []);
  await picture(browser, 'phone');
  const dark = [{ name: 'prefers-color-scheme', value: 'dark' }];
  await browser.devtools('Emulation.setEmulatedMedia', { features: dark });
  await picture(browser, 'phone-dark');
}));
