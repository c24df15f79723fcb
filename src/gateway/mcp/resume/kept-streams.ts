import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { SessionId } from '../../../core/ids.ts';

/** Of one stream. */
const MAX_EVENTS = 1_000;
const MAX_CHARACTERS = 1024 * 1024;
/** Of all streams together. */
const MAX_CHARACTERS_OF_ALL = 32 * 1024 * 1024;
/** About what an event takes apart from its text, and a stream apart from its events, in characters. */
const EVENT_OVERHEAD = 256;
const STREAM_OVERHEAD = 1024;
/** How long the events of a stream are kept after the last one. */
const KEPT_MS = 5 * 60_000;

export interface KeptEvent {
  readonly number: number;
  readonly id: string;
  readonly message: JSONRPCMessage;
}

export interface StreamOrigin {
  /** As ids of events name it. */
  readonly name: string;
  /** As the transport of its MCP session names it. */
  readonly streamId: string;
  /** Stands for the session. Nobody else finds the stream. */
  readonly owner: object;
  /** Whether it is that of a call of `chat_with_agent`. */
  readonly isChat: boolean;
  /** Only clients that may read these sessions get the events of the stream. */
  readonly sessionIds: readonly SessionId[];
}

/** A stream of one MCP session, with its last events. */
export class KeptStream {
  readonly name: string;
  readonly streamId: string;
  readonly owner: object;
  readonly isChat: boolean;
  readonly sessionIds: readonly SessionId[];
  /** The events of the stream so far, kept or not. */
  count = 0;
  /** Of a chat: characters of the reply that were told. */
  told = 0;
  changedAt = 0;
  characters = 0;
  readonly #events: (KeptEvent & { readonly characters: number })[] = [];

  constructor({ name, streamId, owner, isChat, sessionIds }: StreamOrigin) {
    this.name = name;
    this.streamId = streamId;
    this.owner = owner;
    this.isChat = isChat;
    this.sessionIds = sessionIds;
  }

  /** The events after the one with this number; null if they are not all there. */
  after(number: number): readonly KeptEvent[] | null {
    if (number === this.count) return [];
    const [first] = this.#events;
    if (!first || number + 1 < first.number || number > this.count) return null;
    return this.#events.filter((event) => event.number > number);
  }

  add(event: KeptEvent): void {
    const characters = JSON.stringify(event.message).length + EVENT_OVERHEAD;
    this.#events.push({ ...event, characters });
    this.characters += characters;
    while (this.#events.length > MAX_EVENTS || this.characters > MAX_CHARACTERS)
      this.characters -= this.#events.shift()?.characters ?? 0;
  }

  clear(): void {
    this.#events.length = 0;
    this.characters = 0;
  }
}

/** What clients of MCP sessions were told lately, for those that lose a stream and come back. Bounded for all sessions together. */
export class KeptStreams {
  /** The one that has changed longest ago comes first. */
  readonly #streams = new Map<string, KeptStream>();
  #characters = 0;

  add(stream: KeptStream, event: KeptEvent): void {
    if (this.#streams.has(stream.name)) this.#characters -= sizeOf(stream);
    stream.add(event);
    this.#characters += sizeOf(stream);
    stream.changedAt = Date.now();
    this.#streams.delete(stream.name);
    this.#streams.set(stream.name, stream);
    for (const oldest of this.#streams.values()) {
      if (this.#characters <= MAX_CHARACTERS_OF_ALL) return;
      this.#drop(oldest);
    }
  }

  /** Undefined if nothing is kept of such a stream. */
  find(name: string, owner: object): KeptStream | undefined {
    const stream = this.#streams.get(name);
    return stream?.owner === owner ? stream : undefined;
  }

  /** Forgets a stream that nobody may come back for. */
  drop(stream: KeptStream): void {
    if (this.#streams.get(stream.name) === stream) this.#drop(stream);
  }

  /** Forgets what nobody has come back for. */
  expire(): void {
    const now = Date.now();
    for (const stream of this.#streams.values()) {
      if (now - stream.changedAt < KEPT_MS) return;
      this.#drop(stream);
    }
  }

  #drop(stream: KeptStream): void {
    this.#characters -= sizeOf(stream);
    stream.clear();
    this.#streams.delete(stream.name);
  }
}

function sizeOf({ characters }: KeptStream): number {
  return STREAM_OVERHEAD + characters;
}
