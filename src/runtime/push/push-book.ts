import type { Origin } from '../../core/log/event-metadata.ts';
import { PUSH_KEY_STREAM, PUSH_STREAMS, type StreamId } from '../../core/log/streams.ts';
import { KeptPush } from '../../core/push/push-config.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { againWhenStale } from '../streams/again-when-stale.ts';

/** Streams that are listed at once. */
const PAGE_STREAMS = 100;

/** A config as the log has it. */
export interface StoredPush {
  readonly stream: StreamId;
  readonly push: KeptPush;
  /** The same, encrypted. */
  readonly sealed: string;
  /** Seq of the session up to which the receiver was told. */
  readonly upTo: number;
  /** Seq of the last event of the stream. */
  readonly seq: number;
}

/** The turn that configs belong to. */
type Turn = Pick<KeptPush, 'sessionId' | 'turnId'>;

/** No session, turn or config has a `~` in its id. */
export function pushStream({ sessionId, turnId }: Turn, configId: string): StreamId {
  return `${PUSH_STREAMS}${sessionId}~${turnId}~${configId}`;
}

/** Keeps the configs for push notifications in the log, encrypted, and how far each receiver was told. */
export class PushBook {
  readonly #store: EventStore;
  readonly #box: SecretBox;

  constructor(store: EventStore, box: SecretBox) {
    this.#store = store;
    this.#box = box;
  }

  /** Rejects with `StaleVersionError` if there is such a config. */
  async keep(push: KeptPush, origin: Origin): Promise<StoredPush> {
    const stream = pushStream(push, push.config.id);
    const sealed = await this.#box.seal(JSON.stringify(push), stream);
    await this.#store.append(stream, 0, [{ type: 'push.registered', sealed }], { origin });
    return { stream, push, sealed, upTo: 0, seq: 1 };
  }

  /** Rejects with `StaleVersionError` if the config has ended. @param seq of the last event of the stream. */
  async noteDelivered(stream: StreamId, seq: number, upTo: number): Promise<void> {
    await this.#store.append(stream, seq, [{ type: 'push.delivered', upTo }], { origin: serviceOrigin() });
  }

  /** Null if there is no such config. Rejects with `SealedError`. */
  async read(stream: StreamId): Promise<StoredPush | null> {
    let sealed: string | null = null;
    let upTo = 0;
    let seq = 0;
    for (const envelope of await this.#store.read(stream, 0)) {
      if (envelope.event.type === 'push.registered') ({ sealed } = envelope.event);
      if (envelope.event.type === 'push.delivered') ({ upTo } = envelope.event);
      ({ seq } = envelope);
    }
    if (sealed === null) return null;
    const push = KeptPush.parse(JSON.parse(await this.#box.open(sealed, stream)));
    return { stream, push, sealed, upTo, seq };
  }

  /**
   * Encrypts the config with the present key of the service, if it is encrypted with a former one. Only for who sends its
   * notifications. Rejects as `noteDelivered` does. @returns the config as the log has it then.
   */
  async sealedAnew(stored: StoredPush): Promise<StoredPush> {
    const { stream, push, seq } = stored;
    if (!(await this.#box.isOutdated(stored.sealed))) return stored;
    const sealed = await this.#box.seal(JSON.stringify(push), stream);
    await this.#store.append(stream, seq, [{ type: 'push.registered', sealed }], { origin: serviceOrigin() });
    return { ...stored, sealed, seq: seq + 1 };
  }

  erase(stream: StreamId): Promise<void> {
    return this.#store.erase(stream);
  }

  streamsOf({ sessionId, turnId }: Turn): Promise<StreamId[]> {
    return this.#streams(`${PUSH_STREAMS}${sessionId}~${turnId}~`);
  }

  allStreams(): Promise<StreamId[]> {
    return this.#streams(PUSH_STREAMS);
  }

  /** The private key that signs notifications; null if there is none yet. Rejects with `SealedError`. */
  async key(): Promise<string | null> {
    const kept = await this.#sealedKey();
    return kept && this.#box.open(kept.sealed, PUSH_KEY_STREAM);
  }

  /** Keeps a key, unless another node was first. @returns the one that counts. */
  keepKey(create: () => string): Promise<string> {
    return againWhenStale(async () => {
      const known = await this.key();
      if (known !== null) return known;
      const created = create();
      await this.#appendKey(0, created);
      return created;
    });
  }

  /** Encrypts the key with the present one of the service, if it is encrypted with a former one. */
  sealKeyAnew(): Promise<void> {
    return againWhenStale(async () => {
      const kept = await this.#sealedKey();
      if (kept && (await this.#box.isOutdated(kept.sealed)))
        await this.#appendKey(kept.seq, await this.#box.open(kept.sealed, PUSH_KEY_STREAM));
    });
  }

  /** As it was encrypted last. */
  async #sealedKey(): Promise<{ readonly sealed: string; readonly seq: number } | null> {
    const last = (await this.#store.read(PUSH_KEY_STREAM, 0)).at(-1);
    return last?.event.type === 'secret.kept' ? { sealed: last.event.sealed, seq: last.seq } : null;
  }

  async #appendKey(seq: number, key: string): Promise<void> {
    const sealed = await this.#box.seal(key, PUSH_KEY_STREAM);
    await this.#store.append(PUSH_KEY_STREAM, seq, [{ type: 'secret.kept', sealed }], {
      origin: serviceOrigin(),
    });
  }

  async #streams(prefix: string): Promise<StreamId[]> {
    const found: StreamId[] = [];
    for (let after = prefix; ; ) {
      const page = await this.#store.streamIds(after, PAGE_STREAMS);
      const wanted = page.filter((id) => id.startsWith(prefix));
      found.push(...wanted);
      const last = wanted.at(-1);
      if (last === undefined || wanted.length < PAGE_STREAMS) return found;
      after = last;
    }
  }
}
