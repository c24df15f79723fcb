import { EventEmitter, once } from 'node:events';
import type { JsonObject } from '../../../src/core/json-object.ts';
import type { Tool, ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import type { TraceContext } from '../../../src/core/trace.ts';
import type {
  ToolCallOptions,
  ToolServerConnection,
  ToolServerConnector,
} from '../../../src/ports/tool-server.ts';
import { connectionDouble } from './connection-double.ts';

export interface DirectedToolCall {
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
  readonly trace: TraceContext | undefined;
  /** Asks as the server of the call. */
  ask(question: ServerQuestion, signal?: AbortSignal): Promise<JsonObject>;
  settle(outcome: ToolOutcome): void;
  /** Settles as succeeded with this text. */
  answer(text: string): void;
}

/** Tool servers without a process: the test waits for calls and settles each of them. */
export class DirectedTools implements ToolServerConnector {
  readonly calls: DirectedToolCall[] = [];
  /** Connecting waits for it. */
  open: Promise<void> = Promise.resolve();
  readonly #tools: Tool[];
  readonly #arrivals = new EventEmitter();
  readonly #onCall: (call: DirectedToolCall) => void;

  /** @param tools names of tools; `repeatable` ones may be called twice. @param onCall may settle a call at once. */
  constructor(
    tools: Record<string, { repeatable?: boolean; inputSchema?: Tool['inputSchema'] }>,
    onCall: (call: DirectedToolCall) => void = () => undefined,
  ) {
    this.#onCall = onCall;
    this.#tools = Object.entries(tools).map(
      ([name, { repeatable = false, inputSchema = { type: 'object' } }]) => ({
        name,
        description: '',
        inputSchema,
        repeatable,
      }),
    );
  }

  async connect(): Promise<ToolServerConnection> {
    await this.open;
    return connectionDouble({
      listTools: async () => this.#tools,
      callTool: (toolName, args, options) => this.#call(toolName, args, options),
      close: async () => undefined,
    });
  }

  /** The call of this number, the first being 0, as soon as it has come. */
  async call(index: number): Promise<DirectedToolCall> {
    for (;;) {
      const call = this.calls[index];
      if (call) return call;
      await once(this.#arrivals, 'call');
    }
  }

  #call(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    { signal, trace, onQuestion }: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    const answer = (text: string): void =>
      resolve({ status: 'succeeded', result: { content: [{ type: 'text', text }] } });
    const ask: DirectedToolCall['ask'] = (question, gone = new AbortController().signal) => {
      if (!onQuestion) throw new Error('nobody answers');
      return onQuestion(question, gone);
    };
    const call = { toolName, arguments: args, signal, trace, ask, settle: resolve, answer };
    this.calls.push(call);
    this.#arrivals.emit('call');
    this.#onCall(call);
    return promise;
  }
}
