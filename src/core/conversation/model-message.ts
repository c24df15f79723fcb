import type { ModelSource, OpaqueData, SpokenPart } from '../turn/reply-parts.ts';
import type { Image } from './image.ts';

/**
 * A tool call as the model asked for it. `name` is the name that the model knows. It is empty if the log has the step
 * but not the request of the call, because a fork or a repair has cut the log between the two.
 */
export interface ModelToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly opaque?: OpaqueData | undefined;
}

export type AssistantPart = SpokenPart | ({ readonly type: 'toolCall' } & ModelToolCall);

/** Marks what the model is no longer shown, because its provider refused a request with it. */
export interface LeftOut {
  readonly leftOut?: true;
}

export interface UserMessage extends LeftOut {
  readonly role: 'user';
  readonly text: string;
  /** More than one if neighbouring messages were joined. */
  readonly images?: readonly Image[];
  /** The model is no longer shown the images; it still sees the text. */
  readonly imagesLeftOut?: true;
  /** Not said by the user: it tells the model, in the middle of a turn, why its reply does not have the wanted form. */
  readonly correction?: true;
}

export interface AssistantMessage extends LeftOut {
  readonly role: 'assistant';
  readonly parts: readonly AssistantPart[];
  /** The model that made the opaque parts, which go back to that model only. Absent if there are none. */
  readonly source?: ModelSource;
  /** Present if the turn was cancelled or failed in the middle of this text. */
  readonly cut?: 'cancelled' | 'failed';
}

export interface ToolMessage extends LeftOut {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** One message of the conversation. Adapters turn it into the format of their provider. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

/** A tool as it is offered to the model, under a name that every provider accepts. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
