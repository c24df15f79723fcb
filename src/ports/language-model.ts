import type { ModelMessage, ModelTool } from '../core/conversation/model-message.ts';
import type { TurnId } from '../core/ids.ts';
import type { TraceContext } from '../core/trace.ts';
import type {
  FinishReason,
  ModelSource,
  OpaqueData,
  SpokenPart,
  TokenUsage,
} from '../core/turn/reply-parts.ts';

/**
 * A request. The messages are such as every provider takes: no two of the user or of the model follow one another,
 * each tool call has an acceptable name and, right after its message, in the order of the calls, its result. Opaque
 * data are there only where this very model has sent them. (`src/core/conversation/model-conversation.ts` sees to that.)
 */
export interface ModelRequest {
  readonly systemPrompt: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /**
   * What the call is made for. Never sent to the provider. `said` is what the user said in this turn: the newest message
   * may begin with what was said before and not answered.
   */
  readonly origin?: { readonly turnId: TurnId; readonly step: number; readonly said: string };
  /** The trace that the call is part of, for the headers of the request. */
  readonly trace?: TraceContext;
}

/** A tool call as the model wrote it: `arguments` is the raw text, normally JSON. */
export interface RawToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly opaque?: OpaqueData;
}

/**
 * One part of a reply, in its place. `opaque` parts, and `opaque` data of another part, are what the provider wants
 * back: they go into the log, and verbatim into later requests to the same source. `reasoning` is for people.
 */
export type ReplyPart = SpokenPart | ({ readonly type: 'toolCall' } & RawToolCall);

export interface ModelReply {
  readonly parts: readonly ReplyPart[];
  /** Left out when the model came to its own end. */
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
}

/** Hears a reply while it comes. */
export interface ReplyListener {
  /** A piece of what the user reads, refusals included. */
  onText(text: string): void;
  /** A piece of what the model thinks aloud. */
  onReasoning(text: string): void;
}

/**
 * A language model. Promises:
 *
 * - The listener is called synchronously as the reply comes, never with an empty string. The pieces of `onText`
 *   concatenate to the text and refusal parts of the reply. It is never called after the signal aborts or the
 *   promise settles.
 * - When `signal` aborts, the request to the provider ends at once and the promise rejects.
 * - Every failure rejects with a `ServiceError` of code `AGENT_ERROR` whose `details.reason` tells an
 *   operator what to do, and which holds neither key nor prompt. (After an abort: whatever error.)
 *   `details.refused` is set when the provider refused what the conversation holds: see `Refused`.
 * - A request is repeated only as long as nothing was passed to the listener.
 * - A reply without a word and without a tool call is a failure.
 */
export interface LanguageModel {
  /** For people: provider and model, such as `openai gpt-5`. */
  readonly label: string;
  /** Stands beside what it says in the log. Null in the replay of a log that does not tell. */
  readonly source: ModelSource | null;
  /** Most tools that a request may offer, where the provider has a limit. */
  readonly maxTools?: number | undefined;
  /** Loads what the first call would otherwise wait for. Never rejects: that call tells what is wrong. */
  warmUp?(): Promise<void>;
  generate(request: ModelRequest, listener: ReplyListener, signal: AbortSignal): Promise<ModelReply>;
}
