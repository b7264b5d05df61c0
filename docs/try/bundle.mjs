// bundle.mjs PACKAGE FILE: writes the page, with the npm package in folder PACKAGE, as one file.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder, out] = process.argv.slice(2);
if (out === undefined) throw new Error('usage: bundle.mjs PACKAGE FILE');
const here = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const ours = new Set(readdirSync(new URL('.', import.meta.url)));
const files = {};

/** Adds a file and what it imports, whose names it then has between percent signs. */
function add(name) {
  if (name in files) return;
  if (name.endsWith('.wasm')) {
    files[name] = gzipSync(readFileSync(`${folder}/${name}`), { level: 9 }).toString('base64');
    return;
  }
  files[name] = '';
  const resolved = (path) => {
    const needed = posix.join(posix.dirname(name), path);
    add(needed);
    return `%${needed}%`;
  };
  files[name] = (ours.has(name) ? here(name) : readFileSync(`${folder}/${name}`, 'utf8'))
    .replace(/(from |import |import\()'(\.{1,2}\/[^']+)'/g, (_, how, path) => `${how}'${resolved(path)}'`)
    .replace(/new URL\('(\.\/[^']+)', import\.meta\.url\)/g, (_, path) => `new URL('${resolved(path)}')`);
}

add('page.js');
add('worker.js');
const parts = {
  '/*page.css*/': here('page.css'),
  // `<` would end the element that holds the text.
  '/*files*/': JSON.stringify(files).replaceAll('<', '\\u003c'),
  '/*boot.js*/': here('boot.js'),
};
let page = here('page.template');
for (const [mark, text] of Object.entries(parts)) page = page.replace(mark, () => text);
writeFileSync(out, page);
