import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeAtOnce, listenLocally, originOf } from '../support/sockets/local-server.ts';
import { chunk, DONE, events, namedEvents, type ProviderShapes, type WireAnswer } from './wire-shape.ts';

/**
 * Plays recorded answers over real HTTP. A request names its shape in the user's text, as `shape 12`; one that brings
 * the results of tools is answered with `done`, so that every turn comes to an end.
 */
export class ShapeServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #list: ProviderShapes;
  /** How often each shape was asked for. */
  readonly requests: number[] = [];

  private constructor(server: Server, list: ProviderShapes) {
    this.#server = server;
    this.#list = list;
    server.on('request', (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async listen(list: ProviderShapes): Promise<ShapeServer> {
    const server = createServer();
    const shapes = new ShapeServer(server, list);
    await listenLocally(server);
    return shapes;
  }

  /** For `llm.baseURL`. */
  get baseURL(): string {
    return `${originOf(this.#server)}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const number = Number(/shape (\d+)/.exec(body)?.[1]);
    const shape = this.#list.shapes[number];
    if (!shape) throw new Error(`no shape is named in ${body}`);
    this.requests[number] = (this.requests[number] ?? 0) + 1;
    const hasResults = /"role":"tool"|"function_call_output"|"tool_result"/.test(body);
    await send(response, hasResults ? doneAnswer(this.#list.api) : shape.answer);
  }
}

async function send(
  response: ServerResponse,
  { status = 200, headers, body, end }: WireAnswer,
): Promise<void> {
  const type = status === 200 ? 'text/event-stream' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.flushHeaders();
  for (const packet of typeof body === 'string' ? [body] : body) {
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      response.write(packet, () => resolve());
    });
  }
  if (end === 'reset') response.socket?.resetAndDestroy();
  else response.end();
}

/** A plain reply in each interface. */
function doneAnswer(api: ProviderShapes['api']): WireAnswer {
  switch (api) {
    case 'chat':
      return { body: events(chunk({ content: 'done' }), chunk({}, 'stop'), DONE) };
    case 'responses': {
      const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
      const content = [{ type: 'output_text', text: 'done', annotations: [] }];
      const output = [{ ...item, content }];
      const response = { id: 'resp_1', object: 'response', status: 'completed', output };
      return {
        body: namedEvents(
          { type: 'response.output_item.added', ...{ output_index: 0, item: { ...item, content: [] } } },
          { type: 'response.output_text.delta', ...{ output_index: 0, content_index: 0, delta: 'done' } },
          { type: 'response.output_item.done', ...{ output_index: 0, item: { ...item, content } } },
          { type: 'response.completed', ...{ response } },
        ),
      };
    }
    case 'messages':
      return {
        body: namedEvents(
          {
            type: 'message_start',
            ...{ message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: {} } },
          },
          { type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } },
          { type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: 'done' } } },
          { type: 'content_block_stop', ...{ index: 0 } },
          { type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } } },
          { type: 'message_stop' },
        ),
      };
    default:
      return api satisfies never;
  }
}
