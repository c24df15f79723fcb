import type { LanguageModel } from '../../ports/language-model.ts';
import type { Metrics } from '../../ports/metrics.ts';

/** Wraps a model: records the time to the first text and the duration of each call. */
export function measuredModel(model: LanguageModel, metrics: Metrics): LanguageModel {
  return {
    label: model.label,
    source: model.source,
    maxTools: model.maxTools,
    async generate(request, listener, signal) {
      const begun = performance.now();
      const seconds = (): number => (performance.now() - begun) / 1_000;
      let silent = true;
      const onText = (text: string): void => {
        if (silent) metrics.observe('agent_model_first_text_seconds', {}, seconds());
        silent = false;
        listener.onText(text);
      };
      const onReasoning = (text: string): void => listener.onReasoning(text);
      let outcome = 'failed';
      try {
        const reply = await model.generate(request, { onText, onReasoning }, signal);
        outcome = 'completed';
        return reply;
      } finally {
        metrics.observe(
          'agent_model_call_duration_seconds',
          { outcome: signal.aborted ? 'cancelled' : outcome },
          seconds(),
        );
      }
    },
  };
}
