// Calls of operations that read, and the state that all views share.

// The state of the page: the newest position, and the one that views are as of.
export const state = { newest: 0, asOf: null };

// An error that the daemon reported.
export class Refused extends Error {
  constructor(error, status) {
    super(error.message || `status ${status}`);
    this.hint = error.hint;
    this.code = error.code;
    this.status = status;
  }
}

// Calls an operation.
export async function call(name, args = {}, signal) {
  const query = encodeURIComponent(JSON.stringify(args));
  const answer = await fetch(`/api/${name}?args=${query}`, { signal, headers: { accept: "application/json" } });
  const body = await answer.json().catch(() => ({}));
  // A refusal of the operation is an answer, too: a browser would report another status as a fault of the page.
  const refused = answer.headers.get("lore-status");
  if (!answer.ok || refused) throw new Refused(body.error || {}, Number(refused) || answer.status);
  return body;
}

// Calls an operation as of the position that was chosen.
export function callAsOf(name, args = {}, signal) {
  return call(name, state.asOf === null ? args : { ...args, as_of: String(state.asOf) }, signal);
}

// Exchanges the secret of a link for a cookie.
export async function enter(secret) {
  const answer = await fetch("/enter", { method: "POST", body: secret });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(body.error || {}, answer.status);
}

// Follows the log: calls a function with each newest position, and one when the connection is lost or back.
export function follow(after, changed, connected) {
  let source = null;
  let position = after;
  const open = () => {
    source = new EventSource(`/live?after=${position}`);
    source.addEventListener("open", () => connected(true));
    source.addEventListener("message", (message) => {
      position = JSON.parse(message.data).position;
      changed(position);
    });
    source.addEventListener("error", () => {
      connected(false);
      // The browser tries again by itself unless it was refused.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 5000);
    });
  };
  open();
  return () => source.close();
}
