import { ServiceError } from '../../core/errors.ts';

/** Where the requests of a path name their session. The first path that fits counts. */
const PLACES: readonly (readonly [path: RegExp, place: string])[] = [
  [/^\/api\/(message|message-sync|reset)$/, 'Write sessionId in the body.'],
  [/^\/api\/sessions\/[^/]+\/fork$/, 'Write the id of the new session as sessionId in the body.'],
  [/^\/api\/sessions(\/|$)/, 'Write the id of the session in the path: /api/sessions/ID.'],
  [/^\/api\/(statecharts|audit)$/, 'Write session in the query.'],
  [/^\/api\//, 'Leave it out: the request is not about one session.'],
  [/^\/mcp$/, 'Write sessionId in the arguments of the tool.'],
  [/^\/v1\/chat\//, 'Write the id of the session in the header X-Session-Id.'],
  [/^\/v1\/conversations(\/|$)/, 'Write the id of the session in the path: /v1/conversations/ID.'],
  [/^\/v1\//, 'Write the id of the session as conversation in the body.'],
  [/^\/a2a(\/|$)/, 'Write the id of the session as contextId of the message.'],
  [/^\/ag-ui$/, 'Write the id of the session as threadId of the run.'],
];
const IN_QUERY = /^\/api\/(statecharts|audit)$/;
const IN_SOCKET_ADDRESS = 'Write session in the address of the WebSocket: /?session=ID.';

const NAMES_SESSION = /^session(_?id)?$/i;

/** Throws `INVALID_REQUEST` if the query names a session, and the request would use another one. */
export function refuseSessionInQuery({
  path,
  query,
}: {
  readonly path: string;
  readonly query: string;
}): void {
  if (query === '' || IN_QUERY.test(path)) return;
  const place = placeOf(path);
  if (place !== undefined) refuseSession(new URLSearchParams(query).keys(), place);
}

/** The same of a body from which no session is taken. */
export function refuseSessionInBody(body: Readonly<Record<string, unknown>>, path: string): void {
  const place = placeOf(path);
  if (place !== undefined) refuseSession(given(body), place);
}

/** The same of a frame of a WebSocket. */
export function refuseSessionInFrame(frame: Readonly<Record<string, unknown>>): void {
  refuseSession(given(frame), IN_SOCKET_ADDRESS);
}

function placeOf(path: string): string | undefined {
  return PLACES.find(([pattern]) => pattern.test(path))?.[1];
}

/** Many clients send null for an absent field. */
function given(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== null);
}

function refuseSession(names: Iterable<string>, suggestion: string): void {
  for (const field of names) {
    if (!NAMES_SESSION.test(field)) continue;
    throw new ServiceError('INVALID_REQUEST', `The field ${field} names a session in the wrong place.`, {
      field,
      issue: 'no session is named here',
      suggestion,
    });
  }
}
