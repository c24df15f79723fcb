import { z } from 'zod';
import type { ModelTool } from '../../core/conversation/model-message.ts';

/** The parts of a JSON Schema that an example needs. Anything unexpected is ignored. */
const ArgumentsSchema = z
  .object({
    properties: z.record(z.string(), z.looseObject({ type: z.unknown() }).catch({ type: undefined })),
    required: z.array(z.string()).catch([]),
  })
  .catch({ properties: {}, required: [] });

/** A message that calls a tool with arguments that fit its schema. */
export function exampleCall(tools: readonly ModelTool[]): string {
  const tool = tools.find(({ name }) => name === 'echo') ?? tools[0];
  return tool === undefined ? 'use TOOL' : exampleCallOf(tool);
}

function exampleCallOf({ name, inputSchema }: ModelTool): string {
  const { properties, required } = ArgumentsSchema.parse(inputSchema);
  const values = required.map((key) => [key, exampleValue(properties[key]?.type)]);
  return values.length === 0 ? `use ${name}` : `use ${name} ${JSON.stringify(Object.fromEntries(values))}`;
}

function exampleValue(type: unknown): unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'hello';
  }
}
