import { z } from 'zod';

/** The form that the reply of a turn must have: JSON that fits a schema. */
export const OutputFormat = z.object({
  /** A JSON Schema. */
  schema: z.record(z.string(), z.unknown()),
  /** For providers that want the schema to have a name. */
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -')
    .default('output'),
  /** Whether the provider is to make sure of it. OpenAI then accepts a part of JSON Schema only. */
  strict: z.boolean().optional(),
});
export type OutputFormat = z.infer<typeof OutputFormat>;

/** What the model is told, because not every provider can be. */
export function outputInstructions({ schema }: OutputFormat): string {
  return `Reply with JSON alone, without a word before or behind it. It must fit this JSON Schema: ${JSON.stringify(schema)}`;
}

/** What the model is told about a reply that does not fit. */
export function outputCorrection(issue: string): string {
  return `Your reply does not fit the JSON Schema that was asked for: ${issue}. Reply again, with JSON alone.`;
}
