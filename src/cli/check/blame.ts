import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ServiceError } from '../../core/errors.ts';
import { ModelFailure } from '../../model-http/failures/model-failure.ts';

/**
 * What a failed request is due to. `provider`: address, key, or a provider in trouble. `request`: the provider has
 * understood and refused what this request holds.
 */
export type Blame = 'provider' | 'model' | 'setting' | 'request';

/** Settings of the agent file that are sent with each request. */
const settings = [
  'temperature',
  'topP',
  'maxTokens',
  'reasoningEffort',
  'stop',
  'seed',
  'parallelToolCalls',
  'extraBody',
] as const satisfies readonly (keyof LlmConfig)[];

export function settingsOf(llm: LlmConfig): string[] {
  return settings.filter((name) => llm[name] !== undefined);
}

/** A setting that is to be changed. A reason may also mention one that is only part of the matter. */
const SETTING = new RegExp(`\\b(?:remove|change|raise|set|no|either|an) llm\\.(?:${settings.join('|')})\\b`);
/** Fields of a request that no setting is sent in. */
const OTHER_FIELD =
  /^(?:messages|input|contents?|prompt|system|instructions|tools?|tool_choice|functions|model)\b/;
/** Key, quota, rate and the like: such an answer says nothing about the request. */
const OF_PROVIDER: readonly unknown[] = [401, 402, 403, 408, 409, 429];

/** Found by the facts of the failure, and where there are none by the keys of the agent file that its reason names. */
export function blameOf(failure: ServiceError): Blame {
  const { status, param, refused, toolName } = failure.details;
  const reason = String(failure.details.reason);
  if (refused !== undefined || toolName !== undefined) return 'request';
  if (OF_PROVIDER.includes(status)) return 'provider';
  if (reason.includes('check llm.model')) return 'model';
  if (SETTING.test(reason) || (typeof param === 'string' && !OTHER_FIELD.test(param))) return 'setting';
  const isPassing = failure instanceof ModelFailure && failure.isPassing;
  const isOfAccess = /llm\.(?:apiKey|baseURL)\b/.test(reason);
  return status === undefined || isPassing || isOfAccess ? 'provider' : 'request';
}

/** Whether the provider said by itself that the model is not there. A wrong address may look the same. */
export function namesModel({ details: { code, param } }: ServiceError): boolean {
  return param === 'model' || /model/i.test(String(code));
}

/** Whether a refusal says that the model cannot do what was asked for. */
export function isInability(failure: ServiceError): boolean {
  const { refused } = failure.details;
  if (refused === 'content' || refused === 'context') return false;
  const blame = blameOf(failure);
  return blame === 'request' || blame === 'model';
}
