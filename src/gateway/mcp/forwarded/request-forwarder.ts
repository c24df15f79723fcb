import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../core/json-object.ts';
import { type JsonRpcAnswer, JsonRpcError, type JsonRpcFailure, RPC } from '../../../core/json-rpc.ts';
import type { ForwardedMethod } from '../../../core/tool-server/forwarded-request.ts';
import type { ClientReply } from '../ask-client.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import { carriedCapabilities } from './carried-capabilities.ts';
import { type Asked, ForwardedCall, type ForwardedCallDeps } from './forwarded-call.ts';
import { unmarkedState, withMarkedState } from './forwarded-state.ts';
import { HeldCalls } from './held-calls.ts';

/** A request for one tool server, with the names by which the server knows its own. */
export interface RequestTo {
  readonly serverId: string;
  readonly method: ForwardedMethod;
  readonly params: McpObject;
}

const NO_ANSWER: JsonRpcFailure = { code: RPC.internalError, message: 'The client did not answer.' };

/** Passes requests of MCP clients on to tool servers, and what the servers ask back to the clients. */
export class RequestForwarder {
  readonly #deps: ForwardedCallDeps;
  readonly #held = new HeldCalls<ForwardedCall>();

  constructor(deps: ForwardedCallDeps) {
    this.#deps = deps;
  }

  async pass(request: RequestTo, call: McpCall): Promise<McpObject> {
    const { state } = call.input ?? {};
    if (this.#held.isState(state)) return this.#goOn(state, call);
    if (mayBeHeld(call)) this.#held.requirePlace(call.context);
    return this.#follow(this.#begin(request, call), call);
  }

  #begin({ params, ...request }: RequestTo, call: McpCall): ForwardedCall {
    const { responses, state } = call.input ?? {};
    const passed = {
      ...params,
      ...metaFor(call),
      ...(responses && { inputResponses: responses }),
      ...(state !== undefined && { requestState: unmarkedState(state) }),
    };
    return new ForwardedCall(this.#deps, { ...request, params: passed }, call);
  }

  /** The client brings what the server of a call that is held has asked for. */
  async #goOn(state: string, call: McpCall): Promise<McpObject> {
    const running = this.#held.take(state, call.context);
    if (!running) throw notWaiting();
    const { asked } = running;
    const response = asked && call.input?.responses[asked.questionId];
    if (asked && !isJsonObject(response)) return this.#hold(running, asked);
    if (asked && isJsonObject(response))
      await running.reply(asked.questionId, { result: response }, call.context);
    return this.#follow(running, call);
  }

  async #follow(running: ForwardedCall, call: McpCall): Promise<McpObject> {
    try {
      for (;;) {
        const step = await running.next(call);
        if ('answer' in step) return resultOf(step.answer);
        if (!call.ask) return this.#hold(running, step.asked);
        await askClient(running, step.asked, call.ask);
      }
    } finally {
      running.release();
    }
  }

  #hold(running: ForwardedCall, { questionId, question: { method, params } }: Asked): McpObject {
    const requestState = this.#held.hold(running);
    return {
      resultType: 'input_required',
      inputRequests: { [questionId]: { method, params } },
      requestState,
    };
  }
}

/** Whether its server may ask something that the client answers with another request. */
function mayBeHeld({ ask, clientCapabilities }: McpCall): boolean {
  return !ask && Object.keys(carriedCapabilities(clientCapabilities)).length > 0;
}

/** Resolves when the client has answered, or when the server has, which may go on without it. */
async function askClient(
  running: ForwardedCall,
  { questionId, question: { method, params } }: Asked,
  ask: NonNullable<McpCall['ask']>,
): Promise<void> {
  const over = new AbortController();
  const unanswered: ClientReply = { answer: { error: NO_ANSWER }, context: running.context };
  const answered = ask(method, params, over.signal)
    .catch(() => unanswered)
    .then(({ answer, context }) => running.reply(questionId, answer, context));
  await Promise.race([answered, running.ended]);
  over.abort();
  // Nobody waits for it any more if the server was first.
  answered.catch(() => undefined);
}

function resultOf(answer: JsonRpcAnswer): McpObject {
  if ('result' in answer) return withMarkedState(answer.result);
  throw errorOf(answer.error);
}

/** The error of a server, for the client. */
export function errorOf({ code, message, data }: JsonRpcFailure): JsonRpcError {
  return new JsonRpcError(code, message, data);
}

/** The server sends its progress to this service, which has a token of its own for it. */
function metaFor({ meta, logLevel }: McpCall): { readonly _meta?: McpObject } {
  const { progressToken: _, ...rest } = meta;
  const passed = { ...rest, ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }) };
  return Object.keys(passed).length > 0 ? { _meta: passed } : {};
}

function notWaiting(): JsonRpcError {
  const message =
    'No call of yours waits under this requestState: it has ended, or it runs on another node. Make the call again.';
  return new JsonRpcError(RPC.invalidParams, message, { field: 'requestState' });
}
