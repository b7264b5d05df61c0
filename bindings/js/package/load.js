// Loads a module: from the disk in Node, by `fetch` in browsers and their workers.
import { TetralithError } from './errors.js';

export async function load(glue, url) {
  if (typeof globalThis.crypto?.getRandomValues !== 'function') {
    const message = 'this environment has no crypto.getRandomValues';
    throw new TetralithError('environment', 'environment.randomness', message, 'use Node 20 or later');
  }
  if (url.protocol === 'file:') {
    // Bundlers for browsers must not look for this module.
    const { readFileSync } = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs');
    glue.initSync({ module: readFileSync(url) });
  } else {
    await glue.default({ module_or_path: url });
  }
}
