// Where the state of XMSS keys is kept. A store has a lock that only one signer holds, loads the record of
// a key, and commits another in its place: durably, and only if the one that was loaded is still there.
import { TetralithError, text } from './errors.js';

const same = (a, b) => (a === undefined || b === undefined ? a === b
  : a.length === b.length && a.every((byte, i) => byte === b[i]));

function conflict() {
  return new TetralithError(
    'state', 'state.conflict', 'the state was changed by somebody else', 'open the key again');
}

const failed = (error) => new TetralithError(
  'environment', 'io.file', `the state store failed: ${error?.message ?? error}`);

/** The answer to a request of IndexedDB. */
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(failed(request.error));
});

async function opened(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore('states');
  const database = await answer(request);
  database.onversionchange = () => database.close();
  return database;
}

/** A transaction that is on the disk when this resolves, unless `work` says why not. */
async function transaction(name, mode, work) {
  const database = await opened(name);
  try {
    const open = database.transaction('states', mode, { durability: 'strict' });
    const ended = new Promise((resolve, reject) => {
      open.oncomplete = resolve;
      open.onabort = () => reject(failed(open.error ?? 'the transaction was aborted'));
    });
    ended.catch(() => undefined);
    const result = await work(open.objectStore('states'), open);
    await ended;
    return result;
  } finally {
    database.close();
  }
}

export function browserStore(name = 'tetralith-xmss') {
  text(name, 'name');
  if (typeof indexedDB === 'undefined' || typeof globalThis.navigator?.locks?.request !== 'function') {
    const message = 'this environment has no IndexedDB with navigator.locks';
    throw new TetralithError('environment', 'environment.store', message, 'use folderStore in Node');
  }
  return {
    place: `indexeddb ${globalThis.location?.origin} ${name}`,
    lock: (id, work) => navigator.locks.request(`${name} ${id}`, work),
    load: (id) => transaction(name, 'readonly', (states) => answer(states.get(id))),
    commit: (id, expected, record) => transaction(name, 'readwrite', async (states, open) => {
      if (!same(await answer(states.get(id)), expected)) {
        open.abort();
        throw conflict();
      }
      states.put(record, id);
    }),
  };
}

/** Waits before the lock is tried again. */
const PAUSE = 20;

/** The last that waits in this process for each lock, so that its signers come in their order. */
const waiting = new Map();

async function locked(fs, path, work) {
  const before = waiting.get(path);
  const mine = (async () => {
    await before?.catch(() => undefined);
    return lockedByFile(fs, path, work);
  })();
  waiting.set(path, mine);
  try {
    return await mine;
  } finally {
    if (waiting.get(path) === mine) waiting.delete(path);
  }
}

async function lockedByFile(fs, path, work) {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      const handle = await fs.open(path, 'wx', 0o600);
      await handle.writeFile(`${process.pid}\n`);
      await handle.close();
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw failed(error);
      if (Date.now() > end) {
        const holder = (await fs.readFile(path, 'utf8').catch(() => '')).trim();
        throw new TetralithError(
          'state', 'state.locked', `process ${holder || 'unknown'} holds the state by ${path}`,
          'if no such process runs, delete that file');
      }
    }
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
  }
  try {
    return await work();
  } finally {
    await fs.unlink(path);
  }
}

async function synced(fs, path, flags) {
  const handle = await fs.open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function folderStore(folder) {
  const fs = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
  let place;
  try {
    await fs.mkdir(text(folder, 'folder'), { recursive: true, mode: 0o700 });
    folder = await fs.realpath(folder);
    const { dev, ino } = await fs.stat(folder, { bigint: true });
    // A copy of the folder has another number, and its states are refused.
    place = `folder ${dev} ${ino} ${folder}`;
  } catch (error) {
    throw error instanceof TetralithError ? error : failed(error);
  }
  const path = (id) => `${folder}/${id}.state`;
  const load = async (id) => {
    try {
      return new Uint8Array(await fs.readFile(path(id)));
    } catch (error) {
      if (error.code === 'ENOENT') return undefined;
      throw failed(error);
    }
  };
  return {
    place,
    load,
    lock: (id, work) => locked(fs, `${path(id)}.lock`, work),
    commit: async (id, expected, record) => {
      if (!same(await load(id), expected)) throw conflict();
      try {
        const aside = `${path(id)}.new`;
        await fs.writeFile(aside, record, { mode: 0o600, flush: true });
        await synced(fs, aside, 'r+');
        await fs.rename(aside, path(id));
        await synced(fs, folder, 'r');
      } catch (error) {
        throw failed(error);
      }
    },
  };
}
