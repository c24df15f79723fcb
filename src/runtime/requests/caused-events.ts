import type { SessionId } from '../../core/ids.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { isSentWith } from '../../core/request/sent-before.ts';
import type { Journal } from '../sessions/journal.ts';

interface KeyedRequest {
  readonly sessionId: SessionId;
  readonly key: IdempotencyKey | undefined;
  readonly context: RequestContext;
}

/** Whether the log of the session has an event of this kind that the request has caused when it was sent before. */
export async function hasCaused(
  journal: Pick<Journal, 'pages'>,
  { sessionId, key, context }: KeyedRequest,
  isOfKind: (event: SessionEvent) => boolean,
): Promise<boolean> {
  if (!key) return false;
  const isSent = isSentWith(key, context);
  for await (const page of journal.pages(sessionId, 0))
    if (page.some((envelope) => isOfKind(envelope.event) && isSent(envelope))) return true;
  return false;
}
