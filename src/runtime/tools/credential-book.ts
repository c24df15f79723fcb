import { messageOf } from '../../core/errors.ts';
import { SERVER_CREDENTIAL_STREAMS, type StreamId } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SealedError, type SecretBox } from '../../ports/secret-box.ts';
import type { CredentialStore } from '../../ports/server-authorization.ts';
import { againWhenStale } from '../streams/again-when-stale.ts';

/** One stream a server is usual. More are left behind only if the process dies between an append and an erasure. */
const MOST_STREAMS = 100;
/** Streams sort as text, so the number at their end has a fixed width. */
const DIGITS = 12;

/**
 * Keeps the OAuth credentials of tool servers in the log, encrypted, each text in a stream of its own. Of several nodes
 * that keep a text at the same time, the last one counts.
 */
export class CredentialBook implements CredentialStore {
  readonly #store: EventStore;
  readonly #box: SecretBox;
  readonly #log: Logger;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: EventStore, box: SecretBox, log: Logger) {
    this.#store = store;
    this.#box = box;
    this.#log = log;
  }

  async read(server: string): Promise<string | null> {
    await this.#writing;
    const kept = await this.#lastOf(server);
    if (kept === null) return null;
    try {
      return await this.#box.open(kept.sealed, kept.stream);
    } catch (error) {
      if (!(error instanceof SealedError)) throw error;
      this.#log.error(
        { server, reason: messageOf(error) },
        'the authorization of a tool server cannot be decrypted: put the key back and start again, or authorize it anew',
      );
      return null;
    }
  }

  keep(server: string, text: string): Promise<void> {
    return this.#inTurn(() =>
      againWhenStale(async () => {
        const former = await this.#streamsOf(server);
        const stream = streamAfter(server, former.at(-1));
        const sealed = await this.#box.seal(text, stream);
        await this.#store.append(stream, 0, [{ type: 'secret.kept', sealed }], { origin: serviceOrigin() });
        if (former.length > 0) await this.#store.erase(...former);
      }),
    );
  }

  forget(server: string): Promise<void> {
    return this.#inTurn(async () => {
      const streams = await this.#streamsOf(server);
      if (streams.length > 0) await this.#store.erase(...streams);
    });
  }

  keepOnly(servers: readonly string[]): Promise<void> {
    const kept = new Set(servers);
    return this.#inTurn(async () => {
      let after = SERVER_CREDENTIAL_STREAMS;
      for (;;) {
        const page = await this.#store.streamIds(after, MOST_STREAMS);
        const streams = page.filter((stream) => stream.startsWith(SERVER_CREDENTIAL_STREAMS));
        const left = streams.filter((stream) => !kept.has(serverOf(stream)));
        if (left.length > 0) await this.#store.erase(...left);
        const last = streams.at(-1);
        if (last === undefined || streams.length < MOST_STREAMS) return;
        after = last;
      }
    });
  }

  /** Looks again if another node has replaced the text before it was read. */
  async #lastOf(server: string): Promise<{ readonly stream: StreamId; readonly sealed: string } | null> {
    let missed: StreamId | undefined;
    for (;;) {
      const stream = (await this.#streamsOf(server)).at(-1);
      if (stream === undefined || stream === missed) return null;
      const [envelope] = await this.#store.read(stream, 0);
      if (envelope?.event.type === 'secret.kept') return { stream, sealed: envelope.event.sealed };
      missed = stream;
    }
  }

  async #streamsOf(server: string): Promise<StreamId[]> {
    const prefix = prefixOf(server);
    const streams = await this.#store.streamIds(prefix, MOST_STREAMS);
    return streams.filter((stream) => stream.startsWith(prefix));
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

/** The name of a server has no slash, so no prefix begins another one. */
function prefixOf(server: string): string {
  return `${SERVER_CREDENTIAL_STREAMS}${server}/`;
}

function serverOf(stream: StreamId): string {
  return stream.slice(SERVER_CREDENTIAL_STREAMS.length, stream.lastIndexOf('/'));
}

function streamAfter(server: string, former: StreamId | undefined): StreamId {
  const number = former === undefined ? 1 : Number(former.slice(prefixOf(server).length)) + 1;
  return `${prefixOf(server)}${String(number).padStart(DIGITS, '0')}`;
}
