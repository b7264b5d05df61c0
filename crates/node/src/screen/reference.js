// Shows the node's OpenAPI document. It loads nothing from elsewhere.

import { byId, el } from '/screen/elements.js';

const name = (schema) => schema.$ref.split('/').pop();

/** A type in words; a named one is a link to where it is shown. */
function kind(schema) {
  if (schema === true || schema === undefined) return 'anything';
  if (schema.$ref) {
    const link = el('a', 'mono', name(schema));
    link.href = `#${name(schema)}`;
    return link;
  }
  const choices = schema.anyOf || schema.oneOf;
  if (choices) {
    const parts = choices.flatMap((choice, at) => (at ? [' or ', kind(choice)] : [kind(choice)]));
    return el('span', '', ...parts);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.join(' or ');
  if (schema.type === 'array') return el('span', '', 'list of ', kind(schema.items));
  return [].concat(schema.type || 'anything').join(' or ');
}

/** The fields of a type, or what it may be. */
function fields(schema) {
  if (!schema.properties) return el('p', 'faint', kind(schema));
  const required = new Set(schema.required || []);
  const list = el('dl');
  for (const [field, of] of Object.entries(schema.properties)) {
    const about = of.description ? ` – ${of.description}` : '';
    const optional = required.has(field) ? '' : ', optional';
    list.append(el('dt', 'mono', field), el('dd', '', kind(of), optional, about));
  }
  return list;
}

function content(title, of) {
  const [type, { schema }] = Object.entries(of.content)[0];
  return el('p', '', `${title}: `, schema ? kind(schema) : type);
}

function route(path, method, of) {
  const box = el('section', '');
  box.dataset.route = `${method} ${path}`;
  const head = el('h2', '', el('span', 'badge', method.toUpperCase()), el('span', 'mono', path));
  box.append(head, el('p', '', of.summary));
  if (of.requestBody) box.append(content('Request', of.requestBody));
  box.append(content('Answer', of.responses['200']));
  box.append(el('p', 'faint', of.description || 'Needs no token.'));
  return box;
}

async function show() {
  const answer = await fetch('/openapi.json');
  const api = await answer.json();
  if (!answer.ok) throw new Error(api.message);
  byId('title').textContent = api.info.title;
  byId('about').textContent = `API ${api.info.version}, OpenAPI ${api.openapi}`;
  const boxes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => route(path, method, of)));
  for (const [type, schema] of Object.entries(api.components.schemas)) {
    const box = el('section', '', el('h2', '', type));
    box.id = type;
    if (schema.description) box.append(el('p', '', schema.description));
    box.append(fields(schema));
    boxes.push(box);
  }
  byId('routes').replaceChildren(...boxes);
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
}

show().catch((error) => {
  byId('trouble').textContent = `The document cannot be read: ${error.message}`;
  byId('trouble').hidden = false;
});
