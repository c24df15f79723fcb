import { estimateText } from '../../core/conversation/token-estimate.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError, MCP_CODES, RPC } from '../../core/json-rpc.ts';
import { AGENT } from '../../core/log/event-metadata.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { SamplingConfig } from '../../core/tool-server/sampling-config.ts';
import { spokenText } from '../../core/turn/step-parts.ts';
import type { ModelReply, ReplyListener } from '../../ports/language-model.ts';
import { systemClock } from '../../timing/clock.ts';
import { SamplingBudget } from './sampling-budget.ts';
import {
  promptOf,
  type SamplingParams,
  samplingParams,
  samplingRequest,
  samplingResult,
} from './sampling-request.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';
import type { QuestionEnds, TurnInputs } from './turn-inputs.ts';

type Call = SessionEventOf<'tool-call.requested'>;

/** What the server of a call wants of the model. */
export interface SamplingQuestion {
  readonly call: Call;
  readonly params: JsonObject;
  /** Undefined: the server may not ask the model. */
  readonly sampling: SamplingConfig | undefined;
  readonly expiresAfterMs: number | undefined;
}

/** What tool servers ask the agent's model in one turn. Budgets are counted from the beginning, or since the last restart. */
export class TurnSampling {
  readonly #session: TurnSession;
  readonly #deps: TurnDeps;
  readonly #inputs: TurnInputs;
  readonly #budgets = new Map<string | null, SamplingBudget>();

  constructor(session: TurnSession, deps: TurnDeps, inputs: TurnInputs) {
    this.#session = session;
    this.#deps = deps;
    this.#inputs = inputs;
  }

  /** Rejects with a `JsonRpcError` if the server may not ask this, or gets no answer. */
  async answer(asked: SamplingQuestion, ends: QuestionEnds): Promise<JsonObject> {
    const { sampling, call } = asked;
    if (!sampling) throw new JsonRpcError(MCP_CODES.rejected, NOT_ALLOWED);
    const params = samplingParams(asked.params);
    const budget = this.#budgetOf(call, sampling);
    const granted = budget.take(params.maxTokens);
    let used = 0;
    try {
      if (sampling.policy === 'ask') await this.#approved(asked, { ...params, maxTokens: granted }, ends);
      const reply = await this.#generate(params, granted, ends);
      used = reply.usage?.outputTokens ?? estimateText(spokenText(reply.parts));
      this.#record(call, reply);
      return samplingResult(reply, this.#deps.model);
    } finally {
      budget.settle(granted, used);
    }
  }

  #budgetOf({ serverId }: Call, sampling: SamplingConfig): SamplingBudget {
    const budget = this.#budgets.get(serverId) ?? new SamplingBudget(sampling);
    this.#budgets.set(serverId, budget);
    return budget;
  }

  async #approved(
    { call, expiresAfterMs }: SamplingQuestion,
    params: SamplingParams,
    ends: QuestionEnds,
  ): Promise<void> {
    const { systemPrompt, maxTokens } = params;
    const message = `The tool server ${call.serverId ?? ''} asks the agent's model. May it?`;
    const prompt = promptOf(params);
    const question = {
      mode: 'sampling' as const,
      ...(systemPrompt !== undefined && { systemPrompt }),
      prompt,
      maxTokens,
    };
    const { action } = await this.#inputs.ask(call, { message, question, expiresAfterMs }, ends);
    if (action === 'accept') return;
    const reason = action === 'decline' ? 'somebody declined the request' : 'nobody approved the request';
    throw new JsonRpcError(MCP_CODES.rejected, reason);
  }

  async #generate(params: SamplingParams, maxTokens: number, ends: QuestionEnds): Promise<ModelReply> {
    const { model, log, stepTimeoutMs, clock = systemClock } = this.#deps;
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), stepTimeoutMs);
    const signal = AbortSignal.any([ends.turn, ends.server, late.signal]);
    try {
      return await model.generate(samplingRequest(params, maxTokens, model), UNHEARD, signal);
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'the model could not answer a tool server');
      // Why a provider fails is the operator's matter, not the server's.
      throw new JsonRpcError(RPC.internalError, "the agent's model could not answer");
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #record({ turnId, callId }: Call, { finishReason, usage }: ModelReply): void {
    const { model } = this.#deps;
    const causationId = this.#session.causes.ofCall(callId) ?? turnId;
    this.#session.report(
      { type: 'sampling.record', turnId, callId, source: model.source, finishReason, usage },
      { actor: AGENT, causationId },
    );
  }
}

const NOT_ALLOWED =
  "this server may not ask the agent's model: its entry in the agent file has no `sampling`";

/** The server gets the whole reply. */
const UNHEARD: ReplyListener = { onText: () => undefined, onReasoning: () => undefined };
