import type { SessionId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { EventCodec } from '../../../core/log/event-codec.ts';
import type { LoggedEvent } from '../../../core/log/events.ts';
import { parseStoredRow } from '../../../stored-log/stored-row.ts';
import type { ThreadCalls } from './thread-calls.ts';

/** During a long read, appends wait for one page at most, and the main thread parses one page at a time. */
const pageRows = 1000;

/** Reads the events after a seq, at most `limit`, page by page. */
export async function readPages(
  { calls, codec }: { readonly calls: ThreadCalls; readonly codec: EventCodec },
  sessionId: SessionId,
  afterSeq: number,
  limit: number,
): Promise<Envelope<LoggedEvent>[]> {
  const envelopes: Envelope<LoggedEvent>[] = [];
  while (envelopes.length < limit) {
    const maxRows = Math.min(pageRows, limit - envelopes.length);
    const page = await calls.send({
      type: 'read',
      sessionId,
      afterSeq: afterSeq + envelopes.length,
      maxRows,
    });
    if (page.type !== 'page') throw new Error(`a read was answered with ${page.type}`);
    for (const row of page.rows) {
      envelopes.push(parseStoredRow(row, sessionId, afterSeq + envelopes.length + 1, codec));
    }
    if (page.last) break;
  }
  return envelopes;
}
