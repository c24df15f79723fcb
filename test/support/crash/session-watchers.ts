import { connect, type SessionClient } from '../../../src/client/session-client.ts';
import { EventSourceStream } from '../sockets/event-source.ts';
import { StreamRecord } from '../sockets/stream-record.ts';
import type { KilledService } from './killed-service.ts';

/** Somebody who follows a session over all lives of the service, and who throws on a gap and on a repetition. */
export interface Watcher {
  readonly name: string;
  readonly sessionId: string;
  readonly record: StreamRecord;
  /** Resolves when the watching was stopped; rejects when it went wrong. */
  readonly watching: Promise<void>;
  stop(): void;
}

/** The client of the package. */
export function watchWithClient(
  service: KilledService,
  sessionId: string,
): Watcher & { client: SessionClient } {
  // It waits as briefly as it may before it connects again: there is much to see.
  const client = connect({ url: service.url, session: sessionId, environment: { random: () => 0 } });
  const record = new StreamRecord();
  const watch = async (): Promise<void> => {
    for await (const event of client) {
      record.add(event);
      service.noteFrame();
    }
  };
  const stop = (): void => client.close();
  return { name: 'the client', sessionId, record, client, watching: watch(), stop };
}

/** A WebSocket by hand, which is connected again with `after` and `offset`. */
export function watchWithWebSocket(service: KilledService, sessionId: string): Watcher {
  const record = new StreamRecord();
  const stopped = new AbortController();
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await service.listening();
      const query = `session=${sessionId}&after=${record.seq}&offset=${record.offset}`;
      await readSocket(service, record, `ws://127.0.0.1:${service.port}/?${query}`, stopped.signal);
    }
  };
  return { name: 'a WebSocket', sessionId, record, watching: watch(), stop: () => stopped.abort() };
}

const LOST_CODE = 1006;

/** Resolves when the connection is lost or the signal aborts. */
async function readSocket(
  service: KilledService,
  record: StreamRecord,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const socket = new WebSocket(url);
  const over = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  socket.addEventListener('error', () => over.resolve());
  socket.addEventListener('close', ({ code }) => {
    if (code === LOST_CODE) over.resolve();
    else over.reject(new Error(`a WebSocket was closed with ${code}`));
  });
  socket.addEventListener('message', ({ data }) => {
    try {
      record.add(JSON.parse(String(data)));
      service.noteFrame();
    } catch (error) {
      over.reject(error);
    }
  });
  await over.promise;
  socket.close();
}

/** Server-sent events, with `Last-Event-ID`. */
export function watchWithEventSource(service: KilledService, sessionId: string): Watcher {
  const record = new StreamRecord();
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let lastEventId = '0';
  const read = async (): Promise<void> => {
    const stream = await EventSourceStream.open(
      `${service.url}/api/sessions/${sessionId}/events`,
      lastEventId,
    );
    for await (const { id, frame } of stream) {
      record.add(frame);
      lastEventId = id ?? lastEventId;
      service.noteFrame();
      if (isStopped) return;
    }
  };
  const watch = async (): Promise<void> => {
    while (!isStopped) {
      await service.listening();
      await Promise.race([unlessLost(read()), stopped.promise]);
    }
  };
  const stop = (): void => {
    isStopped = true;
    stopped.resolve();
  };
  return { name: 'an event source', sessionId, record, watching: watch(), stop };
}

/** What `fetch` throws when the connection is lost, or cannot be had, is a `TypeError`. */
export async function unlessLost<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
