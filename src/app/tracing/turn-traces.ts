import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf, type SessionState } from '../../core/session/session-state.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { TokenUsage } from '../../core/turn/reply-parts.ts';
import { addUsage, NO_TOKENS } from '../../core/turn/token-usage.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { Span, SpanAttributes, SpanFailure, Tracing } from '../../ports/tracing.ts';

interface TurnTrace {
  readonly sessionId: string;
  readonly span: Span;
  /** The latest model call, which is the parent of the tool calls that it asked for. */
  step: TraceContext | undefined;
  usage: TokenUsage;
}

/** OpenTelemetry's names of providers, where they differ from ours. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/**
 * Makes a span for each attempt at a turn, from the signals of the bus. Names and attributes follow OpenTelemetry's
 * conventions for generative AI. Spans never contain messages.
 */
export class TurnTraces {
  readonly #tracing: Tracing;
  #llm: LlmConfig;
  readonly #open = new Map<string, TurnTrace>();
  /** By turn id: the trace context that the message came with, until the turn begins or goes on. */
  readonly #parents = new Map<string, TraceContext>();

  constructor(tracing: Tracing, llm: LlmConfig) {
    this.#tracing = tracing;
    this.#llm = llm;
  }

  /** The model is another from now on. */
  use(llm: LlmConfig): void {
    this.#llm = llm;
  }

  /** The attributes of the model, for every span. */
  get model(): SpanAttributes {
    const { provider, model } = this.#llm;
    return { 'gen_ai.provider.name': providerNames[provider] ?? provider, 'gen_ai.request.model': model };
  }

  readonly onSignal = (signal: SessionSignal): void => {
    if ('event' in signal) this.#onEvent(signal);
    else if (signal.type === 'session.fault') this.#endSession(signal.sessionId, signal.error.code);
  };

  /** The turns of the session came with their messages to another process, or before a restart. */
  readonly noteLoaded = ({ open, waiting }: SessionState): void => {
    for (const turn of open ? [open, ...waiting] : waiting)
      if (turn.trace) this.#parents.set(turn.turnId, turn.trace);
  };

  /** For a span within a turn: its attributes and possible parents. Undefined when the turn is not running. */
  openTurn(
    turnId: string,
  ): { attributes: SpanAttributes; turn: TraceContext; step: TraceContext | undefined } | undefined {
    const open = this.#open.get(turnId);
    return open && { attributes: idsOf(open.sessionId, turnId), turn: open.span.context, step: open.step };
  }

  /** @param step the model call of the turn that has begun. */
  noteStep(turnId: string, step: TraceContext): void {
    const open = this.#open.get(turnId);
    if (open) open.step = step;
  }

  /** Ends all spans when the service stops. Open turns continue at the next start, each in a new span. */
  endAll(): void {
    for (const [turnId, { span }] of this.#open) {
      span.set({ 'agent.turn.outcome': 'interrupted' });
      span.end();
      this.#open.delete(turnId);
    }
  }

  #onEvent({ sessionId, event }: Envelope): void {
    if (event.type === 'turn.requested' && event.trace) this.#parents.set(event.turnId, event.trace);
    if (event.type === 'turn.started') this.#begin(sessionId, event.turnId, 1);
    if (event.type === 'turn.resumed') this.#begin(sessionId, event.turnId, event.attempt);
    if (event.type === 'step.completed') this.#count(event);
    this.#endTurn(event);
  }

  #begin(sessionId: string, turnId: string, attempt: number): void {
    const parent = this.#parents.get(turnId);
    this.#parents.delete(turnId);
    const span = this.#tracing.begin('invoke_agent agent-service', {
      kind: 'internal',
      parent,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'agent-service',
        ...this.model,
        ...idsOf(sessionId, turnId),
        'agent.turn.attempt': attempt,
      },
    });
    this.#open.set(turnId, { sessionId, span, step: undefined, usage: NO_TOKENS });
  }

  #count({ turnId, usage }: SessionEventOf<'step.completed'>): void {
    const open = this.#open.get(turnId);
    if (!open || !usage) return;
    open.usage = addUsage(open.usage, usage);
  }

  #endTurn(event: SessionEvent): void {
    const ended = outcomeOf(event);
    if (!ended) return;
    const { turnId, outcome } = ended;
    this.#parents.delete(turnId);
    this.#end(turnId, outcome.status, failureOf(outcome));
  }

  #endSession(sessionId: string, type: string): void {
    for (const [turnId, open] of this.#open)
      if (open.sessionId === sessionId) this.#end(turnId, 'failed', { type });
  }

  #end(turnId: string, outcome: string, failure?: SpanFailure): void {
    const open = this.#open.get(turnId);
    if (!open) return;
    this.#open.delete(turnId);
    const { span, usage } = open;
    span.set({ 'agent.turn.outcome': outcome, ...usageAttributes(usage) });
    span.end(failure);
  }
}

/** Leaves out the counts that the provider does not report. */
export function usageAttributes(usage: TokenUsage): SpanAttributes {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    ...(cachedTokens !== undefined && { 'gen_ai.usage.cache_read.input_tokens': cachedTokens }),
    ...(reasoningTokens !== undefined && { 'gen_ai.usage.reasoning.output_tokens': reasoningTokens }),
  };
}

function idsOf(sessionId: string, turnId: string): SpanAttributes {
  return { 'gen_ai.conversation.id': sessionId, 'agent.turn.id': turnId };
}

function failureOf(outcome: TurnOutcome): SpanFailure | undefined {
  return outcome.status === 'failed'
    ? { type: outcome.error.code, message: String(outcome.error.details.reason ?? outcome.error.message) }
    : undefined;
}
