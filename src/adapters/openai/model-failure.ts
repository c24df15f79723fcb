import { z } from 'zod';
import { ServiceError } from '../../contract/errors.ts';
import type { ProviderAccess } from './provider-access.ts';

interface FailureFacts {
  readonly status?: number;
  /** The provider's `code` or `type`, already found harmless. */
  readonly code?: string;
  readonly cause?: Error;
}

/** Every failure of the adapter goes through here, and nothing that a provider wrote but status and code. */
export function modelFailure(access: ProviderAccess, reason: string, facts: FailureFacts = {}): ServiceError {
  const { status, code, cause } = facts;
  return new ServiceError(
    'AGENT_ERROR',
    'The language model could not answer.',
    {
      reason,
      provider: access.provider,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
    },
    cause,
  );
}

/** The provider answered with an error status, or with an error inside the stream (then maybe no status). */
export function refusal(access: ProviderAccess, status: number | undefined, error: unknown): ServiceError {
  const code = errorCode(access, error);
  const shown = [status, code].filter((part) => part !== undefined).join(', ');
  const reason = refusalReason(access, status, code);
  return modelFailure(access, `${reason}${shown === '' ? '' : ` (${shown})`}.`, {
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
  });
}

/** An error sent inside the stream. Some providers put an HTTP status where others have a code. */
export function inBandFailure(access: ProviderAccess, error: unknown): ServiceError {
  const { code } = ErrorFields.parse(error);
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : undefined;
  if (status !== undefined) return refusal(access, status, error);
  const name = errorCode(access, error);
  const reason = `${access.label} reported an error while it was answering${name === undefined ? '' : ` (${name})`}. Try again.`;
  return modelFailure(access, reason, name === undefined ? {} : { code: name });
}

/** Codes that say more than the status they come with. */
const QUOTA_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'insufficient_balance']);

function refusalReason(access: ProviderAccess, status: number | undefined, code: string | undefined): string {
  const { label, model } = access;
  if (code === 'context_length_exceeded') return `The conversation is too long for model ${model}; reset it`;
  if (status === 402 || (code !== undefined && QUOTA_CODES.has(code))) {
    return `The quota or credit at ${label} is used up; check plan and billing`;
  }
  switch (status) {
    case 401:
      return `${label} refused the API key; ${keyAdvice(access)}`;
    case 403:
      return `${label} refused access: the API key is not valid, or not allowed to use model ${model}; ${keyAdvice(access)}`;
    case 404:
      return `${label} knows no model ${model} at ${originOf(access)}; check llm.model and llm.baseURL`;
    case 408:
      return `${label} took too long to receive the request; try again`;
    case 413:
      return `The conversation, or an image in it, is too large for ${label}; reset it`;
    case 429:
      return `The rate limit or quota of ${label} is exhausted; wait, or check the plan`;
    case 400:
    case 422:
      return `${label} refused the request; check that model ${model} can use tools and images, and llm.temperature`;
  }
  if (status !== undefined && status >= 500) return `${label} is in trouble or overloaded; try again later`;
  return `${label} refused the request; check llm.baseURL and llm.model`;
}

function keyAdvice({ apiKey, keyVariable }: ProviderAccess): string {
  const variable = keyVariable === undefined ? '' : ` or the environment variable ${keyVariable}`;
  return `${apiKey === undefined ? 'it wants one: set' : 'check'} llm.apiKey${variable}`;
}

/** Without path and query, which may hold a token. */
export function originOf({ baseURL }: ProviderAccess): string {
  return new URL(baseURL).origin;
}

const ErrorFields = z.object({ code: z.unknown(), type: z.unknown() }).partial().catch({});

/** A short identifier is no echo of the prompt; the provider's sentence may be one, or hold the key. */
function errorCode(access: ProviderAccess, error: unknown): string | undefined {
  const { code, type } = ErrorFields.parse(error);
  return [code, type].find((name): name is string => typeof name === 'string' && isHarmless(access, name));
}

function isHarmless({ apiKey }: ProviderAccess, name: string): boolean {
  return /^[a-z0-9_.-]{1,64}$/i.test(name) && (apiKey === undefined || !name.includes(apiKey));
}
