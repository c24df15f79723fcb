import type { JsonObject } from '../../../core/json-object.ts';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import { messageOf } from '../../../core/thrown.ts';
import type { ServerNote } from '../../../core/tool-server/server-log.ts';
import type { ServerQuestion } from '../../../core/tool-server/server-question.ts';
import type { ForwardedRequest } from '../../../ports/tool-server.ts';
import type { RequestId, RpcRequest } from '../peer/rpc-message.ts';
import type { ActiveCall, ActiveCalls } from './active-calls.ts';
import { isQuestion } from './answers.ts';

const NOT_OFFERED = 'refused: this service does not offer it to tool servers';
const IN_DOUBT = 'refused: the server does not say which of several calls it belongs to';

export interface ServerQuestionsDeps {
  readonly calls: ActiveCalls;
  /** Bounded and without secrets. */
  readonly shown: (value: unknown) => string;
  readonly tell: (note: ServerNote) => void;
}

/** Answers what the server asks, by the call that it works on. */
export class ServerQuestions {
  readonly #deps: ServerQuestionsDeps;

  constructor(deps: ServerQuestionsDeps) {
    this.#deps = deps;
  }

  /** Answers a request of the server. */
  async answer(
    request: RpcRequest,
    about: RequestId | undefined,
    cancelled: AbortSignal,
  ): Promise<JsonObject> {
    const { method, params = {} } = request;
    if (method === 'ping') return {};
    const { calls } = this.#deps;
    const call = isQuestion(method) ? calls.callOf(about) : undefined;
    if (isQuestion(method) && call) return await this.ask({ method, params }, call, cancelled);
    const isInDoubt = isQuestion(method) && calls.mayAnswer;
    this.#tell(method, params, isInDoubt ? IN_DOUBT : NOT_OFFERED);
    throw isInDoubt ? inDoubt() : notOffered();
  }

  /** Asks the client that made the call. */
  async ask(question: ServerQuestion, call: ActiveCall, cancelled?: AbortSignal): Promise<JsonObject> {
    const { method, params } = question;
    const { onQuestion, ended } = call;
    if (!onQuestion) {
      this.#tell(method, params, NOT_OFFERED);
      throw notOffered();
    }
    const resumeTimeout = call.suspendTimeout?.();
    try {
      const answer = await onQuestion(question, cancelled ? AbortSignal.any([ended, cancelled]) : ended);
      this.#tell(method, params, 'answered');
      return answer;
    } catch (error) {
      this.#tell(method, params, `refused: ${this.#deps.shown(messageOf(error))}`);
      throw error;
    } finally {
      resumeTimeout?.();
    }
  }

  /** Answers what the server needs for a result, in the way of stateless servers. */
  async fulfil(question: ForwardedRequest, call: ActiveCall, cancelled: AbortSignal): Promise<JsonObject> {
    const { method, params } = question;
    if (isQuestion(method) && call.onQuestion) return await this.ask({ method, params }, call, cancelled);
    this.#tell(method, params, NOT_OFFERED);
    throw new Error(`the server needs an answer to ${this.#deps.shown(method)}, which nobody gives here`);
  }

  #tell(method: string, params: JsonObject, answer: string): void {
    const { tell, shown } = this.#deps;
    tell({ source: 'request', method: shown(method), text: shown(params), answer });
  }
}

/** As if the client did not know the method. */
function notOffered(): JsonRpcError {
  return new JsonRpcError(RPC.methodNotFound, 'Method not found');
}

function inDoubt(): JsonRpcError {
  return new JsonRpcError(
    RPC.internalError,
    'The client cannot tell which of its calls the question belongs to',
  );
}
