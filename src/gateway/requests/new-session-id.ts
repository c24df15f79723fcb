import { contentHash } from '../../core/content-hash.ts';
import type { SessionId } from '../../core/ids.ts';
import { IDEMPOTENCY_TTL_MS } from '../../core/request/idempotency.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpRequest } from '../../ports/web-server.ts';

export interface NewSessionAsker extends Pick<HttpRequest, 'headers'> {
  readonly bus: Pick<Bus, 'send'>;
  readonly context: RequestContext;
}

/** What a fork is made from, and the seq of the last event that it has from there. */
type Fork = readonly [] | readonly [from: SessionId, at: number];

/**
 * An id for a session that begins with a request. A request that is repeated with its idempotency key gets the same one for
 * as long as the key counts, and a new one afterwards.
 */
export async function newSessionId(
  asker: NewSessionAsker,
  prefix: string,
  ...fork: Fork
): Promise<SessionId> {
  const key = asker.headers.get('idempotency-key');
  if (key === undefined) return `${prefix}-${crypto.randomUUID()}`;
  const idFor = async (origin: readonly (string | number)[]): Promise<SessionId> => {
    const hash = await contentHash(origin.length === 0 ? key : [key, ...origin]);
    return `${prefix}-${hash.slice(0, 32)}`;
  };
  const now = Date.now();
  const today = Math.floor(now / IDEMPOTENCY_TTL_MS);
  // A key that counts was used today or yesterday. All three are looked at, because any other may have been deleted since.
  const ids = await Promise.all([fork, [...fork, today], [...fork, today - 1]].map(idFor));
  const [first = '', ofToday = ''] = ids;
  const [, copied = 0] = fork;
  const begun = await Promise.all(ids.map((sessionId) => beginning(asker, sessionId, copied)));
  const counts = begun.findIndex((time) => time !== undefined && now - time < IDEMPOTENCY_TTL_MS);
  return ids[counts] ?? (begun[0] === undefined ? first : ofToday);
}

/** When the session got its first event of its own. Undefined: it has none. */
async function beginning(
  { bus, context }: NewSessionAsker,
  sessionId: SessionId,
  afterSeq: number,
): Promise<number | undefined> {
  const [own] = await bus.send('session.events', { sessionId, afterSeq, limit: 1 }, context);
  return own?.time;
}
