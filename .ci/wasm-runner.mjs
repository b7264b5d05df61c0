// Runs the `main` of a WebAssembly program that needs nothing from outside: tests without a system.
import { readFileSync } from 'node:fs';
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const { exports } = new WebAssembly.Instance(module, {});
process.exit(exports.main(0, 0));
