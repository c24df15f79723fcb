import { createHash } from 'node:crypto';
import { currentEvents } from '../../core/log/event-codec.ts';
import {
  PUSH_KEY_STREAM,
  PUSH_STREAMS,
  SERVER_CREDENTIAL_STREAMS,
  SERVER_SECRET_STREAMS,
  type StreamId,
} from '../../core/log/streams.ts';
import type { AdoptedEvent, EventStore, SessionSummary } from '../../ports/event-store.ts';

/** Streams that are listed at once. */
const PAGE_STREAMS = 1_000;

/** In the ids of streams whose events are encrypted. */
const SEALED = [SERVER_SECRET_STREAMS, SERVER_CREDENTIAL_STREAMS, PUSH_STREAMS, PUSH_KEY_STREAM];

export interface CopyReport {
  readonly streams: number;
  readonly events: number;
  /** Streams that were there already. */
  readonly before: number;
  /** Whether some are encrypted with the key of the source. */
  readonly hasSecrets: boolean;
}

/** Copies all streams of a log into another one, and compares what arrived. Throws at the first stream that differs. */
export async function copyLog(from: EventStore, to: EventStore): Promise<CopyReport> {
  let [streams, events, before] = [0, 0, 0];
  let hasSecrets = false;
  for (let after = ''; ; ) {
    const page = await from.sessions({ after, limit: PAGE_STREAMS });
    for (const summary of page) {
      const { sessionId, head } = summary;
      const [known] = await to.sessions({ sessionId });
      if (known) before += 1;
      else await to.adopt(sessionId, eventsOf(from, summary));
      await requireSame(from, to, sessionId);
      streams += 1;
      events += head;
      hasSecrets ||= isSecret(sessionId);
      after = sessionId;
    }
    if (page.length < PAGE_STREAMS) return { streams, events, before, hasSecrets };
  }
}

async function* eventsOf(
  store: EventStore,
  { sessionId, open, title }: SessionSummary,
): AsyncGenerator<AdoptedEvent, void, void> {
  const mark = { open, ...(title !== undefined && { title }) };
  for await (const page of store.pages(sessionId, 0))
    for (const { time, event, meta } of page) yield { time, event, meta, mark };
}

async function requireSame(from: EventStore, to: EventStore, stream: StreamId): Promise<void> {
  const [wanted, found] = await Promise.all([digestOf(from, stream), digestOf(to, stream)]);
  if (wanted.digest === found.digest) return;
  throw new Error(
    `${stream}: the target has ${found.events} events and the source ${wanted.events}, and they are not the same; copy into an empty log, or delete the session there`,
  );
}

/** Over the events as they are stored today, with their times and metadata. */
async function digestOf(store: EventStore, stream: StreamId): Promise<{ digest: string; events: number }> {
  const hash = createHash('sha256');
  let events = 0;
  for await (const page of store.pages(stream, 0))
    for (const { seq, time, event, meta } of page) {
      hash.update(`${seq}\n${time}\n${currentEvents.encode({ event, meta })}\n`);
      events += 1;
    }
  return { digest: hash.digest('base64'), events };
}

function isSecret(stream: StreamId): boolean {
  return SEALED.some((prefix) => stream.includes(prefix));
}
