import { asServiceError } from '../../core/errors.ts';
import type { LanguageModel, ModelRequest } from '../../ports/language-model.ts';
import type { Span, Tracing } from '../../ports/tracing.ts';
import { type TurnTraces, usageAttributes } from './turn-traces.ts';

/** Wraps a model: each call is a span of its turn, and the provider gets the context of the span. */
export function tracedModel(model: LanguageModel, tracing: Tracing, turns: TurnTraces): LanguageModel {
  return {
    label: model.label,
    source: model.source,
    maxTools: model.maxTools,
    async generate(request, listener, signal) {
      const span = beginStep(request, tracing, turns);
      try {
        const reply = await model.generate({ ...request, trace: span.context }, listener, signal);
        if (reply.usage) span.set(usageAttributes(reply.usage));
        span.end();
        return reply;
      } catch (error) {
        if (signal.aborted) span.set({ 'agent.step.outcome': 'cancelled' });
        span.end(signal.aborted ? undefined : failureOf(error));
        throw error;
      }
    },
  };
}

function beginStep({ origin, trace }: ModelRequest, tracing: Tracing, turns: TurnTraces): Span {
  const open = origin && turns.openTurn(origin.turnId);
  const { model } = turns;
  const span = tracing.begin(`chat ${model['gen_ai.request.model']}`, {
    kind: 'client',
    parent: open?.turn ?? trace,
    attributes: {
      'gen_ai.operation.name': 'chat',
      ...model,
      ...open?.attributes,
      ...(origin && { 'agent.step': origin.step }),
    },
  });
  if (origin) turns.noteStep(origin.turnId, span.context);
  return span;
}

function failureOf(error: unknown): { type: string; message: string } {
  const { code, message, details } = asServiceError(error);
  return { type: code, message: String(details.reason ?? message) };
}
