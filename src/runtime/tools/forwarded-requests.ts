import { requireScope } from '../../core/access/require-scope.ts';
import type { CallId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { type JsonRpcAnswer, JsonRpcError, RPC } from '../../core/json-rpc.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import { knowsForms } from '../../core/tool-server/elicitation.ts';
import type { CallableTool, ServerRequest } from '../../core/tool-server/forwarded-request.ts';
import type { AnswerQuestion } from '../../core/tool-server/server-question.ts';
import { expired } from '../../core/turn/ending-reasons.ts';
import type { RequestOf } from '../../ports/service-requests.ts';
import type { ForwardedRequestOptions, ToolServerConnection } from '../../ports/tool-server.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { approvalQuestion, decisionOf, notApproved, refusedCall } from './call-approval.ts';
import { peerAnswer } from './peer-answer.ts';
import { type AskedClient, refusalOfUndeclared } from './undeclared-question.ts';

type Asked = RequestOf<'mcp-server.request'>;
type Answered = RequestOf<'tool.answer'>;

export interface ForwardedRequestsDeps {
  readonly connectionOf: (serverId: string) => ToolServerConnection | null;
  /** All tools that the approval rules do not deny. */
  readonly tools: () => readonly CallableTool[];
  /** Tells the client that made the request. */
  readonly tell: (callId: CallId, signal: ToolCallSignal) => void;
  readonly clock?: Clock | undefined;
}

interface Waiting extends PromiseWithResolvers<JsonObject> {
  /** Whether it is the service that asks, for the approval of the call. */
  readonly isApproval: boolean;
}

interface Running {
  readonly client: AskedClient;
  readonly abort: AbortController;
  readonly questions: Map<string, Waiting>;
}

/** Requests of MCP that clients make of the tool servers through the service. */
export class ForwardedRequests {
  readonly #deps: ForwardedRequestsDeps;
  readonly #running = new Map<CallId, Running>();

  constructor(deps: ForwardedRequestsDeps) {
    this.#deps = deps;
  }

  /** Answers as the server does. Rejects only when the service fails, or the client lacks a scope. */
  async forward(asked: Asked, context: RequestContext): Promise<JsonRpcAnswer> {
    const { serverId, callId, capabilities = {} } = asked;
    const connection = this.#deps.connectionOf(serverId);
    if (!connection) return refusal(RPC.internalError, `The tool server ${serverId} is not connected.`);
    const client = { capabilities, era: connection.era };
    const running: Running = { client, abort: new AbortController(), questions: new Map() };
    this.#running.set(callId, running);
    this.#deps.tell(callId, { type: 'tool.begun' });
    try {
      const refused = await this.#refused(asked, running, context);
      if (refused) return refused;
      return await peerAnswer(async () => {
        running.abort.signal.throwIfAborted();
        return connection.request(asked, this.#options(asked, running, context));
      });
    } finally {
      this.#running.delete(callId);
    }
  }

  /** Whether the question waits. Throws if it is one for approval, and the client that answers may not approve. */
  answer({ callId, questionId, answer }: Answered, context: RequestContext): boolean {
    const waiting = this.#running.get(callId)?.questions.get(questionId);
    if (!waiting) return false;
    if (waiting.isApproval && context.rights) requireScope(context, 'approvals:decide');
    if ('result' in answer) waiting.resolve(answer.result);
    else waiting.reject(new JsonRpcError(answer.error.code, answer.error.message, answer.error.data));
    return true;
  }

  /** Whether there was such a request. */
  cancel(callId: CallId): boolean {
    const running = this.#running.get(callId);
    running?.abort.abort(new Error('the request was cancelled'));
    return running !== undefined;
  }

  #options(
    { callId, capabilities, passesInput }: Asked,
    running: Running,
    { trace }: RequestContext,
  ): ForwardedRequestOptions {
    const { tell } = this.#deps;
    return {
      signal: running.abort.signal,
      ...(trace && { trace }),
      ...(capabilities && { capabilities }),
      ...(passesInput !== undefined && { passesInput }),
      onProgress: (progress) => tell(callId, { type: 'tool.progress', progress }),
      onLog: (params) => tell(callId, { type: 'tool.logged', params }),
      onQuestion: this.#asker(callId, running),
    };
  }

  #asker(callId: CallId, { client, abort, questions }: Running, isApproval = false): AnswerQuestion {
    return async (question, signal) => {
      const refused = refusalOfUndeclared(question, client);
      if (refused) throw refused;
      const questionId = crypto.randomUUID();
      const waiting = { ...Promise.withResolvers<JsonObject>(), isApproval };
      const giveUp = (): void =>
        waiting.reject(new JsonRpcError(RPC.internalError, 'the request was cancelled'));
      for (const end of [signal, abort.signal]) end.addEventListener('abort', giveUp, { once: true });
      questions.set(questionId, waiting);
      this.#deps.tell(callId, { type: 'tool.asked', questionId, question });
      try {
        return await waiting.promise;
      } finally {
        questions.delete(questionId);
        for (const end of [signal, abort.signal]) end.removeEventListener('abort', giveUp);
      }
    };
  }

  /** What the client is answered if the call may not be made. Null for one that may. */
  async #refused(asked: Asked, running: Running, context: RequestContext): Promise<JsonRpcAnswer | null> {
    if (asked.method !== 'tools/call') return null;
    const tool = this.#toolOf(asked);
    if (!tool) return refusal(RPC.invalidParams, `Unknown tool: ${String(asked.params.name)}`);
    if (tool.policy === 'auto') return null;
    if (context.rights) requireScope(context, 'approvals:decide');
    if (!knowsForms(asked.capabilities))
      return refusedCall(
        `The tool ${tool.toolName} needs approval, and this client cannot be asked: it declares no elicitation with forms.`,
      );
    return await this.#askApproval(tool, asked, running);
  }

  /** Null if the client approves the call. */
  async #askApproval(
    tool: CallableTool,
    { callId, params }: Asked,
    running: Running,
  ): Promise<JsonRpcAnswer | null> {
    const { clock = systemClock } = this.#deps;
    const { expiresAfterMs } = tool;
    const expiry = new AbortController();
    const timer =
      expiresAfterMs === undefined ? undefined : clock.setTimeout(() => expiry.abort(), expiresAfterMs);
    try {
      const ask = this.#asker(callId, running, true);
      const decision = decisionOf(await ask(approvalQuestion(tool, params), expiry.signal));
      return decision.approved ? null : refusedCall(decision.reason);
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      const isExpired = expiresAfterMs !== undefined && expiry.signal.aborted;
      return refusedCall(notApproved(isExpired ? expired(expiresAfterMs) : 'its client could not be asked'));
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #toolOf({ serverId, params }: ServerRequest): CallableTool | undefined {
    return this.#deps.tools().find((tool) => tool.serverId === serverId && tool.toolName === params.name);
  }
}

function refusal(code: number, message: string): JsonRpcAnswer {
  return { error: { code, message } };
}
