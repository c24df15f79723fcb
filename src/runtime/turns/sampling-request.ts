import { z } from 'zod';
import { Image } from '../../core/conversation/image.ts';
import { modelConversation } from '../../core/conversation/model-conversation.ts';
import type { ModelMessage } from '../../core/conversation/model-message.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError, RPC } from '../../core/json-rpc.ts';
import { spokenText } from '../../core/turn/step-parts.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../../ports/language-model.ts';

/** Made when a server first asks: few services ever see one. */
const SamplingParams = z.lazy(paramsSchema);
export type SamplingParams = z.infer<ReturnType<typeof paramsSchema>>;
type Block = SamplingParams['messages'][number]['content'][number];

/**
 * The parameters of `sampling/createMessage`. The agent's model is asked whatever the server prefers, and the conversation
 * of the user is never added, whatever `includeContext` says.
 */
function paramsSchema() {
  const text = z.object({ type: z.literal('text'), text: z.string() });
  const image = z.object({
    type: z.literal('image'),
    data: Image.shape.base64,
    mimeType: Image.shape.mimeType,
  });
  const block = z.discriminatedUnion('type', [text, image], {
    error: 'must be a text, or an image of a type that models accept',
  });
  const message = z.object({
    role: z.enum(['user', 'assistant']),
    content: z.union([block, z.array(block)]).transform((content) => [content].flat()),
  });
  return z.object({
    messages: z.array(message).min(1),
    systemPrompt: z.string().optional(),
    maxTokens: z.int().min(1),
    temperature: z.number().optional(),
    stopSequences: z.array(z.string()).optional(),
    tools: z.array(z.unknown()).max(0, 'tools are not offered to the model here').optional(),
  });
}

/** Throws a `JsonRpcError` that names the first field that is not valid. */
export function samplingParams(params: JsonObject): SamplingParams {
  const { data, error } = SamplingParams.safeParse(params);
  if (data) return data;
  const [issue] = error.issues;
  throw new JsonRpcError(RPC.invalidParams, `${issue?.path.join('.') || 'params'}: ${issue?.message ?? ''}`);
}

/** @param maxTokens as many as the budget leaves. */
export function samplingRequest(
  { messages, systemPrompt = '', temperature, stopSequences }: SamplingParams,
  maxTokens: number,
  { source }: LanguageModel,
): ModelRequest {
  const settings = {
    maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stop: stopSequences }),
  };
  const conversation = modelConversation(messages.map(modelMessage), { source, caution: 'none' });
  return { systemPrompt, messages: conversation, tools: [], settings };
}

function modelMessage({ role, content }: SamplingParams['messages'][number]): ModelMessage {
  const text = textOf(content);
  if (role === 'assistant') return { role, parts: [{ type: 'text', text }] };
  const images = content.flatMap((block) =>
    block.type === 'image' ? [{ base64: block.data, mimeType: block.mimeType }] : [],
  );
  return { role, text, ...(images.length > 0 && { images }) };
}

/** All texts, for people. */
export function promptOf({ messages }: SamplingParams): string {
  return messages.map(({ content }) => textOf(content)).join('\n\n');
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}

/** The result of `sampling/createMessage`. */
export function samplingResult(
  { parts, finishReason }: ModelReply,
  { source, label }: LanguageModel,
): JsonObject {
  return {
    role: 'assistant',
    content: { type: 'text', text: spokenText(parts) },
    model: source?.model ?? label,
    stopReason: finishReason === 'length' ? 'maxTokens' : 'endTurn',
  };
}
