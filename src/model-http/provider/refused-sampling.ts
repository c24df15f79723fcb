import { isDeepStrictEqual } from 'node:util';
import type { ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { ModelFailure } from '../failures/model-failure.ts';

type Sampling = 'temperature' | 'topP' | 'stop';

/** The settings that some models refuse, by their fields. GPT-5 takes none of them. */
const FIELDS = new Map<unknown, Sampling>([
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['stop', 'stop'],
  ['stop_sequences', 'stop'],
]);

/** With these codes the setting is refused, whatever its value. */
const UNSUPPORTED = /^unsupported_(value|parameter)$/;
/** With these codes the client has sent a value that no model takes, and has to know. */
const OUT_OF_RANGE = /_(above|below)_m/;

/**
 * Makes requests of one model, without the sampling and the stop texts of a client that the model refuses: many clients
 * send a temperature with all their requests. A setting of the agent file is not left out, because it can be corrected there.
 * https://github.com/OpenHands/software-agent-sdk/issues/1837
 */
export class RefusedSampling {
  readonly #unsupported = new Set<Sampling>();
  /** The last value that was refused for whatever reason. */
  readonly #refused = new Map<Sampling, unknown>();

  /** @param heard whether pieces of the reply were passed on. They cannot be taken back, so the call is not made again. */
  async generate(
    request: ModelRequest,
    heard: { readonly hasAny: boolean },
    call: (request: ModelRequest) => Promise<ModelReply>,
  ): Promise<ModelReply> {
    const asked = this.#without(request);
    try {
      return await call(asked);
    } catch (error) {
      const refused = refusedSetting(error);
      const value = refused && asked.settings?.[refused.setting];
      if (refused === undefined || value === undefined || heard.hasAny) throw error;
      if (refused.isUnsupported) this.#unsupported.add(refused.setting);
      else this.#refused.set(refused.setting, value);
      return this.generate(request, heard, call);
    }
  }

  #without(request: ModelRequest): ModelRequest {
    if (!request.settings || this.#unsupported.size + this.#refused.size === 0) return request;
    const kept = Object.entries(request.settings).filter((setting) => this.#isAccepted(...setting));
    return { ...request, settings: Object.fromEntries(kept) };
  }

  #isAccepted(name: string, value: unknown): boolean {
    const setting = name as Sampling;
    return !this.#unsupported.has(setting) && !isDeepStrictEqual(this.#refused.get(setting), value);
  }
}

function refusedSetting(error: unknown): { setting: Sampling; isUnsupported: boolean } | undefined {
  if (!(error instanceof ModelFailure)) return undefined;
  const { status, code, param } = error.details;
  const setting = FIELDS.get(param);
  if (setting === undefined || status !== 400 || OUT_OF_RANGE.test(String(code))) return undefined;
  return { setting, isUnsupported: UNSUPPORTED.test(String(code)) };
}
