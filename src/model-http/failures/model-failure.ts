import type { Refused } from '../../core/conversation/refused.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';

export interface FailureFacts {
  readonly status?: number | undefined;
  /** The provider's `code` or `type`, already checked to be harmless. */
  readonly code?: string | undefined;
  /** The field of the request that the provider names, already checked to be harmless. */
  readonly param?: string | undefined;
  /** Name of the tool that the provider refused. */
  readonly toolName?: string | undefined;
  /** The part of the conversation that the provider refused. */
  readonly refused?: Refused | undefined;
  /** Whether the same request may succeed a moment later. */
  readonly isPassing?: boolean | undefined;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** The provider's own error, which may quote key and conversation. */
  readonly answer?: unknown;
  readonly cause?: Error | undefined;
}

/** The error of a failed model call. Of the provider's answer it contains only status, code and field. */
export class ModelFailure extends ServiceError {
  readonly isPassing: boolean;
  readonly retryAfterMs: number | undefined;
  /** Private, so that nothing that prints or stores the error repeats it. */
  readonly #answer: unknown;

  constructor(access: ProviderEndpoint, reason: string, facts: FailureFacts = {}) {
    const { status, code, param, toolName, refused, isPassing = false, retryAfterMs, cause } = facts;
    const details = {
      reason,
      provider: access.provider,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
      ...(param !== undefined && { param }),
      ...(toolName !== undefined && { toolName }),
      ...(refused !== undefined && { refused }),
      ...(retryAfterMs !== undefined && { retryAfter: Math.ceil(retryAfterMs / 1_000) }),
    };
    super('AGENT_ERROR', 'The language model could not answer.', details, cause);
    this.isPassing = isPassing;
    this.retryAfterMs = retryAfterMs;
    this.#answer = facts.answer;
  }

  /** The provider's own error; undefined if there is none. Only the debug log may have it, without its secrets. */
  get answer(): unknown {
    return this.#answer;
  }
}

/** The provider's answer is not what it has to be, and may be a moment later. @param what such as `sent a broken event`. */
export function passingFailure(access: ProviderEndpoint, what: string): ModelFailure {
  return new ModelFailure(access, `${access.label} ${what}. Try again.`, { isPassing: true });
}

/** The address without path and query, which may hold a token. */
export function originOf({ baseURL }: ProviderEndpoint): string {
  return new URL(baseURL).origin;
}
