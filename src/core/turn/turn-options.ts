import { z } from 'zod';

/**
 * What a client wants for its turn alone. The model gets the settings as far as its provider has them, in place of those of
 * the agent file.
 */
export const TurnOptions = z.object({
  /** Shown to the model after the system prompt of the agent. */
  instructions: z.string().optional(),
  /** Most tokens of one reply of the model. Never more than the agent file says. */
  maxTokens: z.int().min(1).optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  /** The reply ends where the model writes one of these texts. */
  stop: z.array(z.string()).optional(),
  seed: z.int().optional(),
});
export type TurnOptions = z.infer<typeof TurnOptions>;
