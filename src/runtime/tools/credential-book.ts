import { SERVER_CREDENTIAL_STREAMS, type StreamId } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { messageOf } from '../../core/thrown.ts';
import { type EventStore, StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SealedError, type SecretBox } from '../../ports/secret-box.ts';
import type { CredentialStore } from '../../ports/server-authorization.ts';
import { SerialQueue } from '../../timing/serial-queue.ts';
import { againWhenStale } from '../streams/again-when-stale.ts';

/** One stream a server is usual. More are left behind only if the process dies between an append and an erasure. */
const MAX_STREAMS = 100;
/** Streams sort as text, so the number at their end has a fixed width. */
const DIGITS = 12;
/** A claim that is seen for this long is one of a node that has died. Asking an authorization server takes less. */
const CLAIM_MS = 20_000;

export interface CredentialBookOptions {
  /** Whether other nodes write the same log. */
  readonly isShared?: boolean;
  /** A clock in milliseconds that never goes back. Simulated, in tests. */
  readonly now?: () => number;
}

/** A stream as it was, and since when it has been so. */
interface Seen {
  readonly stream: StreamId;
  readonly head: number;
  readonly since: number;
}

/**
 * Keeps the OAuth credentials of tool servers in the log, encrypted, each text in a stream of its own. Of several nodes
 * that keep a text at the same time, the last one counts.
 *
 * The text is the first event of its stream. A node that claims it appends a mark, and another one when it gives the claim
 * up: with an even number of events, the text is claimed.
 */
export class CredentialBook implements CredentialStore {
  readonly #store: EventStore;
  readonly #box: SecretBox;
  readonly #log: Logger;
  readonly isShared: boolean;
  readonly #now: () => number;
  readonly #writing = new SerialQueue();
  /** The claims of this node, by server. */
  readonly #claims = new Map<string, Pick<Seen, 'stream' | 'head'>>();
  /** The claims of other nodes, by server. */
  readonly #seen = new Map<string, Seen>();

  constructor(
    store: EventStore,
    box: SecretBox,
    log: Logger,
    { isShared = false, now = () => performance.now() }: CredentialBookOptions = {},
  ) {
    this.#store = store;
    this.#box = box;
    this.#log = log;
    this.isShared = isShared;
    this.#now = now;
  }

  async read(server: string): Promise<string | null> {
    await this.#writing.settled();
    const kept = await this.#lastOf(server);
    if (kept === null) return null;
    let text: string;
    try {
      text = await this.#box.open(kept.sealed, kept.stream);
    } catch (error) {
      if (!(error instanceof SealedError)) throw error;
      this.#log.error(
        { server, reason: messageOf(error) },
        'the authorization of a tool server cannot be decrypted: put the key back and start again, or authorize it anew',
      );
      return null;
    }
    if (await this.#box.isOutdated(kept.sealed)) await this.#sealAnew(server);
    return text;
  }

  async keep(server: string, text: string): Promise<void> {
    const stream = await this.#writing.run(() =>
      againWhenStale(async () => {
        const former = await this.#streamsOf(server);
        const next = streamAfter(server, former.at(-1));
        await this.#append(next, 0, [text]);
        if (former.length > 0) await this.#store.erase(...former);
        this.#claims.delete(server);
        return next;
      }),
    );
    // Nobody waits: a node that needs the text reads it.
    this.#store.announce?.(stream).catch((err: unknown) => this.#log.debug({ server, err }, 'not announced'));
  }

  claim(server: string): Promise<boolean> {
    if (!this.isShared) return Promise.resolve(true);
    return this.#writing.run(async () => {
      const stream = (await this.#streamsOf(server)).at(-1);
      // There is no token to renew.
      if (stream === undefined) return true;
      const { length: head } = await this.#store.read(stream, 0);
      const isClaimed = head % 2 === 0;
      if (head === 0 || (isClaimed && !this.#isAbandoned(server, { stream, head }))) return false;
      // The end of the abandoned claim comes first.
      const marks = isClaimed ? ['', ''] : [''];
      try {
        await this.#append(stream, head, marks);
      } catch (error) {
        if (error instanceof StaleVersionError) return false;
        throw error;
      }
      this.#claims.set(server, { stream, head: head + marks.length });
      return true;
    });
  }

  async release(server: string): Promise<void> {
    const claim = this.#claims.get(server);
    this.#claims.delete(server);
    if (!claim) return;
    await this.#writing
      .run(() => this.#append(claim.stream, claim.head, ['']))
      .catch((err: unknown) =>
        this.#log.debug({ server, err }, 'the claim of an authorization ends by itself'),
      );
  }

  forget(server: string): Promise<void> {
    return this.#writing.run(async () => {
      const streams = await this.#streamsOf(server);
      if (streams.length > 0) await this.#store.erase(...streams);
    });
  }

  keepOnly(servers: readonly string[]): Promise<void> {
    const kept = new Set(servers);
    return this.#writing.run(async () => {
      let after = SERVER_CREDENTIAL_STREAMS;
      for (;;) {
        const page = await this.#store.streamIds(after, MAX_STREAMS);
        const streams = page.filter((stream) => stream.startsWith(SERVER_CREDENTIAL_STREAMS));
        const left = streams.filter((stream) => !kept.has(serverOf(stream)));
        if (left.length > 0) await this.#store.erase(...left);
        const last = streams.at(-1);
        if (last === undefined || streams.length < MAX_STREAMS) return;
        after = last;
      }
    });
  }

  /** Encrypts the text with the present key, unless somebody is about to replace it. The next reading tries again. */
  async #sealAnew(server: string): Promise<void> {
    try {
      if (!(await this.claim(server))) return;
      const kept = await this.#lastOf(server);
      if (kept) await this.keep(server, await this.#box.open(kept.sealed, kept.stream));
    } catch (err) {
      this.#log.warn(
        { server, err },
        'the authorization of a tool server is still encrypted with a former key',
      );
    }
  }

  /** Goes by what this node sees: the clocks of others may be wrong. */
  #isAbandoned(server: string, { stream, head }: Pick<Seen, 'stream' | 'head'>): boolean {
    const now = this.#now();
    const seen = this.#seen.get(server);
    if (seen?.stream === stream && seen.head === head) return now - seen.since >= CLAIM_MS;
    this.#seen.set(server, { stream, head, since: now });
    return false;
  }

  /** Each text is a secret, also that of a mark: whoever reads the stream may open all of it. */
  async #append(stream: StreamId, head: number, texts: readonly string[]): Promise<void> {
    const sealed = await Promise.all(texts.map((text) => this.#box.seal(text, stream)));
    const events = sealed.map((one) => ({ type: 'secret.kept', sealed: one }) as const);
    await this.#store.append(stream, head, events, { origin: serviceOrigin() });
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
    const streams = await this.#store.streamIds(prefix, MAX_STREAMS);
    return streams.filter((stream) => stream.startsWith(prefix));
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
