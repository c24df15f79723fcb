import type { SessionId } from '../contract/ids.ts';
import type { SessionSignal } from '../contract/service-requests.ts';
import type { ClientSocket } from '../ports/client-socket.ts';
import type { Bus } from '../runtime/bus.ts';
import { encodeSignal } from './frame-codec.ts';

/** Close code of a client that does not read: "try again later". */
export const SLOW_READER_CODE = 1013;
const SLOW_READER_REASON = 'slow-reader: the client does not read what it is sent';

/** Most that one socket may keep for a client that does not read. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
/** How long a closing client may still read what was kept for it. */
const LINGER_MS = 10_000;

interface Reader {
  readonly socket: ClientSocket;
  /** Whether the socket had to keep the last frame. */
  behind: boolean;
}

/**
 * Brings the signals of sessions to the sockets that listen to them: one subscription a session and one
 * serialization a signal, however many sockets there are. No socket waits for another.
 */
export class Outbox {
  readonly #bus: Bus;
  readonly #feeds = new Map<SessionId, { readers: Set<Reader>; unsubscribe: () => void }>();

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** @returns a function that ends the delivery. */
  join(sessionId: SessionId, socket: ClientSocket): () => void {
    const feed = this.#feeds.get(sessionId) ?? this.#open(sessionId);
    const reader: Reader = { socket, behind: false };
    feed.readers.add(reader);
    return () => {
      feed.readers.delete(reader);
      if (feed.readers.size > 0 || this.#feeds.get(sessionId) !== feed) return;
      feed.unsubscribe();
      this.#feeds.delete(sessionId);
    };
  }

  #open(sessionId: SessionId): { readers: Set<Reader>; unsubscribe: () => void } {
    const readers = new Set<Reader>();
    const unsubscribe = this.#bus.onSession(sessionId, (signal) => deliver(signal, readers));
    const feed = { readers, unsubscribe };
    this.#feeds.set(sessionId, feed);
    return feed;
  }
}

function deliver(signal: SessionSignal, readers: Set<Reader>): void {
  const frame = encodeSignal(signal);
  if (frame === null) return;
  for (const reader of readers) {
    if (reader.behind && reader.socket.bufferedBytes() > MAX_BUFFERED_BYTES) {
      readers.delete(reader);
      dismiss(reader.socket);
    } else {
      reader.behind = !reader.socket.send(frame);
    }
  }
}

/** What was kept is still delivered if the client begins to read; if it does not, the memory is freed. */
function dismiss(socket: ClientSocket): void {
  socket.end(SLOW_READER_CODE, SLOW_READER_REASON);
  setTimeout(() => socket.terminate(), LINGER_MS).unref();
}
