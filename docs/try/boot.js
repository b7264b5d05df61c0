// Imports the modules that are embedded in the page, so that no server is needed: a page that was opened
// from a disk may neither fetch files nor import modules beside it, and its workers cannot read its blobs.
(() => {
  /** Imports an embedded module by blob URLs. Workers get this function as text. */
  function load(embedded, name) {
    const made = new Map();

    async function wasm(text) {
      const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
      const bytes = await new Response(stream).arrayBuffer();
      return URL.createObjectURL(new Blob([bytes], { type: 'application/wasm' }));
    }

    async function script(text) {
      const needed = new Set(Array.from(text.matchAll(/%([\w./-]+\.(?:js|wasm))%/g), ([, found]) => found));
      const urls = await Promise.all(Array.from(needed, async (found) => [`%${found}%`, await url(found)]));
      const whole = urls.reduce((before, [mark, made]) => before.replaceAll(mark, made), text);
      return URL.createObjectURL(new Blob([whole], { type: 'text/javascript' }));
    }

    function url(found) {
      if (!made.has(found)) made.set(found, (found.endsWith('.wasm') ? wasm : script)(embedded[found]));
      return made.get(found);
    }

    return url(name).then((found) => import(found));
  }

  const embedded = JSON.parse(document.getElementById('files').textContent);

  // The first message has the files. A module takes the others, in their order, when it is there.
  const text = `const load = ${load};
    let module;
    onmessage = ({ data }) => {
      if (module === undefined) module = load(data.embedded, data.name);
      else module.then(({ hear }) => hear(data)).catch(({ message }) => postMessage({ event: 'error', message }));
    };`;
  const script = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));

  /** Starts a worker whose messages the embedded module's `hear` gets. */
  globalThis.startWorker = (name) => {
    const made = new Worker(script);
    made.postMessage({ embedded, name });
    return made;
  };

  load(embedded, 'page.js').catch((error) => {
    const state = document.getElementById('state');
    state.className = 'state bad';
    state.textContent = `This browser cannot run the page: ${error?.message ?? error}. `
      + 'It needs WebAssembly with SIMD, as browsers since 2023 have.';
  });
})();
