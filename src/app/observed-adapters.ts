import type { Adapters } from './adapters.ts';
import { measuredModel } from './metrics/measured-model.ts';
import { measuredStore } from './metrics/measured-store.ts';
import { measuredTools } from './metrics/measured-tools.ts';

/** The same adapters; what passes through them is measured. */
export function observed({ store, model, connector, metrics, ...rest }: Adapters): Adapters {
  return {
    ...rest,
    metrics,
    store: measuredStore(store, metrics),
    model: measuredModel(model, metrics),
    connector: measuredTools(connector, metrics),
  };
}
