import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { LocalBus } from '../../runtime/bus/local-bus.ts';
import { measuredModel } from '../metrics/measured-model.ts';
import { measuredStore } from '../metrics/measured-store.ts';
import { measuredTools } from '../metrics/measured-tools.ts';
import { tracedModel } from '../tracing/traced-model.ts';
import { tracedTools } from '../tracing/traced-tools.ts';
import { TurnTraces } from '../tracing/turn-traces.ts';
import type { Adapters } from './adapters.ts';

/** Wraps the adapters: measures their calls, and traces them if tracing is on. */
export function observed(adapters: Adapters, llm: LlmConfig, bus: LocalBus): Adapters {
  const { metrics } = adapters;
  return traced(
    {
      ...adapters,
      store: measuredStore(adapters.store, metrics),
      model: measuredModel(adapters.model, metrics),
      connector: measuredTools(adapters.connector, metrics),
    },
    llm,
    bus,
  );
}

function traced(adapters: Adapters, llm: LlmConfig, bus: LocalBus): Adapters {
  const { tracing, model, connector } = adapters;
  if (!tracing) return adapters;
  const turns = new TurnTraces(tracing, llm);
  bus.onEverySession(turns.onSignal);
  return {
    ...adapters,
    model: tracedModel(model, tracing, turns),
    connector: tracedTools(connector, tracing, turns),
    tracing: {
      begin: (...span) => tracing.begin(...span),
      async [Symbol.asyncDispose]() {
        turns.endAll();
        await tracing[Symbol.asyncDispose]();
      },
    },
  };
}
