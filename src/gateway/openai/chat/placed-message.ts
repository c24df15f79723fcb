import type { ChatMessage } from './chat-request.ts';

/** The fields of a request that say something of a message, as errors name them. */
export interface MessageFields {
  readonly whole: string;
  /** Of the result of a tool: which call it answers. */
  readonly callId: string;
  /** The arguments of the tool call with that index. */
  readonly argumentsOf: (call: number) => string;
  /** The image in the part of the content with that index. */
  readonly imageOf: (part: number) => string;
}

/** A message, and where its request has it. */
export interface PlacedMessage {
  readonly message: ChatMessage;
  readonly fields: MessageFields;
}

/** The messages of a chat request. */
export function placedInChat(messages: readonly ChatMessage[]): PlacedMessage[] {
  return messages.map((message, index) => {
    const whole = `messages.${index}`;
    return {
      message,
      fields: {
        whole,
        callId: `${whole}.tool_call_id`,
        argumentsOf: (call) => `${whole}.tool_calls.${call}.function.arguments`,
        imageOf: (part) => `${whole}.content.${part}.image_url.url`,
      },
    };
  });
}
