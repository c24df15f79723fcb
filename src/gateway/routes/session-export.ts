import { withOwnKey } from '../../core/access/session-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { currentEvents } from '../../core/log/event-codec.ts';
import { formatExportLine } from '../../core/log/export-line.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';

/** JSON Lines. */
export const EXPORT_TYPE = 'application/x-ndjson';

const PAGE_EVENTS = 100;
/** Lines are sent together up to this length. */
const CHUNK_CHARACTERS = 64 * 1024;

/** The events of a session up to its present head, as `agent-service export` prints them. */
export async function sessionExport(
  { bus, context }: { readonly bus: Bus; readonly context: RequestContext },
  sessionId: SessionId,
): Promise<HttpResponse> {
  const { head } = await bus.send('session.position', { sessionId }, context);
  if (head === 0)
    throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`, { sessionId });
  // An admin who moves sessions moves them as they are.
  const isWhole = context.rights?.scopes.has('admin') === true;
  const shownTo = (envelope: Envelope) => (isWhole ? envelope : withOwnKey(envelope, context));
  const page = async (after: number) => {
    const limit = Math.min(PAGE_EVENTS, head - after);
    const events = await bus.send('session.events', { sessionId, afterSeq: after, limit }, context);
    // The client gets an incomplete answer, and can tell, because the connection ends without an end of the body.
    if (events.length < limit) throw new Error(`session ${sessionId} was deleted during its export`);
    return events.map((envelope) => formatExportLine(shownTo(envelope), currentEvents));
  };
  const body = ReadableStream.from(encoded(chunks(head, page)));
  return { status: 200, headers: { 'Content-Type': EXPORT_TYPE }, body, stream: 'bytes' };
}

async function* chunks(
  head: number,
  page: (after: number) => Promise<readonly string[]>,
): AsyncGenerator<string, void, void> {
  let chunk = '';
  for (let after = 0; after < head; after += PAGE_EVENTS) {
    for (const line of await page(after)) {
      chunk += line;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, void> {
  for await (const text of texts) yield Buffer.from(text);
}
