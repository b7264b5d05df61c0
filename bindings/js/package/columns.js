// Columns of byte strings: a list, one value for all rows, values of one width, or values with offsets.
import { TetralithError, bytes, options, wrong } from './errors.js';

/** How many rows are copied into the module at once. */
const CHUNK = 1024;

/**
 * A verdict for each row of some columns: those of `work`, which gets some rows at once, for each column its
 * values one after the other and where each begins and ends.
 */
export function byColumns(names, columns, work) {
  const given = options(columns, names);
  const read = names.map((name) => column(given[name], name));
  const lengths = new Set(read.map(({ length }) => length).filter((length) => length !== undefined));
  if (lengths.size > 1) {
    const found = read.map(({ length }, i) => `${names[i]} ${length ?? 'one value'}`).join(', ');
    throw new TetralithError('malformed', 'input.column', `the columns have different lengths: ${found}`);
  }
  const rows = lengths.size === 1 ? [...lengths][0] : 1;
  const verdicts = new Uint8Array(rows);
  for (let from = 0; from < rows; from += CHUNK) {
    const to = Math.min(rows, from + CHUNK);
    verdicts.set(work(read.flatMap(({ at }) => gathered(at, from, to))), from);
  }
  return verdicts;
}

/** How many rows a column has, if not the same value in all, and the value of each row. */
function column(value, name) {
  if (Array.isArray(value)) {
    return { length: value.length, at: (i) => bytes(value[i], `row ${i} of ${name}`) };
  }
  if (typeof value === 'object' && value !== null && 'data' in value) {
    const { data, width, offsets } = value;
    const all = bytes(data, `${name}.data`);
    if (offsets !== undefined) return byOffsets(all, offsets, name);
    if (!Number.isInteger(width) || width < 1 || all.length % width !== 0) {
      wrong(`${name}.width`, width, `a divisor of ${all.length}, the length of the data`, 'input.column');
    }
    return { length: all.length / width, at: (i) => all.subarray(i * width, (i + 1) * width) };
  }
  const same = bytes(value, name);
  return { at: () => same };
}

function byOffsets(all, offsets, name) {
  const ascending = (from, to) =>
    Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from <= to && to <= all.length;
  const length = offsets?.length;
  if (!Number.isInteger(length) || length < 1) wrong(`${name}.offsets`, offsets, 'an array', 'input.column');
  return {
    length: length - 1,
    at: (i) => {
      const [from, to] = [Number(offsets[i]), Number(offsets[i + 1])];
      if (!ascending(from, to)) {
        const message = `offsets ${i} and ${i + 1} of ${name} do not ascend within its ${all.length} bytes`;
        throw new TetralithError('malformed', 'input.column', message);
      }
      return all.subarray(from, to);
    },
  };
}

/** The values of some rows one after the other, and where each begins and ends. */
function gathered(at, from, to) {
  const values = [];
  const offsets = new Uint32Array(to - from + 1);
  let total = 0;
  for (let i = from; i < to; i += 1) {
    const value = at(i);
    total += value.length;
    values.push(value);
    offsets[values.length] = total;
  }
  // As one argument: what does not fit is refused before it is copied.
  if (total >= 2 ** 28) {
    throw new TetralithError('malformed', 'input.length', `rows ${from} to ${to} have ${total} bytes`);
  }
  const data = new Uint8Array(total);
  values.forEach((value, i) => data.set(value, offsets[i]));
  return [data, offsets];
}
