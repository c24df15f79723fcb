import { z } from 'zod';

/** What a tool server may ask of the agent's model, in one turn. */
export const SamplingConfig = z.strictObject({
  /** `ask`: somebody approves each request. `auto`: nobody is asked. */
  policy: z.enum(['ask', 'auto']).default('ask'),
  maxRequests: z.int().min(1).default(10),
  /** Output tokens of all its requests together. */
  maxTokens: z.int().min(1).default(10_000),
});
export type SamplingConfig = z.infer<typeof SamplingConfig>;
