import type { LanguageModel } from '../../ports/language-model.ts';
import type { Metrics } from '../../ports/metrics.ts';

/** Wraps a model: records the time to the first text and the duration of each call. */
export function measuredModel(model: LanguageModel, metrics: Metrics): LanguageModel {
  return {
    label: model.label,
    source: model.source,
    maxTools: model.maxTools,
    generate(request, listener, signal) {
      const begun = performance.now();
      const seconds = (): number => (performance.now() - begun) / 1_000;
      let silent = true;
      const onText = (text: string): void => {
        if (silent) metrics.observe('agent_model_first_text_seconds', {}, seconds());
        silent = false;
        listener.onText(text);
      };
      const onReasoning = (text: string): void => listener.onReasoning(text);
      const observe = (outcome: string): void =>
        metrics.observe(
          'agent_model_call_duration_seconds',
          { outcome: signal.aborted ? 'cancelled' : outcome },
          seconds(),
        );
      const reply = model.generate(request, { onText, onReasoning }, signal);
      reply.then(
        () => observe('completed'),
        () => observe('failed'),
      );
      return reply;
    },
  };
}
