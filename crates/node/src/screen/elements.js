// Makes elements. Text is always text: nothing that a node or a peer says becomes markup.

export const byId = (id) => document.getElementById(id);

/** An element with classes, and with texts and elements in it. */
export function el(tag, classes, ...children) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Puts rows into a list, or says that there are none. */
export function fill(id, rows, empty) {
  byId(id).replaceChildren(...(rows.length ? rows : [el('p', 'empty', empty)]));
}

/** Terms and what they say; those without a value are left out. */
export function terms(pairs) {
  const list = el('dl');
  for (const [term, value, classes] of pairs) {
    if (value === null || value === undefined || value === '') continue;
    list.append(el('dt', '', term), el('dd', classes || '', value));
  }
  return list;
}

export const names = (parties) => parties.map((party) => party.name).join(', ');
export const short = (hex) => (hex && hex.length > 18 ? `${hex.slice(0, 8)}…${hex.slice(-6)}` : hex || '');

/** A duration as people say it. */
export function duration(ms) {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min`;
}
