import { z } from 'zod';
import type { JsonObject } from '../../../../src/core/json-object.ts';
import type { Tool, ToolOutcome } from '../../../../src/core/tool-call/tool.ts';
import type { ServerQuestion } from '../../../../src/core/tool-server/server-question.ts';
import type { ToolServerConnection } from '../../../../src/ports/tool-server.ts';

export const ToolCall = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) });
type ToolCall = z.infer<typeof ToolCall>;

const Property = z.looseObject({ type: z.string().optional(), default: z.unknown().optional() });
const Schema = z.looseObject({
  properties: z.record(z.string(), Property).default({}),
  required: z.array(z.string()).default([]),
});
const Asked = z.looseObject({ requestedSchema: Schema });
const Listed = z.looseObject({
  resources: z.array(z.looseObject({ uri: z.string() })).default([]),
  prompts: z.array(z.looseObject({ name: z.string() })).default([]),
});

/** Uses everything that a server has: each tool, or the calls that are given, each resource and each prompt. */
export async function exercise(
  connection: ToolServerConnection,
  given?: readonly ToolCall[],
): Promise<ToolOutcome[]> {
  const tools = await connection.listTools();
  const calls = given ?? tools.map((tool) => callOf(tool, tools));
  // All at once: what a server asks in one of them concerns no other.
  const outcomes = await Promise.all(
    calls.map((call) => connection.callTool(call.name, call.arguments, { onQuestion: answerTo })),
  );
  await readAll(connection);
  return outcomes;
}

/** A call with a value for each required argument. */
function callOf({ name, inputSchema }: Tool, tools: readonly Tool[]): ToolCall {
  // It gives a schema back to a server that wants to see what became of it.
  if (name === 'json_schema_echo')
    return { name, arguments: { schema: tools.find((other) => other.name !== name)?.inputSchema } };
  const { properties, required } = Schema.parse(inputSchema);
  return {
    name,
    arguments: Object.fromEntries(required.map((key) => [key, sampleOf(properties[key]?.type)])),
  };
}

function sampleOf(type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return 1;
  return type === 'boolean' ? true : 'text';
}

/** Agrees to everything, and leaves forms as they are prefilled. */
async function answerTo({ method, params }: ServerQuestion): Promise<JsonObject> {
  switch (method) {
    case 'roots/list':
      return { roots: [] };
    case 'sampling/createMessage':
      return { role: 'assistant', model: 'test', content: { type: 'text', text: 'hello' } };
    case 'elicitation/create': {
      const fields = Object.entries(Asked.parse(params).requestedSchema.properties);
      const content = fields.map(([key, field]) => [key, field.default ?? sampleOf(field.type)]);
      return { action: 'accept', content: Object.fromEntries(content) };
    }
  }
}

async function readAll(connection: ToolServerConnection): Promise<void> {
  const { capabilities } = connection;
  const request = (method: string, params: JsonObject) => connection.request({ method, params });
  const list = async (method: string) => Listed.parse(await request(method, {}));
  if (capabilities.resources !== undefined)
    for (const { uri } of (await list('resources/list')).resources) await request('resources/read', { uri });
  if (capabilities.prompts !== undefined)
    for (const { name } of (await list('prompts/list')).prompts) await request('prompts/get', { name });
}
