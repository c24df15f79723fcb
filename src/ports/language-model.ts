import type { ModelMessage, ModelTool } from '../core/conversation/model-message.ts';
import type { TurnId } from '../core/ids.ts';
import type { TraceContext } from '../core/trace.ts';
import type { OutputFormat } from '../core/turn/output-format.ts';
import type {
  FinishReason,
  ModelSource,
  OpaqueData,
  SpokenPart,
  TokenUsage,
} from '../core/turn/reply-parts.ts';
import type { ModelSettings, ToolChoice } from '../core/turn/turn-options.ts';

/**
 * A request whose messages every provider accepts: messages of the user and of the model alternate, tool
 * calls have valid names, and their results follow the message of the calls, in the same order. Opaque data
 * is included only if this same model sent it. `src/core/conversation/model-conversation.ts` ensures all of
 * this.
 */
export interface ModelRequest {
  readonly systemPrompt: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** In place of the settings of the agent file. */
  readonly settings?: ModelSettings;
  /** If absent, the model decides which tools it uses. */
  readonly toolChoice?: ToolChoice;
  /** The form of the reply. The system prompt tells of it, too; the caller checks the reply. */
  readonly output?: OutputFormat;
  /**
   * The step that needs the reply. Never sent to the provider. `said` is the user's text of this turn alone;
   * the newest message may begin with earlier text that was never answered.
   */
  readonly origin?: { readonly turnId: TurnId; readonly step: number; readonly said: string };
  /** Trace context for the headers of the request. */
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
 * One part of a reply, in order. The provider wants `opaque` parts, and the `opaque` data of other parts,
 * back: they are logged and repeated verbatim in later requests to the same source. `reasoning` is for
 * people.
 */
export type ReplyPart = SpokenPart | ({ readonly type: 'toolCall' } & RawToolCall);

export interface ModelReply {
  readonly parts: readonly ReplyPart[];
  /** Absent if the model ended the reply by itself. */
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
}

/** Receives a reply while it streams. */
export interface ReplyListener {
  /** A piece of the text for the user, refusals included. */
  onText(text: string): void;
  /** A piece of the model's reasoning. */
  onReasoning(text: string): void;
}

/**
 * A language model. Promises:
 *
 * - The listener is called synchronously as the reply arrives, never with an empty string. The pieces of
 *   `onText` concatenate to the text and refusal parts of the reply. The listener is never called after the
 *   signal aborts or the promise settles.
 * - When `signal` aborts, the request to the provider ends at once and the promise rejects with any error.
 * - Every other failure rejects with a `ServiceError` of code `AGENT_ERROR`. Its `details.reason` tells an
 *   operator what to do and contains neither key nor prompt. `details.refused` is set if the provider refused
 *   the content of the conversation: see `Refused`.
 * - A request is retried only while nothing was passed to the listener.
 * - A reply without text and without tool calls is a failure, unless the model says more when it is asked to go on. The
 *   reasoning of both replies is then passed to the listener and is part of the reply.
 */
export interface LanguageModel {
  /** For people: provider and model, such as `openai gpt-5`. */
  readonly label: string;
  /** Logged with each reply. Null in the replay of a log that does not record it. */
  readonly source: ModelSource | null;
  /** Maximum number of tools in a request, if the provider has a limit. */
  readonly maxTools?: number | undefined;
  /** Loads what the first call would otherwise wait for. Never rejects: the first call reports the error. */
  warmUp?(): Promise<void>;
  generate(request: ModelRequest, listener: ReplyListener, signal: AbortSignal): Promise<ModelReply>;
}
