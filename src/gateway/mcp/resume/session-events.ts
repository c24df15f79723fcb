import type { EventStore, JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { SessionId, TurnId } from '../../../core/ids.ts';
import { decodeEventId, type EventId, encodeEventId } from './event-id.ts';
import { KeptStream, type KeptStreams } from './kept-streams.ts';

/** A POST with requests, whose answers have one stream. */
export interface Exchange {
  /** Of the stream, in the ids of its events. */
  readonly name: string;
  /** Of its requests. */
  readonly requestIds: readonly RequestId[];
  /** Of a call of `chat_with_agent`. */
  readonly turnId: TurnId | undefined;
  /** The sessions that its calls talk to. */
  readonly sessionIds: readonly SessionId[];
}

/** The transport has one stream that belongs to no request. Its missed events matter less than that it goes on. */
const STANDALONE_STREAM = '_GET_stream';

/** The events of one MCP session, as the transport asks for their ids and for those that a client has missed. */
export class SessionEvents implements EventStore {
  readonly #kept: KeptStreams;
  /** What is kept of a session outlives it for a while. It must not hold more of it than that. */
  readonly #owner = {};
  /** By the requests that are not answered. */
  readonly #exchanges = new Map<RequestId, Exchange>();
  /** By their names for the transport. */
  readonly #open = new Map<string, KeptStream>();
  readonly #requestsOf: (streamId: string) => readonly RequestId[];

  /** @param requestsOf the requests whose answers a stream of the transport has. */
  constructor(kept: KeptStreams, requestsOf: (streamId: string) => readonly RequestId[]) {
    this.#kept = kept;
    this.#requestsOf = requestsOf;
  }

  turnOf(requestId: RequestId): TurnId | undefined {
    return this.#exchanges.get(requestId)?.turnId;
  }

  /** @param respond takes the POST, and opens its stream. */
  async begin(exchange: Exchange, respond: () => Promise<Response>): Promise<Response> {
    const { requestIds } = exchange;
    for (const requestId of requestIds) this.#exchanges.set(requestId, exchange);
    let isTaken = false;
    try {
      const response = await respond();
      isTaken = response.status === 200;
      return response;
    } finally {
      if (!isTaken) for (const requestId of requestIds) this.end(requestId);
    }
  }

  /**
   * The client has cancelled the request, so it is never answered.
   *
   * @returns whether its stream has nothing more to tell. What the stream has told is forgotten then: a client that came back
   *   for it would wait for an answer.
   */
  cancel(requestId: RequestId): boolean {
    const exchange = this.#exchanges.get(requestId);
    if (!exchange) return false;
    const stream = this.#kept.find(exchange.name, this.#owner);
    const isOver = this.end(requestId);
    if (isOver && stream) this.#kept.drop(stream);
    return isOver;
  }

  /**
   * The request is answered, or never will be.
   *
   * @returns whether it was the last one of its stream.
   */
  end(requestId: RequestId): boolean {
    const exchange = this.#exchanges.get(requestId);
    this.#exchanges.delete(requestId);
    if (!exchange || exchange.requestIds.some((id) => this.#exchanges.has(id))) return false;
    for (const { streamId, name } of this.#open.values())
      if (name === exchange.name) this.#open.delete(streamId);
    return true;
  }

  /** The sessions that the stream of this event tells of. Null if not all that followed the event is here. */
  sessionsOf(eventId: EventId): readonly SessionId[] | null {
    return this.#missed(eventId)?.sessionIds ?? null;
  }

  /** Adds to the stream at once, before it returns: so no event falls between a replay and what comes next. */
  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const stream = this.#open.get(streamId) ?? this.#openStream(streamId);
    stream.count += 1;
    const number = stream.count;
    const id = encodeEventId({ stream: stream.name, told: this.#toldWith(stream, message), number });
    // The event that only tells the client an id has no message.
    if ('jsonrpc' in message) this.#kept.add(stream, { number, id, message });
    const answered = answeredBy(message);
    if (answered !== undefined && this.#exchanges.has(answered)) this.end(answered);
    // The answer to a request that no client has sent: another node has begun the session.
    else if (answered !== undefined) this.#open.delete(streamId);
    return id;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { readonly send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const eventId = decodeEventId(lastEventId);
    const missed = eventId && this.#missed(eventId);
    if (!missed) throw new Error('asked for events that are not here');
    await Promise.all(missed.events.map(({ id, message }) => send(id, message)));
    return missed.streamId;
  }

  #openStream(streamId: string): KeptStream {
    // Some of its requests may be over.
    const [exchange] = this.#requestsOf(streamId).flatMap(
      (requestId) => this.#exchanges.get(requestId) ?? [],
    );
    const stream = new KeptStream({
      streamId,
      owner: this.#owner,
      name: exchange?.name ?? crypto.randomUUID(),
      isChat: exchange?.turnId !== undefined,
      sessionIds: exchange?.sessionIds ?? [],
    });
    this.#open.set(streamId, stream);
    return stream;
  }

  #missed({ stream: name, number }: EventId) {
    if (number === undefined) return null;
    const stream =
      this.#kept.find(name, this.#owner) ?? [...this.#open.values()].find((one) => one.name === name);
    if (!stream) return null;
    const { streamId, sessionIds } = stream;
    const events =
      stream.after(number) ?? (streamId === STANDALONE_STREAM ? stream.after(stream.count) : null);
    return events && { streamId, sessionIds, events };
  }

  /** Characters of the reply that a client has with this message. */
  #toldWith(stream: KeptStream, message: JSONRPCMessage): EventId['told'] {
    if (!stream.isChat) return 0;
    if (answeredBy(message) !== undefined) return 'end';
    if ('method' in message && message.method === 'notifications/progress')
      stream.told = Number(message.params?.progress);
    return stream.told;
  }
}

function answeredBy(message: JSONRPCMessage): RequestId | undefined {
  return 'result' in message || 'error' in message ? message.id : undefined;
}
