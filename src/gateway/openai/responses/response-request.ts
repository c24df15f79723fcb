import { z } from 'zod';
import { SessionId } from '../../../core/ids.ts';
import { optional, WholeNumber } from '../../../wire/requests.ts';
import { FunctionTool } from '../../requests/tool-options.ts';
import { AskedFormat } from '../output-format.ts';
import { SUMMARIES } from './response-object.ts';

/*
 * The body of `POST /v1/responses`, as far as the service reads it. Fields that OpenAI's interface has and that mean nothing
 * here, such as `user` and `service_tier`, are accepted and left out.
 */

const InputText = z.object({ type: z.literal('input_text'), text: z.string() });
const InputImage = z.object({
  type: z.literal('input_image'),
  file_id: optional(z.never('is not supported: send the image itself, as a data URL in image_url')),
  image_url: z.string(),
});
const OutputText = z.object({ type: z.literal('output_text'), text: z.string() });
const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });

const Content = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion(
        'type',
        [InputText, InputImage, OutputText, Refusal],
        'must be input_text, input_image, output_text or refusal: files are not supported',
      ),
    ),
  ],
  'must be a text, or a list of parts of the types input_text, input_image, output_text and refusal',
);
export type InputContent = z.infer<typeof Content>;

/** Why a tool has failed: as the service and newer servers say it, or as a text. */
const McpError = z.union(
  [
    z.string(),
    z.object({ type: z.literal('mcp_tool_execution_error'), content: z.unknown() }),
    z.object({ type: z.enum(['mcp_protocol_error', 'http_error']), message: z.string() }),
  ],
  'must be a text, or an error of type mcp_tool_execution_error, mcp_protocol_error or http_error',
);
export type McpError = z.infer<typeof McpError>;

const Message = z.object({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: Content,
});

/** An item of which the content is there. */
export const GivenItem = z.discriminatedUnion('type', [
  Message,
  z.object({
    type: z.literal('function_call'),
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
  }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string().min(1), output: Content }),
  z.object({
    type: z.literal('mcp_call'),
    id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
    output: optional(z.string()),
    error: optional(McpError),
  }),
  z.object({ type: z.literal('reasoning') }),
  z.object({ type: z.literal('compaction'), encrypted_content: z.string() }),
]);
export type GivenItem = z.infer<typeof GivenItem>;

/** An item of a response or a conversation, by its id. */
const ItemReference = z.object({ type: z.literal('item_reference'), id: z.string().min(1) });

/** Messages and references may come without their type. */
export const InputItem = z.preprocess(
  (item) => {
    if (typeof item !== 'object' || item === null || ('type' in item && item.type !== null)) return item;
    if ('role' in item) return { ...item, type: 'message' };
    return 'id' in item && Object.keys(item).every((name) => name === 'id' || name === 'type')
      ? { ...item, type: 'item_reference' }
      : item;
  },
  z.discriminatedUnion(
    'type',
    [...GivenItem.options, ItemReference],
    'must be message, function_call, function_call_output, mcp_call, reasoning, compaction or item_reference',
  ),
);
export type InputItem = z.infer<typeof InputItem>;

const Tool = z.object({
  type: z.literal('function', 'must be function: the agent has its own tools'),
  ...FunctionTool.shape,
  strict: optional(z.boolean()),
});

export const ResponseRequest = z.object({
  model: z.string().min(1).describe('The id of an agent: `GET /v1/models` lists them.'),
  prompt: optional(z.never('is not supported: the agent has its own prompt')),
  input: z
    .union([z.string(), z.array(InputItem).min(1, 'must not be empty')], 'must be a text, or a list of items')
    .describe('What is new. Without `previous_response_id` and `conversation`, the whole conversation.'),
  stream: optional(z.boolean()),
  background: optional(z.boolean()).describe('Answer at once, and go on whether or not the client is there.'),
  store: optional(z.boolean()).describe('`false`: the session is deleted when the response is over.'),
  previous_response_id: optional(z.string().min(1)).describe('The response that this one follows.'),
  conversation: optional(
    z.union(
      [SessionId, z.object({ id: SessionId }).transform(({ id }) => id)],
      'must be the id of a session',
    ),
  ).describe('The session in which the conversation goes on.'),
  instructions: optional(z.string()).describe('Shown to the model after the system prompt of the agent.'),
  max_output_tokens: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  tools: optional(z.array(Tool)).describe('Tools that the client runs itself.'),
  tool_choice: optional(
    z.union(
      [z.enum(['auto', 'none', 'required']), z.object({ type: z.literal('function'), name: z.string() })],
      'must be auto, none, required, or one of the tools',
    ),
  ),
  parallel_tool_calls: optional(z.boolean()),
  text: optional(z.object({ format: optional(AskedFormat) })),
  reasoning: optional(z.object({ summary: optional(z.enum(SUMMARIES)) }).loose()).describe(
    'With `summary`, the reasoning of the model is a part of the response, and is kept in the log.',
  ),
  metadata: optional(z.record(z.string(), z.string())),
});
export type ResponseRequest = z.infer<typeof ResponseRequest>;

export const CompactRequest = ResponseRequest.pick({
  model: true,
  previous_response_id: true,
  instructions: true,
}).extend({ input: optional(ResponseRequest.shape.input) });

export const RetrieveQuery = z.object({
  stream: z.enum(['true', 'false']).default('false'),
  starting_after: WholeNumber.optional().describe(
    'With `stream=true`: only the events behind the one with this `sequence_number`.',
  ),
});

export const DeletedResponse = z.object({
  id: z.string(),
  object: z.literal('response'),
  deleted: z.literal(true),
});
export type DeletedResponse = z.infer<typeof DeletedResponse>;
