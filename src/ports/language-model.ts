import type { TurnId } from '../contract/ids.ts';
import type { ModelMessage, ModelTool } from '../contract/model-message.ts';
import type { TraceContext } from '../contract/trace.ts';

export interface ModelRequest {
  readonly systemPrompt: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** What the call is made for. Never sent to the provider. */
  readonly origin?: { readonly turnId: TurnId; readonly step: number };
  /** The trace that the call is part of, for the headers of the request. */
  readonly trace?: TraceContext;
}

/** A tool call as the model wrote it: `arguments` is the raw text, normally JSON. */
export interface RawToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ModelReply {
  readonly text: string;
  readonly toolCalls: readonly RawToolCall[];
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/**
 * A language model. Promises:
 *
 * - `onText` is called synchronously as text arrives, never with an empty string; the pieces concatenate
 *   into `reply.text`. It is never called after the signal aborts or the promise settles.
 * - When `signal` aborts, the request to the provider ends at once and the promise rejects.
 * - Every failure rejects with a `ServiceError` of code `AGENT_ERROR` whose `details.reason` tells an
 *   operator what to do, and which holds neither key nor prompt. (After an abort: whatever error.)
 * - A request is repeated only as long as nothing was passed to `onText`.
 */
export interface LanguageModel {
  /** For people: provider and model, such as `openai gpt-5`. */
  readonly label: string;
  /** Loads what the first call would otherwise wait for. Never rejects: that call tells what is wrong. */
  warmUp?(): Promise<void>;
  generate(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<ModelReply>;
}
