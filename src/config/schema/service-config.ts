import { z } from 'zod';
import { AuthConfig } from './auth-config.ts';

/** The service file: what belongs to the service and not to an agent. */
export const ServiceConfig = z.strictObject({
  /** The agent file, from the folder of this file. `--agent` wins over it. */
  agent: z.string().min(1).optional(),
  /** Without it, nobody is authenticated, and the service listens only to its own machine. */
  auth: AuthConfig.optional(),
});
export type ServiceConfig = z.infer<typeof ServiceConfig>;
