import type { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Bus } from '../../ports/bus.ts';
import { holdSession, onRefusedOrLeft, type SessionReader } from '../security/held-session.ts';
import type { FollowedSession } from './followed-session.ts';
import type { FrameSink } from './resuming-reader.ts';

/** Hears of a part of a session, and tells a client nothing of it. */
export interface EndListener<T> {
  readonly sink: FrameSink;
  readonly encode: () => string;
  readonly onOver: (result: T) => void;
  readonly onError: (error: unknown) => void;
  readonly onGivenUp: (error: ServiceError) => void;
}

/**
 * Reads a part of a session up to its end, for an answer that is no stream. Rejects when the client may not read the session
 * any more, or has gone away.
 */
export async function readToEnd<T>(
  { bus, client }: { readonly bus: Bus; readonly client: SessionReader },
  sessionId: SessionId,
  read: (listener: EndListener<T>) => FollowedSession,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  holdSession(bus, sessionId, client);
  const feed = read({
    sink: { send: () => true, bufferedBytes: () => 0 },
    encode: () => '',
    onOver: resolve,
    onError: reject,
    onGivenUp: reject,
  });
  try {
    onRefusedOrLeft(client, reject);
    return await promise;
  } finally {
    feed.stop();
  }
}
