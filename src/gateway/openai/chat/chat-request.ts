import { z } from 'zod';
import { optional } from '../../../wire/requests.ts';
import { FunctionTool } from '../../requests/tool-options.ts';
import { formatOf, NamedSchema } from '../output-format.ts';

/*
 * The body of `POST /v1/chat/completions`, as far as the service reads it. Fields that OpenAI's interface has and that mean
 * nothing here, such as `user` and `store`, are accepted and left out.
 */

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
const ImagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) });

const Text = z.union([z.string(), z.array(TextPart)], 'must be a text, or a list of text parts');

const Call = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});

const Tool = z.object({
  type: z.literal('function', 'must be function: the client can run no other tools'),
  function: FunctionTool,
});

const ResponseFormat = formatOf({ json_schema: NamedSchema });

export const ChatMessage = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('system'), content: Text }),
    z.object({ role: z.literal('developer'), content: Text }),
    z.object({
      role: z.literal('user'),
      content: z.union(
        [
          z.string(),
          z.array(z.discriminatedUnion('type', [TextPart, ImagePart], 'must be text or image_url')),
        ],
        'must be a text, or a list of parts of the types text and image_url',
      ),
    }),
    z.object({
      role: z.literal('assistant'),
      content: optional(
        z.union(
          [z.string(), z.array(z.discriminatedUnion('type', [TextPart, RefusalPart]))],
          'must be a text, or a list of parts of the types text and refusal',
        ),
      ),
      refusal: optional(z.string()),
      tool_calls: optional(z.array(Call)),
    }),
    z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: Text }),
  ],
  'must be system, developer, user, assistant or tool',
);
export type ChatMessage = z.infer<typeof ChatMessage>;

/** What the client says besides the system prompt of the agent. It may stand anywhere. */
export type Instruction = Extract<ChatMessage, { role: 'system' | 'developer' }>;

export function isInstruction(message: ChatMessage): message is Instruction {
  return message.role === 'system' || message.role === 'developer';
}

export const ChatRequest = z.object({
  model: z.string().min(1).describe('The id of an agent: `GET /v1/models` lists them.'),
  messages: z.array(ChatMessage).min(1, 'must not be empty'),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
  max_completion_tokens: optional(z.int().min(1)),
  max_tokens: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  stop: optional(z.union([z.string(), z.array(z.string())], 'must be a text, or a list of texts')),
  seed: optional(z.int()),
  n: optional(z.literal(1, 'must be 1: an agent gives one reply')),
  metadata: optional(z.record(z.string(), z.string())).describe(
    '`session_id` names the session in which the conversation goes on.',
  ),
  tools: optional(z.array(Tool)).describe('Tools that the client runs itself.'),
  tool_choice: optional(
    z.union(
      [
        z.enum(['auto', 'none', 'required']),
        z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
      ],
      'must be auto, none, required, or one of the tools',
    ),
  ),
  parallel_tool_calls: optional(z.boolean()),
  functions: optional(z.array(z.unknown()).max(0, 'is not supported: use tools')),
  response_format: optional(ResponseFormat),
  modalities: optional(z.array(z.literal('text', 'must be text'))),
  audio: optional(z.never('is not supported')),
  logprobs: optional(z.literal(false, 'is not supported')),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
