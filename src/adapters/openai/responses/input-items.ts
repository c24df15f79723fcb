import type {
  EasyInputMessage,
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputMessage,
} from 'openai/resources/responses/responses';
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ModelToolCall,
  ToolMessage,
  UserMessage,
} from '../../../core/conversation/model-message.ts';
import type { JsonObject } from '../../../core/json-object.ts';
import type { OpaqueData } from '../../../core/turn/reply-parts.ts';
import { acceptableCallId } from '../../../model-http/reply/call-ids.ts';
import { PARTING } from './parting.ts';

/**
 * An assistant message as the API takes it back. The SDK's type demands an id and a status, which only stored messages
 * have: https://github.com/openai/openai-java/issues/585
 */
type SaidMessage = Omit<ResponseOutputMessage, 'id' | 'status' | 'phase'> & { phase?: string };

export type InputItem =
  | EasyInputMessage
  | SaidMessage
  | ResponseFunctionToolCall
  | ResponseInputItem.FunctionCallOutput
  /** Reasoning as it came. */
  | JsonObject;

export interface InputOptions {
  /** Tool call ids that the provider accepts, if known. */
  readonly callIds: RegExp | undefined;
  readonly withReasoning: boolean;
}

/** OpenAI refuses a request with a longer id: https://github.com/AnswerDotAI/fastllm/issues/45 */
const CALL_ID = /^[\w-]{1,64}$/;

export function inputItems(
  messages: readonly ModelMessage[],
  { callIds = CALL_ID, withReasoning }: InputOptions,
): InputItem[] {
  return messages.flatMap((message): InputItem[] => {
    switch (message.role) {
      case 'user':
        return [userMessage(message)];
      case 'assistant':
        return assistantItems(message, callIds, withReasoning);
      case 'tool':
        return [callOutput(message, callIds)];
      default:
        return message satisfies never;
    }
  });
}

function userMessage({ text, images = [] }: UserMessage): EasyInputMessage {
  const pictures = images.map(({ mimeType, base64 }): ResponseInputContent => {
    return { type: 'input_image', detail: 'auto', image_url: `data:${mimeType};base64,${base64}` };
  });
  const isText = text !== '' || pictures.length === 0;
  const content: ResponseInputContent[] = isText ? [{ type: 'input_text', text }, ...pictures] : pictures;
  return { type: 'message', role: 'user', content };
}

function assistantItems({ parts }: AssistantMessage, callIds: RegExp, withReasoning: boolean): InputItem[] {
  // OpenAI refuses reasoning that nothing follows: https://github.com/continuedev/continue/issues/8933
  const end = parts.findLastIndex(isContent) + 1;
  const firstText = parts.findIndex(hasText);
  return parts.slice(0, end).flatMap((part, index): InputItem[] => {
    switch (part.type) {
      case 'text':
        if (part.text === '') return [];
        return [saidText(index > firstText ? withoutParting(part.text) : part.text, part.opaque)];
      case 'refusal': {
        if (part.text === '') return [];
        const refusal = index > firstText ? withoutParting(part.text) : part.text;
        return [said({ type: 'refusal', refusal })];
      }
      case 'toolCall':
        return [functionCall(part, callIds)];
      case 'opaque':
        return withReasoning ? reasoningItem(part.data) : [];
      case 'reasoning':
        return [];
      default:
        return part satisfies never;
    }
  });
}

function hasText(part: AssistantPart): boolean {
  return (part.type === 'text' || part.type === 'refusal') && part.text !== '';
}

function isContent(part: AssistantPart): boolean {
  return part.type === 'toolCall' || hasText(part);
}

/** Removes what was put between the messages for the user. */
function withoutParting(text: string): string {
  return text.startsWith(PARTING) && text !== PARTING ? text.slice(PARTING.length) : text;
}

function said(content: SaidMessage['content'][number], phase?: string): SaidMessage {
  return { type: 'message', role: 'assistant', ...(phase !== undefined && { phase }), content: [content] };
}

/** Returns the phase of the message. Without it, models take commentary for a final answer and stop too early. */
function saidText(text: string, opaque: OpaqueData | undefined): SaidMessage {
  const phase = typeof opaque?.phase === 'string' ? opaque.phase : undefined;
  return said({ type: 'output_text', text, annotations: [] }, phase);
}

function functionCall(
  { callId, name, arguments: args }: ModelToolCall,
  callIds: RegExp,
): ResponseFunctionToolCall {
  const call_id = acceptableCallId(callId, callIds);
  return { type: 'function_call', call_id, name, arguments: JSON.stringify(args) };
}

function callOutput({ callId, text }: ToolMessage, callIds: RegExp): ResponseInputItem.FunctionCallOutput {
  return { type: 'function_call_output', call_id: acceptableCallId(callId, callIds), output: text };
}

/** Only encrypted reasoning can be sent back: the provider stores nothing that an id could refer to. */
export function canBeReturned({ type, encrypted_content }: JsonObject): boolean {
  return type === 'reasoning' && typeof encrypted_content === 'string' && encrypted_content !== '';
}

/**
 * The item as it came, without its status, and without its id, which the provider would look up in vain:
 * https://github.com/NousResearch/hermes-agent/pull/10217, https://github.com/vercel/ai/issues/12687
 */
function reasoningItem(data: OpaqueData): JsonObject[] {
  if (!canBeReturned(data)) return [];
  const fields = Object.entries(data).filter(([name, value]) => !NOT_RETURNED.has(name) && value !== null);
  const item = Object.fromEntries(fields);
  // The item must have a summary, even if it is empty: https://github.com/newo-ether/Agora/issues/141
  return ['summary' in item ? item : { ...item, summary: [] }];
}

const NOT_RETURNED: ReadonlySet<string> = new Set(['id', 'status']);
