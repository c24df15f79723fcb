import { withoutOthersKeys } from '../../core/access/session-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { currentEvents } from '../../core/log/event-codec.ts';
import { formatExportLine } from '../../core/log/export-line.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { jsonLines } from '../http/json-lines.ts';
import { readEvents } from '../turns/read-events.ts';

interface ExportDeps {
  readonly bus: Bus;
  readonly context: RequestContext;
  /** Aborted when the client may read no more. */
  readonly lost: AbortSignal | undefined;
}

/** The events of a session up to its present head, as `agent-service export` prints them. */
export async function sessionExport(
  { bus, context, lost }: ExportDeps,
  sessionId: SessionId,
): Promise<HttpResponse> {
  const { head } = await bus.send('session.position', { sessionId }, context);
  if (head === 0)
    throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`, { sessionId });
  // An admin who moves sessions moves them as they are.
  const isWhole = context.rights?.scopes.has('admin') === true;
  const shownTo = (envelope: Envelope) => (isWhole ? envelope : withoutOthersKeys(envelope, context));
  async function* lines(): AsyncGenerator<string, void, void> {
    let seq = 0;
    for await (const envelope of readEvents(bus, { sessionId, after: 0, until: head }, context)) {
      lost?.throwIfAborted();
      yield formatExportLine(shownTo(envelope), currentEvents);
      seq = envelope.seq;
    }
    // The client gets an incomplete answer, and can tell, because the connection ends without an end of the body.
    if (seq < head) throw new Error(`session ${sessionId} was deleted during its export`);
  }
  return jsonLines(lines());
}
