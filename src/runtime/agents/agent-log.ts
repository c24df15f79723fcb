import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { agentPrefix, type StreamId } from '../../core/log/streams.ts';
import {
  type EventStore,
  type SessionFilter,
  type SessionSummary,
  StaleVersionError,
} from '../../ports/event-store.ts';
import type { SnapshotStore } from '../../ports/snapshot-store.ts';

/** Sorts after every id that begins with an agent's prefix. */
const AFTER_PREFIXED = '\u{10ffff}';

/**
 * The part of a log that belongs to one agent. Its streams have a prefix in the log, and none here. So every agent has a
 * `default` session of its own, and tool servers, secrets and idempotency keys that no other agent meets. Disposing of it
 * leaves the log open for the others.
 */
export function agentStore(store: EventStore, agentId: string): EventStore {
  const prefix = agentPrefix(agentId);
  const inLog = (id: StreamId): StreamId => prefix + id;
  const here = <T extends { readonly sessionId: StreamId }>(item: T): T => ({
    ...item,
    sessionId: item.sessionId.slice(prefix.length),
  });
  return {
    append: async (streamId, ...append) =>
      (await store.append(inLog(streamId), ...append).catch(rethrowHere)).map(here<Envelope<LoggedEvent>>),
    read: async (streamId, ...range) =>
      (await store.read(inLog(streamId), ...range)).map(here<Envelope<LoggedEvent>>),
    async *pages(streamId, ...range) {
      for await (const page of store.pages(inLog(streamId), ...range))
        yield page.map(here<Envelope<LoggedEvent>>);
    },
    sessions: async (filter) => (await store.sessions(filterInLog(filter))).map(here<SessionSummary>),
    async streamIds(after, limit) {
      const ids = await store.streamIds(inLog(after), limit);
      return ids.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
    },
    fork: (from, at, to, ...fork) => store.fork(inLog(from), at, inLog(to), ...fork).catch(rethrowHere),
    adopt: (sessionId, events) => store.adopt(inLog(sessionId), events).catch(rethrowHere),
    erase: (...streamIds) => store.erase(...streamIds.map(inLog)),
    announce: async (streamId) => store.announce?.(inLog(streamId)),
    size: () => store.size(),
    probe: () => store.probe(),
    [Symbol.asyncDispose]: async () => undefined,
  };

  function filterInLog({ sessionId, after = '', before, ...filter }: SessionFilter = {}): SessionFilter {
    return {
      ...filter,
      after: inLog(after),
      before: inLog(before ?? AFTER_PREFIXED),
      ...(sessionId !== undefined && { sessionId: inLog(sessionId) }),
    };
  }

  function rethrowHere(error: unknown): never {
    if (!(error instanceof StaleVersionError)) throw error;
    throw new StaleVersionError(error.sessionId.slice(prefix.length), error.expected, error.actual);
  }
}

/** The snapshots of one agent's sessions. */
export function agentSnapshots(snapshots: SnapshotStore, agentId: string): SnapshotStore {
  const prefix = agentPrefix(agentId);
  return {
    load: (sessionId, latestSeq) => snapshots.load(prefix + sessionId, latestSeq),
    save: (sessionId, seq, parts) => snapshots.save(prefix + sessionId, seq, parts),
    erase: (sessionId) => snapshots.erase(prefix + sessionId),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
