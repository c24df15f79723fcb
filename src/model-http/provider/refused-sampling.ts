import type { ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { ModelFailure } from '../failures/model-failure.ts';

/** The settings that some models refuse, by their fields. GPT-5 takes neither. */
const FIELDS = new Map([
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
] as const);
type Sampling = 'temperature' | 'topP';

/** With these codes the value is refused, not the setting. */
const OUT_OF_RANGE = /_(above|below)_m/;

/**
 * Makes requests of one model, without the sampling of a client that the model refuses: many clients send a temperature
 * with all their requests. A setting of the agent file is not left out, because it can be corrected there.
 * https://github.com/OpenHands/software-agent-sdk/issues/1837
 */
export class RefusedSampling {
  readonly #refused = new Set<Sampling>();

  async generate(
    request: ModelRequest,
    call: (request: ModelRequest) => Promise<ModelReply>,
  ): Promise<ModelReply> {
    const asked = this.#without(request);
    try {
      return await call(asked);
    } catch (error) {
      const setting = refusedSetting(error);
      // A refusal comes instead of a reply, so nothing was passed on.
      if (setting === undefined || asked.settings?.[setting] === undefined) throw error;
      this.#refused.add(setting);
      return this.generate(request, call);
    }
  }

  #without(request: ModelRequest): ModelRequest {
    if (!request.settings || this.#refused.size === 0) return request;
    const kept = Object.entries(request.settings).filter(([name]) => !this.#refused.has(name as Sampling));
    return { ...request, settings: Object.fromEntries(kept) };
  }
}

function refusedSetting(error: unknown): Sampling | undefined {
  if (!(error instanceof ModelFailure)) return undefined;
  const { status, code, param } = error.details;
  if (status !== 400 || (typeof code === 'string' && OUT_OF_RANGE.test(code))) return undefined;
  return FIELDS.get(param as 'temperature' | 'top_p');
}
