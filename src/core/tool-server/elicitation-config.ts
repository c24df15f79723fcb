import { z } from 'zod';
import { TimeoutMs } from '../timeout-ms.ts';

/** The settings of the agent file for what tool servers ask people. */
export const ElicitationConfig = z.strictObject({
  /** How long a question waits for its answer. After that the server is told that there is none. */
  expiresAfterMs: TimeoutMs.default(3_600_000),
});
export type ElicitationConfig = z.infer<typeof ElicitationConfig>;
