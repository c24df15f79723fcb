import type { ModelApi } from '../../config/schema/llm-config.ts';
import type { ProviderEndpoint } from './provider-endpoint.ts';

const paths: Readonly<Record<ModelApi, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
};

/** The address of the model's requests. */
export function endpointOf({ baseURL, api }: ProviderEndpoint): URL {
  const url = new URL(baseURL);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${paths[api]}`;
  return url;
}

/** Stands for what is not shown. */
export const REDACTED = '***REDACTED***';

/** The same address for people: without its query, which may hold a token, and without the key. */
export function shownEndpoint(access: ProviderEndpoint): string {
  const { origin, pathname } = endpointOf(access);
  return withoutKey(`${origin}${pathname}`, access);
}

export function withoutKey(text: string, access: ProviderEndpoint): string {
  const key = secretKeyOf(access);
  return key === undefined ? text : text.replaceAll(key, REDACTED);
}

/** A shorter key is most often a placeholder, for a server that wants none. Its letters occur in any text. */
const MIN_SECRET_LENGTH = 8;
/** Keys of OpenAI and LiteLLM begin like this, also short ones. */
const KEY_PREFIX = 'sk-';

export function secretKeyOf({ apiKey }: ProviderEndpoint): string | undefined {
  if (apiKey === undefined) return undefined;
  return apiKey.length >= MIN_SECRET_LENGTH || apiKey.startsWith(KEY_PREFIX) ? apiKey : undefined;
}
