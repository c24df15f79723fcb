import { z } from 'zod';
import type { JsonRpcAnswer } from '../../../core/json-rpc.ts';
import { afterLeaving, type RequestContext } from '../../../core/request/request-context.ts';
import type { ToolCallSignal } from '../../../core/tool-call/tool-progress.ts';
import type { ServerRequest } from '../../../core/tool-server/forwarded-request.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { McpCall } from '../mcp-call.ts';
import { LOG_LEVELS, type McpObject } from '../mcp-object.ts';
import { carriedCapabilities } from './carried-capabilities.ts';
import type { HeldCall } from './held-calls.ts';

export type Asked = Extract<ToolCallSignal, { readonly type: 'tool.asked' }>;

const LogMessage = z.object({ level: z.enum(LOG_LEVELS), logger: z.string().optional(), data: z.unknown() });

/** What a call does next: it ends, or its server asks something. */
export type NextStep = { readonly answer: JsonRpcAnswer } | { readonly asked: Asked };

export interface ForwardedCallDeps {
  readonly bus: Bus;
  readonly log: Logger;
}

/** A request that runs at a tool server. It may take several requests of its client, if the server asks something. */
export class ForwardedCall implements HeldCall {
  readonly context: RequestContext;
  readonly #request: ServerRequest;
  readonly #bus: Bus;
  readonly #logger: Logger;
  readonly #callId = crypto.randomUUID();
  readonly #answer: Promise<JsonRpcAnswer>;
  readonly #questions: Asked[] = [];
  #wake: () => void = () => undefined;
  /** The request of the client that is answered now. */
  #call: McpCall | null;
  /** What the server asked last. */
  #asked: Asked | undefined;

  constructor({ bus, log }: ForwardedCallDeps, request: ServerRequest, call: McpCall) {
    this.#bus = bus;
    this.#logger = log;
    this.#request = request;
    this.#call = call;
    this.context = call.context;
    const unwatch = bus.onToolCall(this.#callId, (signal) => this.#hear(signal));
    this.#answer = bus
      .send(
        'mcp-server.request',
        {
          ...request,
          callId: this.#callId,
          capabilities: carriedCapabilities(call.clientCapabilities),
          passesInput: call.era === 'modern',
        },
        call.context,
      )
      .finally(unwatch);
    // Heard by `next`, perhaps only with the client's next request.
    this.#answer.catch(() => undefined);
  }

  get characters(): number {
    return JSON.stringify(this.#request.params).length;
  }

  /** The question that waits for its answer. */
  get asked(): Asked | undefined {
    return this.#asked;
  }

  /** Resolves with the end of the call, or with the next question of its server. Cancels the call with its request. */
  async next(call: McpCall): Promise<NextStep> {
    this.#call = call;
    const cancel = (): void => this.end();
    if (call.signal.aborted) cancel();
    call.signal.addEventListener('abort', cancel, { once: true });
    try {
      const asked = new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#questions.length > 0) resolve();
      });
      const answer = await Promise.race([this.#answer, asked]);
      this.#asked = answer ? undefined : this.#questions.shift();
      return this.#asked ? { asked: this.#asked } : { answer: answer ?? (await this.#answer) };
    } finally {
      call.signal.removeEventListener('abort', cancel);
    }
  }

  /** Resolves when the server has answered, or cannot. */
  get ended(): Promise<void> {
    return this.#answer.then(
      () => undefined,
      () => undefined,
    );
  }

  /** The request of the client is over, and the call waits for another one. */
  release(): void {
    this.#call = null;
  }

  /**
   * @param context of the request that brought the answer. If it may not answer, the call is over.
   * @returns whether the question still waited.
   */
  async reply(questionId: string, answer: JsonRpcAnswer, context: RequestContext): Promise<boolean> {
    try {
      return await this.#bus.send('tool.answer', { callId: this.#callId, questionId, answer }, context);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Cancels the call. */
  end(): void {
    this.#bus
      .send('tool.cancel', { callId: this.#callId }, afterLeaving(this.context))
      .catch((err: unknown) => {
        this.#logger.warn({ err }, 'a request to a tool server could not be cancelled');
      });
  }

  /** A message that is none of MCP has no place to go. */
  #log(params: McpObject): void {
    const { data } = LogMessage.safeParse(params);
    if (data) this.#call?.log(data.level, data.logger, data.data);
  }

  #hear(signal: ToolCallSignal): void {
    switch (signal.type) {
      case 'tool.progress':
        this.#call?.progress(signal.progress);
        break;
      case 'tool.logged':
        this.#log(signal.params);
        break;
      case 'tool.asked':
        this.#questions.push(signal);
        this.#wake();
        break;
      case 'tool.begun':
        break;
      default:
        signal satisfies never;
    }
  }
}
