// Runs the README's examples as one program, and compares what they print with the comments there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'node:test';
import { packageUrl } from './package.mjs';

test('the examples of the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const examples = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  assert.ok(examples.length >= 5);
  const program = examples.join('\n');
  const expected = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text]) => text);
  const folder = mkdtempSync(join(tmpdir(), 'tetralith-'));
  try {
    cpSync(fileURLToPath(packageUrl), join(folder, 'node_modules/tetralith'), { recursive: true });
    writeFileSync(join(folder, 'example.mjs'), program);
    const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' });
    assert.deepEqual(printed.trimEnd().split('\n'), expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
