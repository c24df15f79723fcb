import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { LocalBus } from '../../runtime/bus/local-bus.ts';
import { measuredModel } from '../metrics/measured-model.ts';
import { measuredStore } from '../metrics/measured-store.ts';
import { measuredTools } from '../metrics/measured-tools.ts';
import { tracedModel } from '../tracing/traced-model.ts';
import { tracedTools } from '../tracing/traced-tools.ts';
import { TurnTraces } from '../tracing/turn-traces.ts';
import type { Adapters } from './adapters.ts';

interface Observed extends Adapters {
  /** Wraps a model that replaces the one of the start. */
  watchModel(model: LanguageModel, llm: LlmConfig): LanguageModel;
  /** Where tracing is on: gets each session of the log before its turns go on. */
  readonly onLoaded?: (state: SessionState) => void;
}

/** Wraps the adapters: measures their calls, and traces them if tracing is on. */
export function observed(adapters: Adapters, llm: LlmConfig, bus: LocalBus): Observed {
  const { metrics } = adapters;
  const measured = (model: LanguageModel): LanguageModel => measuredModel(model, metrics);
  return traced(
    {
      ...adapters,
      store: measuredStore(adapters.store, metrics),
      model: measured(adapters.model),
      connector: measuredTools(adapters.connector, metrics),
      watchModel: measured,
    },
    llm,
    bus,
  );
}

function traced(adapters: Observed, llm: LlmConfig, bus: LocalBus): Observed {
  const { tracing, model, connector, watchModel } = adapters;
  if (!tracing) return adapters;
  const turns = new TurnTraces(tracing, llm);
  bus.onEverySession(turns.onSignal);
  return {
    ...adapters,
    model: tracedModel(model, tracing, turns),
    watchModel(next, nextLlm) {
      turns.use(nextLlm);
      return tracedModel(watchModel(next, nextLlm), tracing, turns);
    },
    connector: tracedTools(connector, tracing, turns),
    onLoaded: turns.noteLoaded,
    tracing: {
      begin: (...span) => tracing.begin(...span),
      async [Symbol.asyncDispose]() {
        turns.endAll();
        await tracing[Symbol.asyncDispose]();
      },
    },
  };
}
