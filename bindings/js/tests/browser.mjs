// A headless Chromium, driven by WebDriver (https://www.w3.org/TR/webdriver2/) through chromedriver.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageUrl } from './package.mjs';

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

async function driver() {
  const process = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve, reject) => {
    let told = '';
    process.stdout.on('data', (data) => {
      told += data;
      const found = /started successfully on port (\d+)/.exec(told);
      if (found) resolve(found[1]);
    });
    process.on('error', reject);
    process.on('exit', () => reject(new Error(`chromedriver ended: ${told}`)));
  });
  return { process, url: `http://127.0.0.1:${port}/session` };
}

async function request(method, url, body) {
  const given = { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(url, given);
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${url}: ${value.error}: ${value.message}`);
  return value;
}

/** A browser with the profile of folder `profile`. */
class Browser {
  #driver;
  #url;

  static async start(profile) {
    const browser = new Browser();
    browser.#driver = await driver();
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`];
    const capabilities = { alwaysMatch: { browserName: 'chrome', 'goog:chromeOptions': { args } } };
    try {
      const { sessionId, capabilities: found } =
        await request('POST', browser.#driver.url, { capabilities });
      browser.#url = `${browser.#driver.url}/${sessionId}`;
      browser.processId = found['goog:processID'];
      await browser.#post('timeouts', { script: 120_000, pageLoad: 120_000 });
      return browser;
    } catch (error) {
      browser.#driver.process.kill();
      throw error;
    }
  }

  #post(path, body = {}) { return request('POST', `${this.#url}/${path}`, body); }

  open(url) { return this.#post('url', { url }); }
  async newPage() { return (await this.#post('window/new', { type: 'tab' })).handle; }
  page() { return request('GET', `${this.#url}/window`); }
  to(handle) { return this.#post('window', { handle }); }
  closePage() { return request('DELETE', `${this.#url}/window`); }
  resize(width, height) { return this.#post('window/rect', { width, height }); }
  devtools(cmd, params = {}) { return this.#post('goog/cdp/execute', { cmd, params }); }

  async click(css) {
    const found = await this.#post('element', { using: 'css selector', value: css });
    await this.#post(`element/${found[ELEMENT]}/click`);
  }

  /** What an async function answers in the page; an error of it is thrown here. */
  async run(work, ...args) {
    const script = `const [args, done] = arguments;
      (${work})(...args).then((value) => done({ value }), (error) => done({ error: String(error?.stack ?? error) }));`;
    const { value, error } = await this.#post('execute/async', { script, args: [args] });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Waits until the text of an element matches. */
  async text(css, pattern, seconds = 60) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const text = await this.run(async (selector) => document.querySelector(selector)?.textContent, css);
      if (pattern.test(text)) return text;
      if (Date.now() > end) throw new Error(`${css} says ${JSON.stringify(text)}, expected ${pattern}`);
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  }

  /** Ends the browser's processes without any warning. */
  async crash() {
    globalThis.process.kill(this.processId, 'SIGKILL');
    await this.#end();
  }

  async quit() {
    await request('DELETE', this.#url).catch(() => undefined);
    await this.#end();
  }

  async #end() {
    const { process } = this.#driver;
    process.kill();
    if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
  }
}

/** Runs `work` with a function that starts browsers of one profile, and ends them all afterwards. */
export async function withBrowsers(work) {
  const profile = await mkdtemp(join(tmpdir(), 'tetralith-browser-'));
  const started = [];
  try {
    await work(async () => {
      const browser = await Browser.start(profile);
      started.push(browser);
      return browser;
    });
  } finally {
    for (const browser of started) await browser.quit().catch(() => undefined);
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** Serves the package's files, and an empty page, while `work` runs with the address. */
export async function served(work) {
  const folder = fileURLToPath(packageUrl);
  const server = createServer(async (asked, answer) => {
    const { pathname } = new URL(asked.url, 'http://localhost');
    const type = TYPES[extname(pathname)] ?? 'text/plain';
    try {
      const body = pathname === '/' ? '<!doctype html><title>a page</title>' : await readFile(join(folder, pathname));
      answer.writeHead(200, { 'content-type': pathname === '/' ? 'text/html' : type }).end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
