import { z } from 'zod';
import type { SessionEventOf } from '../../../core/log/events.ts';
import type { OutputFormat } from '../../../core/turn/output-format.ts';
import { type ResponsePlace, responseId } from './response-id.ts';
import { OutputItem } from './response-items.ts';
import { ResponseUsage } from './response-usage.ts';

const ResponseStatus = z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']);

const Tool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()),
  strict: z.boolean(),
});

/** How a client can ask for the reasoning of the model. */
export const SUMMARIES = ['auto', 'concise', 'detailed'] as const;

/** What the request says that no option of a turn does. It is kept with the turn. */
export const ResponseNote = z.object({
  metadata: z.record(z.string(), z.string()).default({}),
  background: z.boolean().default(false),
  store: z.boolean().default(true),
  previous_response_id: z.string().nullable().default(null),
  conversation: z.string().nullable().default(null),
  /** The session was made for this response. */
  isAlone: z.boolean().default(false),
  /** For the model, it is a schema of any object. */
  format: z.literal('json_object').optional(),
  /** Names of the tools that were asked for with `strict`. */
  strictTools: z.array(z.string()).default([]),
  /** For the model, all are the same. */
  summary: z.enum(SUMMARIES).optional(),
});
export type ResponseNote = z.infer<typeof ResponseNote>;

export const OpenAiResponse = z.object({
  id: z.string(),
  access_programs: z.null().describe('Programs of OpenAI, of which the service has none.'),
  object: z.literal('response'),
  created_at: z.int().describe('Unix seconds.'),
  completed_at: z.int().nullable(),
  status: ResponseStatus,
  background: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  model: z.string().describe('The id of the agent.'),
  output: z.array(OutputItem),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  conversation: z.object({ id: z.string() }).nullable(),
  reasoning: z.object({ effort: z.null(), summary: z.string().nullable() }),
  store: z.boolean(),
  temperature: z.number().nullable(),
  text: z.object({ format: z.record(z.string(), z.unknown()) }),
  tool_choice: z.union([z.string(), z.object({ type: z.literal('function'), name: z.string() })]),
  tools: z.array(Tool),
  top_p: z.number().nullable(),
  truncation: z.literal('disabled'),
  usage: ResponseUsage.nullable(),
  metadata: z.record(z.string(), z.string()),
});
export type OpenAiResponse = z.infer<typeof OpenAiResponse>;

/** The response when it begins. @param createdAt Unix milliseconds. */
export function begunResponse(
  place: ResponsePlace,
  requested: Pick<SessionEventOf<'turn.requested'>, 'options'>,
  { createdAt, previous }: { readonly createdAt: number; readonly previous: string | null },
): OpenAiResponse {
  const { options = {} } = requested;
  const note = ResponseNote.parse(options.note ?? {});
  const { toolChoice: choice = 'auto', clientTools = [], output } = options;
  return {
    id: responseId(place),
    access_programs: null,
    object: 'response',
    created_at: unixSeconds(createdAt),
    completed_at: null,
    status: note.background ? 'queued' : 'in_progress',
    background: note.background,
    error: null,
    incomplete_details: null,
    instructions: options.instructions ?? null,
    max_output_tokens: options.maxTokens ?? null,
    model: place.agentId,
    output: [],
    parallel_tool_calls: options.parallelToolCalls ?? true,
    previous_response_id: previous ?? note.previous_response_id,
    conversation: note.conversation === null ? null : { id: note.conversation },
    reasoning: { effort: null, summary: options.keepReasoning ? (note.summary ?? 'auto') : null },
    store: note.store,
    temperature: options.temperature ?? null,
    text: { format: shownFormat(output, note) },
    tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.name } : choice,
    tools: clientTools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description: description ?? null,
      parameters: inputSchema,
      strict: note.strictTools.includes(name),
    })),
    top_p: options.topP ?? null,
    truncation: 'disabled',
    usage: null,
    metadata: note.metadata,
  };
}

function shownFormat(
  output: OutputFormat | undefined,
  { format }: ResponseNote,
): OpenAiResponse['text']['format'] {
  if (!output) return { type: 'text' };
  return format ? { type: format } : { type: 'json_schema', ...output };
}

export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
