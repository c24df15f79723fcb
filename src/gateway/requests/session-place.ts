import { ServiceError } from '../../core/errors.ts';
import { percentDecoded } from '../../core/percent-decoded.ts';

const IN_QUERY = /^\/api\/(statecharts|audit)$/;
/** Where the requests of a path name their session. The first path that fits counts. */
const PLACES: readonly (readonly [path: RegExp, place: string])[] = [
  [/^\/api\/(message|message-sync|reset)$/, 'Write sessionId in the body.'],
  [/^\/api\/sessions\/[^/]+\/fork$/, 'Write the id of the new session as sessionId in the body.'],
  [/^\/api\/sessions(\/|$)/, 'Write the id of the session in the path: /api/sessions/ID.'],
  [IN_QUERY, 'Write session in the query.'],
  [/^\/api\//, 'Leave it out: the request is not about one session.'],
  [/^\/mcp$/, 'Write sessionId in the arguments of the tool.'],
  [/^\/v1\/chat\//, 'Write the id of the session in the header X-Session-Id.'],
  [/^\/v1\/conversations(\/|$)/, 'Write the id of the session in the path: /v1/conversations/ID.'],
  [/^\/v1\//, 'Write the id of the session as conversation in the body.'],
  [/^\/a2a(\/|$)/, 'Write the id of the session as contextId of the message.'],
  [/^\/ag-ui$/, 'Write the id of the session as threadId of the run.'],
];
const IN_SOCKET_ADDRESS = 'Write session in the address of the WebSocket: /?session=ID.';

const NAMES_SESSION = /^session(_?id)?$/i;
/** The id in the path, as the client has encoded it. */
const ID_IN_PATH = /^\/(?:api\/sessions|v1\/conversations)\/([^/]+)/;

/** Throws `INVALID_REQUEST` if the query names a session, and the request would use another one. */
export function refuseSessionInQuery({
  path,
  query,
}: {
  readonly path: string;
  readonly query: string;
}): void {
  if (query === '' || IN_QUERY.test(path)) return;
  refuseSession(new URLSearchParams(query), path);
}

/** The same of a body from which no session is taken. */
export function refuseSessionInBody(body: Readonly<Record<string, unknown>>, path: string): void {
  refuseSession(Object.entries(body), path);
}

/** The same of a frame of a WebSocket. @param isMeant whether it is the session of the WebSocket. */
export function refuseSessionInFrame(
  frame: Readonly<Record<string, unknown>>,
  isMeant: (named: string) => boolean,
): void {
  refuseOther(Object.entries(frame), IN_SOCKET_ADDRESS, isMeant);
}

function refuseSession(fields: Iterable<[string, unknown]>, path: string): void {
  const place = PLACES.find(([pattern]) => pattern.test(path))?.[1];
  if (place === undefined) return;
  const id = ID_IN_PATH.exec(path)?.[1];
  refuseOther(fields, place, (named) => id !== undefined && named === percentDecoded(id));
}

/** Many clients send null for an absent field, and some name the session that is meant anyway. */
function refuseOther(
  fields: Iterable<[string, unknown]>,
  suggestion: string,
  isMeant: (named: string) => boolean,
): void {
  for (const [field, value] of fields) {
    if (!NAMES_SESSION.test(field) || value === null || value === '' || isMeant(String(value))) continue;
    throw new ServiceError('INVALID_REQUEST', `The field ${field} names a session in the wrong place.`, {
      field,
      issue: 'no session is named here',
      suggestion,
    });
  }
}
