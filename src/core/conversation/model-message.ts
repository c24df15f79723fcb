import type { ModelSource, OpaqueData, SpokenPart } from '../turn/reply-parts.ts';
import type { Image } from './image.ts';

/**
 * A tool call as the model asked for it: `name` is the name the model knows, `arguments` are parsed. A call without a
 * name was never requested: the log was cut, by a fork or a repair, before it says what was asked for.
 */
export interface ModelToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly opaque?: OpaqueData | undefined;
}

export type AssistantPart = SpokenPart | ({ readonly type: 'toolCall' } & ModelToolCall);

/** Set on what the model is not shown any more, because its provider refused a request that held it. */
export interface LeftOut {
  readonly leftOut?: true;
}

export interface UserMessage extends LeftOut {
  readonly role: 'user';
  readonly text: string;
  /** Several where messages that followed one another were joined. */
  readonly images?: readonly Image[];
  /** The images alone are not shown any more. */
  readonly imagesLeftOut?: true;
}

export interface AssistantMessage extends LeftOut {
  readonly role: 'assistant';
  readonly parts: readonly AssistantPart[];
  /** Present where a part is opaque: only this model is sent it back. */
  readonly source?: ModelSource;
  /** Present when the text ends where the turn was cancelled or failed. */
  readonly cut?: 'cancelled' | 'failed';
}

export interface ToolMessage extends LeftOut {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** One message of the conversation, in no provider's format. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

/** A tool as it is offered to the model, under a name that every provider accepts. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
