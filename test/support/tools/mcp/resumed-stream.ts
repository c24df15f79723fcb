import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { openMcp, postMcp } from '../mcp-http.ts';

const REVISION = '2025-11-25';

/** @returns the headers of a new MCP session whose client knows streams that can be resumed. */
export async function resumableSession(
  port: number,
  headers: Record<string, string> = {},
  capabilities: object = {},
): Promise<Record<string, string>> {
  const params = { protocolVersion: REVISION, capabilities, clientInfo: { name: 'raw', version: '1' } };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const answer = await postMcp(port, initialize, headers);
  const id = answer.headers['mcp-session-id'];
  if (answer.status !== 200 || typeof id !== 'string') throw new Error(`not initialized: ${answer.text}`);
  return { ...headers, 'Mcp-Session-Id': id, 'Mcp-Protocol-Version': REVISION };
}

/** A call of `chat_with_agent` that asks for progress. */
export function chatCall(id: number, message: string, more: object = {}) {
  const params = { name: 'chat_with_agent', arguments: { message, ...more }, _meta: { progressToken: 'p' } };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

/** One event of a stream, as it was sent. */
export interface SentEvent {
  readonly id: string;
  readonly text: string;
  /** Null if the event only tells its id. */
  readonly message: SentMessage | null;
}

interface SentMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly progress?: number; readonly message?: string };
  readonly result?: unknown;
}

export function eventsOf(stream: string): SentEvent[] {
  return stream.split('\n\n').flatMap((block) => {
    const id = /^id: (.+)$/m.exec(block)?.[1];
    const data = /^data: (.+)$/m.exec(block)?.[1];
    if (id === undefined) return [];
    return [{ id, text: `${block}\n\n`, message: data === undefined ? null : JSON.parse(data) }];
  });
}

/** The pieces of the reply that a client was told, joined. */
export function toldText(events: readonly SentEvent[]): string {
  return events.map(({ message }) => message?.params?.message ?? '').join('');
}

/** Events with messages: what a client gets anew is only where it is. */
export function messagesOf(events: readonly SentEvent[]): string {
  return events.flatMap(({ message, text: sent }) => (message ? [sent] : [])).join('');
}

/** Comes back with the id of an event. */
export async function resumed(
  port: number,
  session: Record<string, string>,
  lastEventId: string,
): Promise<{ readonly status: number | undefined; readonly body: Promise<string> }> {
  const response = await openMcp(port, 'GET', { ...session, 'Last-Event-ID': lastEventId });
  return { status: response.statusCode, body: text(response) };
}

/** The events of a stream that is open. */
export class EventReader {
  readonly #response: IncomingMessage;
  readonly #news = new EventEmitter();
  #read = '';

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.on('data', (piece: Buffer) => {
      this.#read += piece.toString();
      this.#news.emit('news');
    });
    // A test that breaks its connection wants that.
    response.on('error', () => this.#news.emit('news'));
  }

  get events(): SentEvent[] {
    return eventsOf(this.#read);
  }

  /** The first such event, as soon as it is there. */
  async that(isWanted: (event: SentEvent) => boolean): Promise<SentEvent> {
    for (;;) {
      const found = this.events.find(isWanted);
      if (found) return found;
      await once(this.#news, 'news');
    }
  }

  /** Breaks the connection. */
  async cut(): Promise<void> {
    const closed = once(this.#response, 'close');
    this.#response.destroy();
    await closed;
  }
}

/** Reads the stream until it has an event that is wanted, and breaks the connection. */
export async function readAndCut(
  response: IncomingMessage,
  isWanted: (event: SentEvent) => boolean,
): Promise<SentEvent[]> {
  const reader = new EventReader(response);
  await reader.that(isWanted);
  await reader.cut();
  return reader.events;
}
