import type { ModelApi } from '../../src/config/schema/llm-config.ts';
import { anthropicEvents } from './anthropic-events.ts';
import { chatEvents } from './chat-reply.ts';
import { gatewayEvents, geminiEvents, ollamaEvents, vllmEvents } from './compatible-events.ts';
import { responsesEvents } from './responses-events.ts';
import { sourceCode, tokens, wholeWords } from './varied-pieces.ts';

/** How a provider sends its replies. */
export interface ProviderReply {
  readonly shape: string;
  readonly api: ModelApi;
  /** The texts of a reply of so many pieces. */
  readonly piecesOf: (count: number) => string[];
  /** The events of a reply of these pieces. */
  readonly eventsOf: (pieces: readonly string[]) => string[];
}

export const providerReplies: readonly ProviderReply[] = [
  { shape: 'openai', api: 'chat', piecesOf: tokens, eventsOf: chatEvents },
  { shape: 'vllm', api: 'chat', piecesOf: tokens, eventsOf: vllmEvents },
  { shape: 'gemini', api: 'chat', piecesOf: wholeWords, eventsOf: geminiEvents },
  { shape: 'code', api: 'chat', piecesOf: sourceCode, eventsOf: ollamaEvents },
  { shape: 'gateway', api: 'chat', piecesOf: tokens, eventsOf: gatewayEvents },
  { shape: 'anthropic', api: 'messages', piecesOf: tokens, eventsOf: anthropicEvents },
  { shape: 'responses', api: 'responses', piecesOf: tokens, eventsOf: responsesEvents },
];
