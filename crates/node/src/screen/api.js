// The node's API: requests with the token, and its server-sent events.

/** A refusal of the API. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.message || `status ${status}`);
    this.status = status;
    this.body = body;
  }
}

const TOKEN = 'tetralith-token';
export const token = {
  read: () => sessionStorage.getItem(TOKEN),
  keep: (text) => sessionStorage.setItem(TOKEN, text),
  forget: () => sessionStorage.removeItem(TOKEN),
};

const headers = (more = {}) => ({ authorization: `Bearer ${token.read()}`, ...more });

/** GETs a path, or POSTs a body to it; an answer that is not a success is thrown. */
export async function ask(path, body) {
  const request = { headers: headers(), cache: 'no-store' };
  if (body !== undefined) {
    request.method = 'POST';
    request.headers['content-type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  const answer = await fetch(path, request);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/**
 * Listens to events until `signal` aborts, and comes back where it was cut off.
 * An EventSource cannot send the token, so the stream is read here.
 */
export async function listen(heard, changed, signal) {
  let last = '0';
  let pause = 500;
  while (!signal.aborted) {
    try {
      const answer = await fetch('/v1/events', {
        headers: headers({ 'last-event-id': last }), cache: 'no-store', signal,
      });
      if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
      changed(true);
      pause = 500;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const blocks = (text + value).split('\n\n');
        text = blocks.pop();
        for (const block of blocks) {
          const field = (name) => block.split('\n').find((line) => line.startsWith(`${name}: `));
          const id = field('id');
          const data = field('data');
          if (id) last = id.slice(4);
          if (data) heard(JSON.parse(data.slice(6)));
        }
      }
    } catch (error) {
      if (signal.aborted || error.status === 401) return;
    }
    changed(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 8000);
  }
}
