import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { namedEvents } from '../../providers/wire-shape.ts';
import { closeAtOnce, listenLocally, originOf } from '../sockets/local-server.ts';

const Body = z.looseObject({
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.array(z.looseObject({ type: z.string() })) }),
  ),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
export type MessagesBody = z.infer<typeof Body>;

export interface MessagesRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: MessagesBody;
}

/** A server of Anthropic's Messages API: each request is answered with the events that `answer` makes of it. */
export class MessagesUpstream implements AsyncDisposable {
  /** Every request, in order of arrival. */
  readonly requests: MessagesRequest[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(answer: (body: MessagesBody) => string): Promise<MessagesUpstream> {
    const server = createServer((request, response) => {
      const answering = async (): Promise<void> => {
        const body = Body.parse(await json(request));
        upstream.requests.push({ headers: request.headers, body });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(answer(body));
      };
      answering().catch(() => response.destroy());
    });
    const upstream = new MessagesUpstream(server);
    await listenLocally(server);
    return upstream;
  }

  /** For `llm.baseURL`. */
  get baseURL(): string {
    return `${originOf(this.#server)}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }
}

export const THOUGHT = { type: 'thinking', thinking: 'It wants the tool.', signature: 'c2lnbmVk' };

/** Claude, as far as it is asked by a check: it thinks before it calls the tool `add`. */
export function messagesReply({ messages, tools }: MessagesBody): string {
  const types = messages.flatMap(({ content }) => content.map(({ type }) => type));
  if (types.includes('image')) return message(['Yel', 'low'].map(textDelta));
  if (!tools || types.includes('tool_result')) return message(['It is', ' done'].map(textDelta));
  return namedEvents(
    BEGIN,
    event('content_block_start', { index: 0, content_block: { ...THOUGHT, thinking: '', signature: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: THOUGHT.thinking } }),
    event('content_block_delta', {
      index: 0,
      delta: { type: 'signature_delta', signature: THOUGHT.signature },
    }),
    event('content_block_stop', { index: 0 }),
    event('content_block_start', {
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
    }),
    event('content_block_delta', {
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{"a": 1234, "b": 5678}' },
    }),
    event('content_block_stop', { index: 1 }),
    ...ending('tool_use'),
  );
}

interface Event {
  readonly type: string;
}

const BEGIN = event('message_start', {
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 20 } },
});

function message(deltas: readonly Event[]): string {
  const open = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  const close = event('content_block_stop', { index: 0 });
  return namedEvents(BEGIN, open, ...deltas, close, ...ending('end_turn'));
}

function textDelta(text: string): Event {
  return event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
}

function ending(reason: string): Event[] {
  const delta = event('message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: 9 } });
  return [delta, { type: 'message_stop' }];
}

function event(type: string, fields: object): Event {
  return { type, ...fields };
}
