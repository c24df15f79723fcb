import type { ModelTool } from '../../core/conversation/model-message.ts';
import type { Refused } from '../../core/conversation/refused.ts';
import { secretKeyOf } from '../provider/endpoint.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { type ErrorBodyFacts, readErrorBody } from './error-body.ts';
import { adviceOn, tokenFieldAdvice, toolAdvice } from './failure-advice.ts';
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
  const field = facts.param ?? fieldIn(facts.text);
  const param = field !== undefined && isHarmless(access, field) ? field : undefined;
  const code = facts.codes.find((name) => isHarmless(access, name));
  const retryAfterMs = context.retryAfterMs ?? facts.retryAfterMs;
  const isRenamed = kind === 'request' && isTokenFieldRenamed(access, facts);
  const otherwise = isRenamed ? tokenFieldAdvice(access) : adviceOn(kind, access, status, param);
  const advice = toolName === undefined ? otherwise : toolAdvice(access, toolName);
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

/** GPT-5 and the reasoning models of OpenAI, also at Azure, know the newer name only. */
function isTokenFieldRenamed({ rules }: ProviderEndpoint, { text }: ErrorBodyFacts): boolean {
  return rules.tokenLimitField === 'max_tokens' && /use .?max_completion_tokens\b/.test(text);
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

/** The field that only the sentence of an error names. */
function fieldIn(text: string): string | undefined {
  return MESSAGE_PLACE.test(text) ? 'messages' : settingIn(text);
}

/** Anthropic begins with the place, such as `messages.1.content.0`. What it quotes after that is no setting. */
const MESSAGE_PLACE = /(?:^|\n|")messages[.[]\d/;

/**
 * Some providers name the setting in their sentence only: before a colon, in quotes or in other words. Only names of
 * settings match, so no text of the conversation is repeated.
 */
const NAMED_SETTINGS: readonly RegExp[] = [
  /(?:^|\n)(max_tokens|temperature|top_p|thinking|stop_sequences|tool_choice)\b[\w.]*:/,
  /[`'"](reasoning_?effort|temperature|top_p|max_tokens|max_completion_tokens|stop|seed)[`'"]/,
  /[`'"](parallel_tool_calls|thinking[\w.]*|output_config[\w.]*|stop_sequences)[`'"]/,
  /[`'"](presence_?penalty|frequency_?penalty)[`'"]/,
  // xAI
  /(?:not supported on this model:|does not support parameter) (stop|temperature|top_p|seed)\b/,
  // Kimi
  /\binvalid (temperature|top_p|max_tokens|stop|seed)\b/,
  // Google
  /\bgeneration_config\.(temperature|top_p|stop_sequences|seed)\b/,
  /\b(top_p|presence_?penalty)\b/,
];

/** Settings in other words than their names. */
const DESCRIBED_SETTINGS: readonly [RegExp, string][] = [
  [
    /think(ing)? value|reasoning value|reasoning is mandatory|does not support thinking|\breasoningeffort\b/,
    'reasoning_effort',
  ],
  [/\bmaxoutputtokens\b/, 'max_tokens'],
  [/\bstopsequences\b|\d stop sequences\b/, 'stop'],
];

function settingIn(text: string): string | undefined {
  const described = DESCRIBED_SETTINGS.find(([words]) => words.test(text))?.[1];
  return described ?? NAMED_SETTINGS.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
}

/** Google counts within its one tool, which has all functions: `tools[0].function_declarations[5]`. */
const TOOL_PLACES = [/\bfunction_?declarations\[(\d+)/, /\btools?(?:\[|\.)(\d+)/];

/**
 * The tool that the error is about. Providers name its place in the request, or its name. If the error names another
 * field, a word in quotes is no name of a tool.
 */
function toolIn({ param: named, text }: ErrorBodyFacts, tools: readonly ModelTool[]): string | undefined {
  const param = named ?? (MESSAGE_PLACE.test(text) ? 'messages' : 'tools');
  const place = TOOL_PLACES.map((pattern) => pattern.exec(`${param} ${text}`)?.[1]).find(Boolean);
  const byPlace = place === undefined ? undefined : tools[Number(place)]?.name;
  if (byPlace !== undefined || !/^(tools|functions)/.test(param)) return byPlace;
  return tools.find(({ name }) => quotes(text, name.toLowerCase()))?.name;
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
function isHarmless(access: ProviderEndpoint, name: string): boolean {
  const key = secretKeyOf(access);
  return /^[a-z0-9_.[\]-]{1,64}$/i.test(name) && (key === undefined || !name.includes(key));
}
