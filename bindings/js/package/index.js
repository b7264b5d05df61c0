// All four modules. Import a subpath, such as `tetralith/vrf`, to load one alone.
export { TetralithError } from './errors.js';
export * as vrf from './vrf.js';
export * as xmss from './xmss.js';
export * as vdf from './vdf.js';
export * as tss from './tss.js';
