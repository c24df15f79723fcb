import { setTimeout as delay } from 'node:timers/promises';
import { connect, type SessionClient } from '../../../src/client/session-client.ts';
import type { Watcher } from '../crash/session-watchers.ts';
import { EventSourceStream } from '../sockets/event-source.ts';
import { StreamRecord } from '../sockets/stream-record.ts';
import type { Traffic } from './traffic.ts';

/** Where a watcher connects, each time anew. */
export interface Door {
  /** `http://…` of a balancer or a node. */
  readonly url: string;
  readonly traffic: Traffic;
}

/** Somebody who follows a session over all nodes, and who throws on a gap and on a repetition. */
export interface ClusterWatcher extends Watcher {
  /** The frames of durable events, as characters. */
  readonly texts: readonly string[];
  /** When each frame came, by the monotonic clock. */
  readonly times: readonly number[];
}

const BETWEEN_TRIES_MS = 30;
/** Lost; or closed by a node that stops (1012), or that cannot go on with the stream (1011). */
const RESUMABLE_CODES = [1006, 1011, 1012];

class Seen {
  readonly record = new StreamRecord();
  readonly texts: string[] = [];
  readonly times: number[] = [];
  readonly #traffic: Traffic;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  add(text: string): void {
    const before = this.record.seq;
    this.record.add(JSON.parse(text));
    if (this.record.seq > before) this.texts.push(text);
    this.times.push(performance.now());
    this.#traffic.note();
  }
}

/** The client of the package. */
export function followWithClient(door: Door, sessionId: string): ClusterWatcher & { client: SessionClient } {
  // It waits as briefly as it may before it connects again: there is much to see.
  const client = connect({ url: door.url, session: sessionId, environment: { random: () => 0 } });
  const seen = new Seen(door.traffic);
  const watch = async (): Promise<void> => {
    for await (const event of client) seen.add(JSON.stringify(event));
  };
  const stop = (): void => client.close();
  const { record, texts, times } = seen;
  return { name: 'the client', sessionId, record, texts, times, client, watching: watch(), stop };
}

/** A WebSocket by hand, which is connected again with `after` and `offset`. */
export function followWithWebSocket(door: Door, sessionId: string): ClusterWatcher {
  const seen = new Seen(door.traffic);
  const stopped = new AbortController();
  const { record, texts, times } = seen;
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const query = `session=${sessionId}&after=${record.seq}&offset=${record.offset}`;
      await readSocket(`${door.url.replace('http:', 'ws:')}/?${query}`, seen, stopped.signal);
      if (!stopped.signal.aborted) await delay(BETWEEN_TRIES_MS);
    }
  };
  const stop = (): void => stopped.abort();
  return { name: 'a WebSocket', sessionId, record, texts, times, watching: watch(), stop };
}

/** Resolves when the connection is lost or the signal aborts. */
async function readSocket(url: string, seen: Seen, signal: AbortSignal): Promise<void> {
  const socket = new WebSocket(url);
  const over = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  socket.addEventListener('error', () => over.resolve());
  socket.addEventListener('close', ({ code }) => {
    if (RESUMABLE_CODES.includes(code)) over.resolve();
    else over.reject(new Error(`a WebSocket was closed with ${code}`));
  });
  socket.addEventListener('message', ({ data }) => {
    try {
      if (!signal.aborted) seen.add(String(data));
    } catch (error) {
      over.reject(new Error(`after ${seen.texts.at(-1)} came ${String(data)}`, { cause: error }));
    }
  });
  await over.promise;
  socket.close();
}

/** Server-sent events, with `Last-Event-ID`. */
export function followWithEventSource(door: Door, sessionId: string): ClusterWatcher {
  const seen = new Seen(door.traffic);
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let lastEventId = '0';
  const read = async (): Promise<void> => {
    const stream = await EventSourceStream.open(`${door.url}/api/sessions/${sessionId}/events`, lastEventId);
    for await (const { id, frame } of stream) {
      if (isStopped) return;
      seen.add(JSON.stringify(frame));
      lastEventId = id ?? lastEventId;
    }
  };
  const watch = async (): Promise<void> => {
    while (!isStopped) {
      await Promise.race([unlessLostOrBusy(read()), stopped.promise]);
      if (!isStopped) await delay(BETWEEN_TRIES_MS);
    }
  };
  const stop = (): void => {
    isStopped = true;
    stopped.resolve();
  };
  const { record, texts, times } = seen;
  return { name: 'an event source', sessionId, record, texts, times, watching: watch(), stop };
}

/** A node that cannot answer now says so with 503. What `fetch` throws when the connection is lost is a `TypeError`. */
async function unlessLostOrBusy(reading: Promise<void>): Promise<void> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof TypeError) return;
    if (error instanceof Error && error.message === 'refused: 503') return;
    throw error;
  }
}
