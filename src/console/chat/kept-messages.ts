import type { UnsentMessage } from '../../client/session-client.ts';
import type { FeedSnapshot } from '../service/session-feed.ts';
import { ofTab } from '../service/storage.ts';

export interface KeptMessage extends UnsentMessage {
  /** Whether it has an image, which is not kept: the storage of a browser has no room for it. */
  readonly hasImage: boolean;
}

/**
 * The texts of messages until the service has recorded them. Only the hub has such a message, in memory, so a reload
 * would lose it.
 */
export class KeptMessages {
  /** This page is told what becomes of them. */
  readonly #own = new Set<string>();
  /** A connection of another tab sends them. */
  readonly #passedOn = new Set<string>();

  keep(key: string, message: KeptMessage): void {
    this.#own.add(message.clientMessageId);
    store(key, [...stored(key), message]);
  }

  forget(key: string, clientMessageId: string): void {
    store(
      key,
      stored(key).filter((message) => message.clientMessageId !== clientMessageId),
    );
  }

  /** Call this with each snapshot. */
  note({ unsent }: Pick<FeedSnapshot, 'unsent'>): void {
    for (const { clientMessageId } of unsent) this.#passedOn.add(clientMessageId);
  }

  /** @returns the messages that the page kept before a reload and that nobody has sent or will send, once. */
  takeLost(key: string, { unanswered, events }: FeedSnapshot): readonly KeptMessage[] {
    const waiting = new Set(unanswered.map(({ clientMessageId }) => clientMessageId));
    const left = stored(key).filter(({ clientMessageId: id }) => !this.#own.has(id) && !waiting.has(id));
    for (const { clientMessageId } of left) this.forget(key, clientMessageId);
    const isRecorded = (id: string): boolean =>
      events.some(({ event, data }) => event === 'message' && data.clientMessageId === id);
    return left.filter(({ clientMessageId: id }) => !this.#passedOn.has(id) && !isRecorded(id));
  }
}

function stored(key: string): readonly KeptMessage[] {
  return JSON.parse(ofTab.get(nameOf(key)) ?? '[]');
}

function store(key: string, messages: readonly KeptMessage[]): void {
  ofTab.set(nameOf(key), messages.length === 0 ? null : JSON.stringify(messages));
}

function nameOf(key: string): string {
  return `agent-service.sent ${key}`;
}

/** The kept messages of this tab, by the keys of the drafts. */
export const keptMessages = new KeptMessages();
