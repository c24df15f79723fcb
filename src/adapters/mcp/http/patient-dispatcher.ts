type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/** Where Node keeps the dispatcher of its `fetch`; undici documents the symbol for this. */
const NODES_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

const patient = new WeakMap<Dispatcher, Dispatcher>();

/**
 * Node's own dispatcher, with its connections and proxies, but without a limit of its own: it gives up after five minutes
 * without a byte. A tool may work for longer and say nothing, and the stream of a server may be silent for days; each request
 * has its time limit, and pings notice a server that is gone. Undefined if there is none, as in other runtimes.
 */
export function patientDispatcher(): Dispatcher | undefined {
  const nodes: Dispatcher | undefined = Reflect.get(globalThis, NODES_DISPATCHER);
  if (nodes === undefined) return undefined;
  const known = patient.get(nodes);
  if (known) return known;
  const made = nodes.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
  patient.set(nodes, made);
  return made;
}
