import { z } from 'zod';
import { ClientTool } from '../tool-call/client-tool.ts';
import { OutputFormat } from './output-format.ts';

/** `none`: none of them. `required`: at least one. An object: this one. */
export const ToolChoice = z.union([z.enum(['auto', 'none', 'required']), z.object({ name: z.string() })]);
export type ToolChoice = z.infer<typeof ToolChoice>;

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
  /** Tools that the client lends to the turn, and runs itself. */
  clientTools: z.array(ClientTool).optional(),
  /** Which tools the model uses in the first step of the turn, if it is not to decide that. */
  toolChoice: ToolChoice.optional(),
  /** The form of the reply. */
  output: OutputFormat.optional(),
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** Keep the reasoning of the model in the log, also if the agent file does not say so. */
  keepReasoning: z.literal(true).optional(),
  /** The session is deleted when the turn is over. */
  ephemeral: z.literal(true).optional(),
  /** What the interface that the message came by wants to find again with the turn. Nothing else reads it. */
  note: z.record(z.string(), z.unknown()).optional(),
});
export type TurnOptions = z.infer<typeof TurnOptions>;

/** The options that are settings of the model. */
export type ModelSettings = Omit<
  TurnOptions,
  'instructions' | 'clientTools' | 'toolChoice' | 'output' | 'keepReasoning' | 'ephemeral' | 'note'
>;

export function modelSettings(options: TurnOptions): ModelSettings {
  const { maxTokens, temperature, topP, stop, seed, parallelToolCalls } = options;
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop && { stop }),
    ...(seed !== undefined && { seed }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
  };
}
