import type { Image } from './image.ts';

/** A tool call as the model asked for it: `name` is the name the model knows, `arguments` are parsed. */
export interface ModelToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** One message of the conversation, in no provider's format. Every tool call is followed by its result. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string; readonly image?: Image }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** Present when the text ends where the turn was cancelled or failed. */
      readonly cut?: 'cancelled' | 'failed';
    }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly text: string };

/** A tool as it is offered to the model, under a name that every provider accepts. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
