import { z } from 'zod';
import { CallId, SessionId } from '../../core/ids.ts';
import { ClientTool } from '../../core/tool-call/client-tool.ts';
import { optional } from '../../wire/requests.ts';

/*
 * What a client of AG-UI 1.0 sends to run the agent. Fields that are unknown here are left alone, as the protocol asks.
 */

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });

const FilePart = z.looseObject({
  type: z.enum(['image', 'audio', 'video', 'document']),
  source: z.looseObject({
    type: z.enum(['data', 'url', 'file']),
    value: z.string(),
    mimeType: optional(z.string()),
  }),
});

const KNOWN_PARTS: readonly string[] = [TextPart.shape.type.value, ...FilePart.shape.type.options];

/** A part of a type that the service does not know, such as the `binary` of older clients. */
const OtherPart = z
  .looseObject({ type: z.string().refine((type) => !KNOWN_PARTS.includes(type)) })
  .transform((part) => ({ type: 'other' as const, part }));

const ContentPart = z.union([TextPart, FilePart, OtherPart]);
export type ContentPart = z.infer<typeof ContentPart>;

const Content = z.union([z.string(), z.array(ContentPart)], 'must be a text, or a list of parts');
export type Content = z.infer<typeof Content>;

const ToolCall = z.looseObject({
  id: CallId,
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const id = z.string();

export const InputMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), id, content: z.string() }),
  z.looseObject({ role: z.literal('user'), id, content: Content }),
  z.looseObject({
    role: z.literal('assistant'),
    id,
    content: optional(z.string()),
    toolCalls: optional(z.array(ToolCall)),
  }),
  z.looseObject({
    role: z.literal('tool'),
    id,
    toolCallId: CallId,
    content: Content,
    error: optional(z.string()),
  }),
  z.looseObject({ role: z.literal('reasoning'), id, content: z.string() }),
  z.looseObject({ role: z.literal('activity'), id }),
]);
export type InputMessage = z.infer<typeof InputMessage>;

/** What users, the agent and its tools have said, without what pages keep beside it. */
export function conversationIn(messages: readonly InputMessage[]): InputMessage[] {
  return messages.filter(({ role }) => role === 'user' || role === 'assistant' || role === 'tool');
}

/** The decision about a call that waits for approval. */
export const ApprovalPayload = z.object({
  approved: z.boolean(),
  reason: optional(z.string()).describe('Why it was denied; the model is told.'),
  argumentsHash: optional(z.string()).describe('Of the interrupt: the approval is for these arguments only.'),
});

export const ResumeEntry = z.object({
  interruptId: z.string().describe('The id of an interrupt.'),
  status: z
    .enum(['resolved', 'cancelled'])
    .describe('`cancelled` denies the call, or ends the question without an answer.'),
  payload: optional(
    z.union([z.looseObject(ApprovalPayload.shape), z.looseObject({})], 'must be an object'),
  ).describe('Required if the entry is `resolved`. For a question, it is what `responseSchema` says.'),
});
export type ResumeEntry = z.infer<typeof ResumeEntry>;

export const RunInput = z.object({
  threadId: SessionId,
  runId: z
    .string()
    .min(1)
    .describe('A run that is asked for again with the same id is told again, and not done again.'),
  parentRunId: optional(z.string()),
  messages: z.array(InputMessage),
  tools: optional(
    z.array(
      z.object({
        name: ClientTool.shape.name,
        description: z.string(),
        parameters: optional(z.record(z.string(), z.unknown())),
      }),
    ),
  ).describe('Tools of the client: a run ends where the model has called one.'),
  context: optional(z.array(z.object({ description: z.string(), value: z.string() }))).describe(
    'Shown to the model after the system prompt of the agent.',
  ),
  state: z
    .unknown()
    .optional()
    .describe('Comes back with `session` added, if it is an object. The model does not see it.'),
  resume: optional(z.array(ResumeEntry)),
});
export type RunInput = z.infer<typeof RunInput>;
