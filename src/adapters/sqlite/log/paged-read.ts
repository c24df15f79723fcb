import type { SessionId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { EventCodec } from '../../../core/log/event-codec.ts';
import type { LoggedEvent } from '../../../core/log/events.ts';
import { parseStoredRow } from '../../../stored-log/stored-row.ts';
import type { Answer, Call } from './worker-protocol.ts';

/** During a long read, appends wait for one page at most, and the main thread parses one page at a time. */
const pageRows = 1000;

/** Reads the events after a seq, at most `limit`, page by page. */
export async function* readPages(
  { ask, codec }: { readonly ask: (call: Call) => Promise<Answer>; readonly codec: EventCodec },
  sessionId: SessionId,
  afterSeq: number,
  limit: number,
): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
  for (let count = 0; count < limit; ) {
    const maxRows = Math.min(pageRows, limit - count);
    const page = await ask({ type: 'read', sessionId, afterSeq: afterSeq + count, maxRows });
    if (page.type !== 'page') throw new Error(`a read was answered with ${page.type}`);
    const before = afterSeq + count + 1;
    if (page.rows.length > 0)
      yield page.rows.map((row, index) => parseStoredRow(row, sessionId, before + index, codec));
    if (page.last) return;
    count += page.rows.length;
  }
}
