import type { ErrorBodyFacts } from './error-body.ts';

/** The kind of a failure, independent of the provider's words and status. */
export type FailureKind =
  | 'key'
  | 'access'
  | 'quota'
  | 'rate'
  | 'beyond-rate'
  | 'model'
  | 'tools-off'
  | 'token-limit'
  | 'context'
  | 'image'
  | 'content'
  | 'too-large'
  | 'timed-out'
  | 'overloaded'
  | 'unreadable-call'
  | 'request'
  | 'unknown';

interface Sign {
  readonly kind: FailureKind;
  readonly codes: RegExp;
  /** Compared with the provider's sentences, in lower case. */
  readonly text: RegExp;
}

/**
 * Words by which providers say what their status does not. The first match decides. Most of them are in the recorded
 * answers of test/providers/shapes, with their sources.
 */
const signs: readonly Sign[] = [
  // Groq cannot read what the model wrote. Repeating helps: https://github.com/pydantic/pydantic-ai/pull/4354
  { kind: 'unreadable-call', codes: /^tool_use_failed$/, text: /^never$/ },
  {
    kind: 'quota',
    codes: any(
      /^insufficient_(quota|balance\w*)$/,
      /^billing_\w+$/,
      /^exceeded_current_quota_error$/,
      /^budget_exceeded$/,
      /^enforced_spend_limit_reached$/,
      /^1113$/,
    ),
    text: any(
      /insufficient (balance|credit|quota|funds)/,
      /credit balance is too low/,
      /exceeded your current quota/,
      /used all available credits/,
      /spending limit/,
      /requires more credits/,
      /budget has been exceeded/,
      /specified api usage limits/,
    ),
  },
  {
    kind: 'key',
    codes: any(
      /^(invalid_api_key|api_key_invalid|authentication_error|unauthenticated|invalid_auth)$/,
      /^invalid_authentication_error$/,
    ),
    text: any(
      /(incorrect|invalid|wrong|missing|expired) api.?key/,
      /api.?key (not valid|is invalid|provided is invalid|not found|expired)/,
      /invalid x-api-key/,
      /no auth credentials|multiple authentication/,
    ),
  },
  {
    kind: 'access',
    codes: /^unsupported_country_region_territory$/,
    text: /user location is not supported/,
  },
  {
    // vLLM and llama.cpp accept tools only if they were started for it.
    kind: 'tools-off',
    codes: /^tools?_not_supported$/,
    text: any(
      /--jinja|enable-auto-tool-choice/,
      /does not support (tools|function)/,
      /tools? (use |calling )?(is|are) not supported/,
      /endpoints found that support tool/,
    ),
  },
  // Before the signs of images and content filters, because the sentence has the name of the tool.
  { kind: 'request', codes: /^invalid_function_parameters$/, text: /invalid schema for function/ },
  { kind: 'token-limit', codes: /^token_limit_reached$/, text: /token limit reached/ },
  {
    kind: 'context',
    codes: any(
      /^(context_length_exceeded|exceed_context_size_error|context_\w+|prompt_too_long|tokens_limit_reached)$/,
      // Z.AI
      /^1261$/,
    ),
    text: any(
      /context (length|window|size|limit)|max_model_len/,
      /maximum (prompt|input|sequence|allowed number of input) (length|tokens?)/,
      /prompt (is )?too long|input is too long|prompt exceeds max length/,
      /(input|prompt|request) (token count|length|tokens?).{0,80}exceed/,
      /exceeds? (the )?(maximum|max|limit|available|model).{0,40}(tokens|context)/,
      /exceeded model token limit|(?<!(daily|monthly|hourly|per (day|month|hour|minute)) )token limit exceeded|more than max tokens allowed/,
      /too many (input )?tokens|reduce the length|range of input length/,
      /longer than the (maximum|model)|larger than the context/,
      // LM Studio, TGI, vLLM, ExLlama
      /context the overflows|tokens to keep|n_keep/,
      /inputs`? tokens \+|`inputs` must have less/,
      /max_tokens must be at least 1, got -/,
      /requires \d+ pages/,
    ),
  },
  // Before the signs of images, because the name of a model may have such a word.
  {
    kind: 'model',
    codes: /^model_(not_found|decommissioned)$/,
    text: /model.{0,80}(does ?n.t exist|does not exist|decommissioned)/,
  },
  {
    kind: 'image',
    codes: /image|vision/,
    text: any(
      /image.{0,60}(not support|unsupported|invalid|could not|cannot|failed|exceeds|too (large|small|many))/,
      /image.{0,60}(not valid|does not represent)/,
      /(not support|unsupported|invalid|could not|cannot|failed to|endpoints found that support).{0,40}image/,
      /multimodal|(?<![\w-])vision(?![\w-])|mmproj|unknown variant .image_url/,
    ),
  },
  {
    kind: 'content',
    codes:
      /(content|bio|misalignment)_?(policy|filter)|moderation|safety|prohibited|data_inspection_failed|sensitive|^1301$/,
    text: any(
      /content (management |filtering )?policy|usage policies/,
      /flagged|moderation|safety (system|filter|settings)/,
      /inappropriate content|sensitive (content|words)|content (exists )?risk|prohibited/,
    ),
  },
  {
    kind: 'model',
    codes: /^(not_found_error|model_not_available|model_terms_required|invalid_model)$/,
    text: any(
      /model.{0,80}(not found|not exist|is not available|not supported)/,
      /model.{0,80}(no access|unknown|not loaded)/,
      /(unknown|invalid|no such|unrecognized) model|is not a valid model/,
      // one-api: no channel for the model
      /无可用渠道/,
    ),
  },
  // The chat template refuses the conversation, which llama.cpp and vLLM report as an error of the server.
  { kind: 'request', codes: /^never$/, text: /roles must alternate|after the optional system message/ },
  {
    kind: 'overloaded',
    codes: any(
      /overloaded/,
      /^(server_error|internal_error|internal_server_error|api_error|service_unavailable)$/,
    ),
    text: any(
      /overloaded|over capacity|loading model/,
      /network (failure|connection lost)|internal error|compute error/,
    ),
  },
  // Gateways tell so in a stream as an error of the request: https://github.com/BerriAI/litellm/issues/41777
  {
    kind: 'timed-out',
    codes: /^request_timeout$/,
    text: /stream (disconnected|closed) before (completion|response\.completed)/,
  },
  {
    kind: 'rate',
    codes: /rate_?limit|too_many_requests|resource_exhausted/,
    text: /rate limit|too many requests/,
  },
];

export function failureKindOf(facts: ErrorBodyFacts, status: number | undefined): FailureKind {
  const { codes, text } = facts;
  const found = signs.find(
    (sign) =>
      isPossible(sign.kind, status) &&
      (codes.some((code) => sign.codes.test(code.toLowerCase())) || sign.text.test(text)),
  );
  const kind = found?.kind ?? kindOfStatus(status, text);
  if (kind === 'quota' && status === 429 && isOverSoon(facts)) return 'rate';
  return kind === 'rate' && isBeyond(facts) ? 'beyond-rate' : kind;
}

/**
 * A request with more tokens than the limit allows a minute would be refused for ever. OpenAI and Groq say so with the
 * code of a rate limit: https://github.com/Aider-AI/aider/issues/1880
 */
function isBeyond({ text }: ErrorBodyFacts): boolean {
  return /request too large.*tokens per min|input or output tokens must be reduced/.test(text);
}

/**
 * Google has one sentence for all its limits: "You exceeded your current quota". It asks to wait for any of them, but
 * the limit of a day is not over after the wait.
 */
function isOverSoon({ retryAfterMs, quotaIds }: ErrorBodyFacts): boolean {
  return retryAfterMs !== undefined && !quotaIds.some((id) => /PerDay/i.test(id));
}

/** Whether the status allows the kind. Words alone may mislead: a failing server may use any words. */
function isPossible(kind: FailureKind, status: number | undefined): boolean {
  if (status === undefined) return true;
  if (status >= 500)
    return ['overloaded', 'context', 'image', 'tools-off', 'model', 'request'].includes(kind);
  if (kind === 'overloaded') return status === 408 || status === 429;
  switch (status) {
    case 401:
    case 402:
      return kind === 'quota' || kind === 'key';
    case 404:
      return ['model', 'image', 'tools-off'].includes(kind);
    case 429:
      return kind === 'quota' || kind === 'rate';
    default:
      return true;
  }
}

function kindOfStatus(status: number | undefined, text: string): FailureKind {
  switch (status) {
    case 401:
      return 'key';
    case 402:
      return 'quota';
    case 403:
      return 'access';
    case 404:
      return 'model';
    case 408:
      return 'timed-out';
    case 413:
      return 'too-large';
    case 429:
      return 'rate';
    case 400:
      // Of bytes that are too many, servers say this with 413.
      return text.includes('payload too large') ? 'context' : 'request';
    case 409:
    case 422:
      return 'request';
  }
  return status !== undefined && status >= 500 ? 'overloaded' : 'unknown';
}

function any(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'));
}
