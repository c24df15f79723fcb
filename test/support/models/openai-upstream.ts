import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { closeAtOnce, listenLocally, originOf } from '../sockets/local-server.ts';

/** One fragment of a tool call, as it goes over the wire. */
export interface ToolCallFragment {
  index?: number | undefined;
  id?: string;
  name?: string;
  arguments?: string;
}

/** What the server does next while it answers. Steps are executed in order, each in a packet of its own. */
export type StreamStep =
  | { text: string }
  | { toolCall: ToolCallFragment }
  | { finish: string }
  | { usage: { prompt_tokens: number; completion_tokens: number } }
  /** `data: {"error": …}`, an error inside a stream that began with 200. */
  | { error: unknown }
  /** Any JSON value as one event, for chunks of other shapes. */
  | { event: unknown }
  /** Bytes as they are: comments, broken events, characters split in two. */
  | { raw: string | Uint8Array }
  | { done: true }
  /** Goes on when the promise resolves. */
  | { gate: Promise<unknown> }
  /** Goes on after a while, for what is measured in time. */
  | { pauseMs: number }
  /** Keeps the connection open and says nothing more. */
  | { hang: true }
  /** Resets the connection. */
  | { cut: true };

/** How the server answers one request. */
export type UpstreamReply =
  /** Streams the steps and then ends the body properly; nothing is added to them. The status is 200 if not said. */
  | { stream: readonly StreamStep[]; contentType?: string; status?: number }
  /** Answers with a body; the content type is JSON if not in `headers`. */
  | { status: number; body?: unknown; headers?: Record<string, string>; stream?: never }
  /** Accepts the request and never answers, not even headers. */
  | { hang: true }
  /** Resets the connection instead of answering. */
  | { hangUp: true };

const ChatRequestBody = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});

export interface UpstreamRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: z.infer<typeof ChatRequestBody>;
  /** Resolves when the client closes the connection before the answer is complete. */
  readonly aborted: Promise<void>;
}

/** Streams the pieces, `finish_reason: "stop"`, the usage, and `[DONE]`: a good provider's whole answer. */
export function textReply(...pieces: string[]): UpstreamReply {
  return { stream: [...pieces.map((text) => ({ text })), ...ending('stop')] };
}

/**
 * Asks for tools, after optional text. The arguments (a JSON value, or raw text as a string) are streamed in
 * fragments of `fragmentLength` characters.
 */
export function toolCallReply(
  calls: readonly { id: string; name: string; arguments: unknown }[],
  { text = '', fragmentLength = 5 }: { text?: string; fragmentLength?: number } = {},
): UpstreamReply {
  const steps = calls.flatMap(({ id, name, arguments: args }, index): StreamStep[] => {
    const json = typeof args === 'string' ? args : JSON.stringify(args);
    const fragments = json.match(new RegExp(`[^]{1,${fragmentLength}}`, 'g')) ?? [];
    return [
      { toolCall: { index, id, name, arguments: '' } },
      ...fragments.map((fragment) => ({ toolCall: { index, arguments: fragment } })),
    ];
  });
  return { stream: [...(text === '' ? [] : [{ text }]), ...steps, ...ending('tool_calls')] };
}

/** An error in OpenAI's form. `retryAfterMs: 1` makes a client that repeats do so at once. */
export function errorReply(
  status: number,
  {
    code = null,
    message = 'upstream says no',
    retryAfterMs,
  }: { code?: string | null; message?: string; retryAfterMs?: number } = {},
): UpstreamReply {
  return {
    status,
    body: { error: { message, type: 'upstream_error', code } },
    ...(retryAfterMs !== undefined && { headers: { 'retry-after-ms': String(retryAfterMs) } }),
  };
}

function ending(finish: string): StreamStep[] {
  return [{ finish }, { usage: { prompt_tokens: 7, completion_tokens: 11 } }, { done: true }];
}

/**
 * An OpenAI-compatible server that speaks real HTTP and server-sent events, with every fault one can ask for:
 *
 * ```ts
 * await using upstream = await OpenAiUpstream.listen();
 * upstream.replyWith(errorReply(500), textReply('Hello', ' there'));  // first request, second request
 * …                                                                  // point llm.baseURL at upstream.baseURL
 * const request = await upstream.request(1);                         // waits until the second has arrived
 * ```
 *
 * Requests beyond the queued replies are answered by `otherwise`, which says `ok` when nobody sets it.
 */
export class OpenAiUpstream implements AsyncDisposable {
  /** Answers requests for which no reply is queued. */
  otherwise: (request: UpstreamRequest) => UpstreamReply = () => textReply('ok');
  /** Every request, in order of arrival, recorded before it is answered. */
  readonly requests: UpstreamRequest[] = [];
  /** How many connections were opened so far. */
  connections = 0;
  readonly #queued: UpstreamReply[] = [];
  readonly #open = new Set<ServerResponse>();
  readonly #waiting = new Map<number, PromiseWithResolvers<UpstreamRequest>>();
  readonly #failed = Promise.withResolvers<never>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', () => {
      this.connections += 1;
    });
    server.on('request', (req, res) => {
      this.#answer(req, res).catch((error: unknown) => {
        this.#failed.reject(error);
        res.destroy();
      });
    });
    // Whoever waits for a request learns of it; without a waiter the client's broken connection tells.
    this.#failed.promise.catch(() => undefined);
  }

  static async listen(): Promise<OpenAiUpstream> {
    const server = createServer();
    const upstream = new OpenAiUpstream(server);
    await listenLocally(server);
    return upstream;
  }

  /** For `llm.baseURL`. */
  get baseURL(): string {
    return `${originOf(this.#server)}/v1`;
  }

  /** Queues replies, one for each request to come. */
  replyWith(...replies: UpstreamReply[]): void {
    this.#queued.push(...replies);
  }

  /** The request of this number, the first being 0, as soon as it has arrived. */
  async request(index: number): Promise<UpstreamRequest> {
    const arrived = this.requests[index];
    if (arrived !== undefined) return arrived;
    const waiting = this.#waiting.get(index) ?? Promise.withResolvers<UpstreamRequest>();
    this.#waiting.set(index, waiting);
    return await Promise.race([waiting.promise, this.#failed.promise]);
  }

  /** Resolves when every request that has arrived is answered or aborted. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all([...this.#open].map((res) => once(res, 'close')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#open.add(res);
    const aborted = new Promise<void>((resolve) => {
      res.once('close', () => {
        this.#open.delete(res);
        if (!res.writableFinished) resolve();
      });
    });
    const body = ChatRequestBody.parse(await json(req));
    const request: UpstreamRequest = { path: req.url ?? '', headers: req.headers, body, aborted };
    const index = this.requests.push(request) - 1;
    this.#waiting.get(index)?.resolve(request);
    await send(res, this.#queued.shift() ?? this.otherwise(request), aborted);
  }
}

async function send(res: ServerResponse, reply: UpstreamReply, aborted: Promise<void>): Promise<void> {
  if ('hang' in reply) return;
  if ('hangUp' in reply) {
    res.socket?.resetAndDestroy();
    return;
  }
  if (reply.stream === undefined) {
    res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    res.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
    return;
  }
  res.writeHead(reply.status ?? 200, {
    'content-type': reply.contentType ?? 'text/event-stream; charset=utf-8',
  });
  res.flushHeaders();
  for (const step of reply.stream) {
    if ('hang' in step) return;
    if ('cut' in step) {
      res.socket?.resetAndDestroy();
      return;
    }
    if ('pauseMs' in step) await Promise.race([wait(step.pauseMs), aborted]);
    else if ('gate' in step) await Promise.race([step.gate, aborted]);
    else await write(res, bytesOf(step));
    if (res.destroyed) return;
  }
  res.end();
}

/** Resolves when the bytes were handed to the operating system, or when nobody is there to take them. */
async function write(res: ServerResponse, bytes: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    res.write(bytes, () => {
      res.off('close', resolve);
      resolve();
    });
  });
}

function bytesOf(
  step: Exclude<StreamStep, { gate: unknown } | { pauseMs: number } | { hang: true } | { cut: true }>,
): string | Uint8Array {
  if ('raw' in step) return step.raw;
  if ('done' in step) return 'data: [DONE]\n\n';
  return `data: ${JSON.stringify(eventOf(step))}\n\n`;
}

type EventStep = Extract<
  StreamStep,
  | { text: string }
  | { toolCall: unknown }
  | { finish: string }
  | { usage: unknown }
  | { error: unknown }
  | { event: unknown }
>;

function eventOf(step: EventStep): unknown {
  if ('event' in step) return step.event;
  if ('error' in step) return { error: step.error };
  if ('text' in step) return chunk([{ index: 0, delta: { content: step.text }, finish_reason: null }]);
  if ('finish' in step) return chunk([{ index: 0, delta: {}, finish_reason: step.finish }]);
  if ('usage' in step) return { ...chunk([]), usage: step.usage };
  const { index, id, name, arguments: args } = step.toolCall;
  const toolCall = {
    index,
    id,
    type: id === undefined ? undefined : 'function',
    function: { name, arguments: args },
  };
  return chunk([{ index: 0, delta: { tool_calls: [toolCall] }, finish_reason: null }]);
}

function chunk(choices: readonly unknown[]): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'upstream', choices };
}
