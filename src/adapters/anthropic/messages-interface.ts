import type { LlmConfig } from '../../config/schema/llm-config.ts';
import { type ClientObserver, ModelClient } from '../../model-http/http/model-client.ts';
import { requestBody } from '../../model-http/http/request-body.ts';
import { bearerHeader, type ProviderEndpoint } from '../../model-http/provider/provider-endpoint.ts';
import type { ModelInterface } from '../../model-http/provider/provider-model.ts';
import { requestSettings } from '../../model-http/provider/request-settings.ts';
import { MessagesReader, messagesTemplate } from './messages-reader.ts';
import { messagesRequest } from './messages-request.ts';
import { anthropicVersion } from './sampling.ts';
import { ThinkingPrefixes } from './thinking-blocks.ts';

/**
 * Anthropic's Messages API, at Anthropic or another provider that supports it.
 *
 * The npm package `@anthropic-ai/sdk` is a development dependency only, for types and for comparison in tests.
 */
export function messagesInterface(
  access: ProviderEndpoint,
  config: LlmConfig,
  observer: ClientObserver = {},
): ModelInterface {
  const headers = { 'anthropic-version': anthropicVersion(config), ...keyHeader(access) };
  const prefixes = new ThinkingPrefixes();
  const template = messagesTemplate();
  return {
    client: new ModelClient(access, headers, { ...config, ...observer }),
    call(request, listener) {
      // Most models take no sampling, and the version that is sent says whether there is any.
      const { temperature, topP } = config;
      const settings = { ...requestSettings(config, request), temperature, topP };
      const { body, remember } = messagesRequest(access, settings, request, prefixes);
      return {
        body: requestBody(body),
        tools: request.tools,
        trace: request.trace,
        reader: () => new MessagesReader(access, request, listener, { template, onThinkingBlock: remember }),
      };
    },
  };
}

/**
 * Anthropic gets the key as `x-api-key`, as in its guide to version 2026-10-21: gateways in front of it know this
 * header too, while the SDK sends a bearer token. Other providers want the header of their other interfaces.
 * https://platform.claude.com/docs/en/api/migration-2026-10-21
 */
function keyHeader(access: ProviderEndpoint): Record<string, string> {
  const { provider, apiKey } = access;
  return provider === 'anthropic' && apiKey !== undefined ? { 'x-api-key': apiKey } : bearerHeader(access);
}
