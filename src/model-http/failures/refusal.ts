import type { ModelTool } from '../../core/conversation/model-message.ts';
import type { Refused } from '../../core/conversation/refused.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { type ErrorBodyFacts, readErrorBody } from './error-body.ts';
import { adviceOn, toolAdvice } from './failure-advice.ts';
import { type FailureKind, failureKindOf } from './failure-kind.ts';
import { ModelFailure } from './model-failure.ts';

/** The facts of a refusal besides its body. */
export interface RefusalContext {
  /** The tools that were offered, under the names of the request. */
  readonly tools: readonly ModelTool[];
  /** Left out for an error inside a stream. */
  readonly status?: number | undefined;
  /** From the `Retry-After` header. */
  readonly retryAfterMs?: number | undefined;
  /** From the `x-should-retry` header. */
  readonly shouldRetry?: boolean | undefined;
}

/** The longest wait that a provider may ask for. With a longer one the call fails, so that a person can decide. */
export const MAX_RETRY_AFTER_MS = 30_000;

/** The failure for a provider's error, which came instead of a reply or in the middle of one. */
export function refusal(access: ProviderEndpoint, body: unknown, context: RefusalContext): ModelFailure {
  const facts = readErrorBody(body);
  const status = context.status ?? facts.status;
  const kind = failureKindOf(facts, status);
  const toolName = kind === 'request' ? toolIn(facts, context.tools) : undefined;
  const field = facts.param ?? settingIn(facts.text);
  const param = field !== undefined && isHarmless(access, field) ? field : undefined;
  const code = facts.codes.find((name) => isHarmless(access, name));
  const retryAfterMs = context.retryAfterMs ?? facts.retryAfterMs;
  const advice =
    toolName === undefined ? adviceOn(kind, access, status, param) : toolAdvice(access, toolName);
  const reason = `${advice}${waitNote(retryAfterMs)}${shown(status, code, param)}.`;
  return new ModelFailure(access, reason, {
    status,
    code,
    param,
    toolName,
    refused: toolName === undefined ? refusedBy(kind, param) : undefined,
    isPassing: context.shouldRetry ?? isPassing(kind, status),
    retryAfterMs,
    answer: body,
  });
}

function isPassing(kind: FailureKind, status: number | undefined): boolean {
  switch (kind) {
    case 'rate':
    case 'overloaded':
    case 'timed-out':
    case 'unreadable-call':
      return true;
    case 'unknown':
      // An error inside a stream that explains nothing is usually temporary.
      return status === undefined;
    default:
      return status === 409;
  }
}

/** Fields that hold the conversation. An error about any other field concerns a setting. */
const CONVERSATION = /^(messages|input|contents?|prompt|system|instructions)/;

function refusedBy(kind: FailureKind, param: string | undefined): Refused | undefined {
  switch (kind) {
    case 'context':
    case 'image':
    case 'content':
      return kind;
    case 'beyond-rate':
      return 'context';
    case 'too-large':
      return 'request';
    case 'request':
      return param === undefined || CONVERSATION.test(param) ? 'request' : undefined;
    default:
      return undefined;
  }
}

/**
 * Some providers name the setting in their sentence only: before a colon, in quotes or in other words. Only names of
 * settings match, so no text of the conversation is repeated.
 */
const NAMED_SETTINGS: readonly RegExp[] = [
  /(?:^|\n)(max_tokens|temperature|top_p|thinking|stop_sequences|tool_choice)\b[\w.]*:/,
  /[`'"](reasoning_?effort|temperature|top_p|max_tokens|max_completion_tokens|stop|seed)[`'"]/,
  /[`'"](parallel_tool_calls|thinking[\w.]*|output_config[\w.]*|stop_sequences)[`'"]/,
  /[`'"](presence_?penalty|frequency_?penalty)[`'"]/,
  /\b(top_p|presence_?penalty)\b/,
];

function settingIn(text: string): string | undefined {
  if (/think(ing)? value|reasoning value|reasoning is mandatory/.test(text)) return 'reasoning_effort';
  return NAMED_SETTINGS.map((pattern) => pattern.exec(text)?.[1]).find((name) => name !== undefined);
}

/** Google counts within its one tool, which has all functions: `tools[0].function_declarations[5]`. */
const TOOL_PLACES = [/\bfunction_?declarations\[(\d+)/, /\btools?(?:\[|\.)(\d+)/];

/** The tool that the error is about. Providers name its place in the request, or its name. */
function toolIn({ param, text }: ErrorBodyFacts, tools: readonly ModelTool[]): string | undefined {
  const place = TOOL_PLACES.map((pattern) => pattern.exec(`${param ?? ''} ${text}`)?.[1]).find(Boolean);
  const byPlace = place === undefined ? undefined : tools[Number(place)]?.name;
  return byPlace ?? tools.find(({ name }) => quotes(text, name.toLowerCase()))?.name;
}

function quotes(text: string, name: string): boolean {
  return [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => text.includes(quoted));
}

function waitNote(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined || retryAfterMs <= MAX_RETRY_AFTER_MS) return '';
  return `; it asks to wait ${Math.ceil(retryAfterMs / 1_000)} seconds`;
}

function shown(status: number | undefined, code: string | undefined, param: string | undefined): string {
  const parts = [status, code === String(status) ? undefined : code, param && `field ${param}`];
  const told = parts.filter((part) => part !== undefined && part !== '');
  return told.length === 0 ? '' : ` (${told.join(', ')})`;
}

/** A short identifier cannot repeat the prompt. A sentence could, and could hold the key. */
function isHarmless({ apiKey }: ProviderEndpoint, name: string): boolean {
  return /^[a-z0-9_.[\]-]{1,64}$/i.test(name) && (apiKey === undefined || !name.includes(apiKey));
}
