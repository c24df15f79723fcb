import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ServiceError } from '../../core/errors.ts';
import { ModelFailure } from '../../model-http/failures/model-failure.ts';

/**
 * The cause of a failed request. `provider`: the address, the key or an outage. `request`: the provider refused the
 * content of this request.
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

/** Matches a setting that the reason says to change. A reason may mention other settings as well. */
const SETTING = new RegExp(`\\b(?:remove|change|raise|set|no|either|an) llm\\.(?:${settings.join('|')})\\b`);
/** Fields of a request that no setting controls. */
const OTHER_FIELD =
  /^(?:messages|input|contents?|prompt|system|instructions|tools?|tool_choice|functions|model)\b/;
/** Statuses about the key, the quota or the rate, which say nothing about the request. */
const OF_PROVIDER: readonly unknown[] = [401, 402, 403, 408, 409, 429];

/** Uses the facts of the failure. Without facts, uses the keys of the agent file that its reason names. */
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

/** Whether the provider's own answer is about the model. Otherwise a wrong address may look like a missing model. */
export function namesModel({ details: { code, param } }: ServiceError): boolean {
  return param === 'model' || /model/i.test(String(code));
}

/** Whether a refusal means that the model lacks the ability. */
export function isInability(failure: ServiceError): boolean {
  const { refused } = failure.details;
  if (refused === 'content' || refused === 'context') return false;
  const blame = blameOf(failure);
  return blame === 'request' || blame === 'model';
}
