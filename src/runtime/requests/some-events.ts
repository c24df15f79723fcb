import type { Envelope } from '../../core/log/envelope.ts';
import type { RequestOf } from '../../ports/service-requests.ts';
import type { Journal } from '../sessions/journal.ts';

/** Pages of the log in one answer: about as many megabytes. */
const MAX_PAGES = 8;
/** A page with no more events than this is full of large ones, and ends the answer. */
const FEW_EVENTS = 8;

/** Events after a seq: fewer than the limit where they are large, so that an answer fits into memory. */
export async function someEvents(
  journal: Pick<Journal, 'pages'>,
  { sessionId, afterSeq, limit }: RequestOf<'session.events'>,
): Promise<Envelope[]> {
  const events: Envelope[] = [];
  let pages = 0;
  for await (const page of journal.pages(sessionId, afterSeq, limit)) {
    events.push(...page);
    pages += 1;
    if (pages === MAX_PAGES || page.length <= FEW_EVENTS) break;
  }
  return events;
}
