import type { SessionEventOf } from '../../core/log/events.ts';
import type { RunTokens } from './ag-ui-events.ts';

type Step = Pick<SessionEventOf<'step.completed'>, 'usage' | 'source'>;

/** The tokens of the model calls of a run, by provider and model. */
export class RunUsage {
  readonly #entries = new Map<string, RunTokens>();

  add({ usage, source }: Step): void {
    if (!usage) return;
    const key = JSON.stringify([source?.provider, source?.model]);
    const known = this.#entries.get(key);
    const cachedInputTokens = sum(known?.cachedInputTokens, usage.cachedTokens);
    const reasoningTokens = sum(known?.reasoningTokens, usage.reasoningTokens);
    this.#entries.set(key, {
      ...(source && { provider: source.provider, model: source.model }),
      inputTokens: (known?.inputTokens ?? 0) + usage.inputTokens,
      outputTokens: (known?.outputTokens ?? 0) + usage.outputTokens,
      totalTokens: (known?.totalTokens ?? 0) + usage.inputTokens + usage.outputTokens,
      ...(cachedInputTokens !== undefined && { cachedInputTokens }),
      ...(reasoningTokens !== undefined && { reasoningTokens }),
    });
  }

  /** Empty if no provider has told anything. */
  get entries(): readonly RunTokens[] {
    return [...this.#entries.values()];
  }
}

/** Undefined, which is not 0, if nobody has told. */
function sum(known: number | undefined, more: number | undefined): number | undefined {
  return known === undefined ? more : known + (more ?? 0);
}
