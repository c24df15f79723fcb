import { z } from 'zod';
import { TimeoutMs } from '../timeout-ms.ts';

/** Tools that a client may lend to one turn. Each is a schema that is compiled. */
export const MAX_CLIENT_TOOLS = 1_000;

/** A tool that a client lends to a turn. The model knows it by this name, and the client runs its calls. */
export const ClientTool = z.object({
  name: z
    .string()
    .regex(
      /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
      'must be 1 to 64 characters of A-Z a-z 0-9 _ - and not start with a digit or -',
    ),
  description: z.string().default(''),
  inputSchema: z
    .record(z.string(), z.unknown())
    .default({ type: 'object' })
    .describe('A JSON Schema of type object.'),
});
export type ClientTool = z.infer<typeof ClientTool>;
/** As its client writes it. */
export type LentTool = z.input<typeof ClientTool>;

/** The settings of the agent file for the tools of clients. */
export const ClientToolsConfig = z.strictObject({
  /** How long a call waits for its client. After that it has failed. */
  expiresAfterMs: TimeoutMs.default(3_600_000),
});
export type ClientToolsConfig = z.infer<typeof ClientToolsConfig>;
