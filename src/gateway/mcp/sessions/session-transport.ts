import {
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { HEARTBEAT_MS } from '../../sse/event-stream.ts';
import type { KeptStreams } from '../resume/kept-streams.ts';
import { RETRY_MS } from '../resume/resumption.ts';
import { SessionEvents } from '../resume/session-events.ts';
import { Answerers } from './answerers.ts';

type SendOptions = Parameters<WebStandardStreamableHTTPServerTransport['send']>[1];

export interface TransportDeps {
  readonly id: string;
  readonly kept: KeptStreams;
  readonly onInitialized: () => void;
  readonly onEnded: () => void;
}

/** The SDK's transport of one MCP session, whose streams can be resumed. */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly events: SessionEvents;
  readonly answerers = new Answerers();

  constructor({ id, kept, onInitialized, onEnded }: TransportDeps) {
    const events = new SessionEvents(kept, (streamId) => this.#requestsOf(streamId));
    super({
      sessionIdGenerator: () => id,
      onsessioninitialized: onInitialized,
      onsessionclosed: onEnded,
      eventStore: events,
      retryInterval: RETRY_MS,
      // The web server has checked the size already.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      keepAliveMs: HEARTBEAT_MS,
    });
    this.events = events;
    this.onmessage = (message, extra) => {
      this.answerers.noteReceived(message, extra?.authInfo);
      this.#endCancelled(message);
    };
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.answerers.noteSent(message);
    return super.send(message, options);
  }

  /** Ends all streams. The calls go on: that a client is away cancels nothing. */
  leave(): Promise<void> {
    // The server would cancel them.
    delete this.onclose;
    return this.close();
  }

  /** The SDK gives its event store a stream, and tells nobody whose it is. */
  #requestsOf(streamId: string): RequestId[] {
    return [...this.#streams()].flatMap(([requestId, id]) => (id === streamId ? [requestId] : []));
  }

  /** The streams of the SDK, by the requests that it still waits for. */
  #streams(): Map<RequestId, string> {
    const streams: unknown = Reflect.get(this, '_requestToStreamMapping');
    if (!(streams instanceof Map))
      throw new Error('this release of the SDK knows its streams in another way');
    return streams;
  }

  /**
   * The SDK does not answer a cancelled call, and would wait for that answer for the life of the session: with the call's
   * stream, and with each one that a client resumes.
   */
  #endCancelled(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const requestId: unknown = message.params?.requestId;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    // Other requests of a batch still have their answers in the same stream.
    if (this.events.cancel(requestId)) this.closeSSEStream(requestId);
    this.#streams().delete(requestId);
  }
}
