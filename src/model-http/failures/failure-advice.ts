import { shownEndpoint } from '../provider/endpoint.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import type { FailureKind } from './failure-kind.ts';

/** What an operator or user can do, without a full stop at the end. */
export function adviceOn(
  kind: FailureKind,
  access: ProviderEndpoint,
  status: number | undefined,
  param: string | undefined,
): string {
  const { label, model } = access;
  switch (kind) {
    case 'key':
      return `${label} refused the API key; ${keyAdvice(access)}`;
    case 'access':
      return `${label} refused access: the API key is not valid, not allowed to use model ${model}, or not served in this country or region; ${keyAdvice(access)}`;
    case 'quota':
      return `The quota, credit or budget at ${label} is used up, or too small for llm.maxTokens; check plan and billing`;
    case 'rate':
      return `The rate limit or quota of ${label} is exhausted; wait, or check the plan`;
    case 'beyond-rate':
      return `The conversation has more tokens than ${label} allows model ${model} a minute; the next message is sent with a shorter part of it. Lower history.maxTokens or llm.maxTokens, or raise the limit at the provider`;
    case 'model':
      return `${label} has no model ${model} at ${shownEndpoint(access)}, or does not serve it to this key; check llm.model and llm.baseURL${pullAdvice(access)}`;
    case 'tools-off':
      return `Model ${model} of ${label} does not accept tools with its present server settings; start vLLM with --enable-auto-tool-choice and --tool-call-parser, llama.cpp with --jinja, or use another model`;
    case 'token-limit':
      return `Model ${model} reached its token limit before its reply was complete; raise llm.maxTokens`;
    case 'context':
      return `The conversation is too long for model ${model}; the next message is sent with a shorter part of it. Lower history.maxTokens or llm.maxTokens, or reset the conversation`;
    case 'image':
      return `Model ${model} of ${label} did not accept an image of the conversation; it is left out from now on. Use a model that sees, or another image`;
    case 'content':
      return `The content filter of ${label} stopped the request; rephrase the message or the system prompt`;
    case 'too-large':
      return `The conversation, or an image in it, is too large for ${label}; reset it`;
    case 'timed-out':
      return `${label} took too long to receive the request; try again`;
    case 'overloaded':
      return `${label} is in trouble or overloaded; try again later`;
    case 'unreadable-call':
      return `Model ${model} wrote a tool call that ${label} could not read; try again, or use a model that is better at calling tools`;
    case 'request':
      return `${label} refused the request; ${requestAdvice(access, param)}`;
    case 'unknown':
      return status === undefined
        ? `${label} reported an error while it was answering; try again later`
        : `${label} refused the request; check llm.baseURL and llm.model`;
    default:
      return kind satisfies never;
  }
}

export function tokenFieldAdvice({ label }: ProviderEndpoint): string {
  return `${label} takes llm.maxTokens as max_completion_tokens only; set llm.provider to openai and keep llm.baseURL`;
}

export function toolAdvice({ label }: ProviderEndpoint, toolName: string): string {
  return `${label} refused the tool ${toolName}; deny it under approval.rules of the agent file, or correct its schema`;
}

/** Advice by the field of the request that carries a setting. */
const settingOfField: readonly [RegExp, string][] = [
  [
    /^(reasoning|thinking|output_config)/,
    'set llm.reasoningEffort to a value that the model accepts: with tools some accept only none',
  ],
  [/^(max_tokens|max_completion_tokens|max_output_tokens)/, 'change llm.maxTokens'],
  [/^temperature/, 'remove llm.temperature: the model accepts none, or not this value'],
  [/^top_p/, 'remove llm.topP'],
  [/^stream$/, 'the organization may have to be verified at the provider before it can stream this model'],
  [/^stop/, 'remove llm.stop'],
  [/^seed/, 'remove llm.seed'],
  [/^parallel_tool_calls/, 'remove llm.parallelToolCalls'],
  [
    /^(tools|tool_choice|functions)/,
    'the model may not accept tools: deny them in approval, or use another model',
  ],
];

function requestAdvice({ model }: ProviderEndpoint, param: string | undefined): string {
  const known = param === undefined ? undefined : settingOfField.find(([field]) => field.test(param));
  return known?.[1] ?? `check that model ${model} can use tools and images, and the settings under llm`;
}

function keyAdvice({ apiKey, keyVariable }: ProviderEndpoint): string {
  const variable = keyVariable === undefined ? '' : ` or the environment variable ${keyVariable}`;
  return `${apiKey === undefined ? 'it needs one: set' : 'check'} llm.apiKey${variable}`;
}

function pullAdvice({ provider, model }: ProviderEndpoint): string {
  return provider === 'ollama' ? `, or pull it with: ollama pull ${model}` : '';
}
