import type { ModelTool } from '../../../core/conversation/model-message.ts';
import type { TraceContext } from '../../../core/trace.ts';
import type { ModelFailure } from '../../../model-http/failures/model-failure.ts';
import type { ProviderCall } from '../../../model-http/http/model-client.ts';
import type { ReplyReader } from '../../../model-http/reply/reply-reader.ts';

/**
 * An optional part of a request. If the provider refuses it, the request is made again without it:
 *
 * - `include`: asks for encrypted reasoning. Models that do not reason refuse this, and no list of them is complete:
 *   https://github.com/pydantic/pydantic-ai/issues/2865, https://github.com/pydantic/pydantic-ai/issues/3326
 * - `summary`: asks for a summary of the reasoning. OpenAI refuses it to organizations that it has not verified:
 *   https://github.com/OpenHands/software-agent-sdk/issues/987
 * - `reasoning`: the reasoning of earlier replies. Only the organization that it was encrypted for may send it back:
 *   https://github.com/openai/codex/issues/17541
 */
export type Extra = 'include' | 'summary' | 'reasoning';

export interface CallDeps {
  readonly tools: readonly ModelTool[];
  readonly trace: TraceContext | undefined;
  body(without: ReadonlySet<Extra>): string;
  reader(): ReplyReader;
}

/** A call that can be made again without an extra. */
export class ResponsesCall implements ProviderCall {
  readonly tools: readonly ModelTool[];
  readonly trace: TraceContext | undefined;
  readonly body: string;
  readonly #deps: CallDeps;
  readonly #refused: Set<Extra>;
  readonly #without: ReadonlySet<Extra>;
  /** Of the last attempt. */
  #reader: ReplyReader | undefined;

  /** @param refused the extras that the model has refused. All its calls share this set and add to it. */
  constructor(refused: Set<Extra>, deps: CallDeps, without: ReadonlySet<Extra> = refused) {
    this.tools = deps.tools;
    this.trace = deps.trace;
    this.#deps = deps;
    this.#refused = refused;
    this.#without = new Set(without);
    this.body = deps.body(this.#without);
  }

  reader(): ReplyReader {
    this.#reader = this.#deps.reader();
    return this.#reader;
  }

  /** The call without the refused extra; undefined if the call was refused for another reason, or a piece was passed on. */
  afterRefusal(failure: ModelFailure): ResponsesCall | undefined {
    const extra = refusedExtra(failure);
    if (extra === undefined || this.#without.has(extra) || this.#reader?.progress.hasSpoken) return undefined;
    // The reasoning of another conversation may be accepted.
    if (extra !== 'reasoning') this.#refused.add(extra);
    return new ResponsesCall(this.#refused, this.#deps, new Set([...this.#without, extra]));
  }
}

const BAD_REQUEST = 400;

function refusedExtra({ details: { status, code, param } }: ModelFailure): Extra | undefined {
  if (status !== BAD_REQUEST) return undefined;
  if (code === 'invalid_encrypted_content') return 'reasoning';
  if (param === 'include') return 'include';
  return param === 'reasoning.summary' ? 'summary' : undefined;
}
