import { z } from 'zod';
import type { McpServerConfig } from './mcp-server-config.ts';

export const McpServerStatus = z.enum(['connected', 'connecting', 'error', 'disconnected']);
export type McpServerStatus = z.infer<typeof McpServerStatus>;

/** A tool server as clients see it. `error` is present if `status` is `error`, and says why. */
export const McpServerRecord = z.object({
  id: z.string(),
  name: z.string(),
  status: McpServerStatus,
  type: z.enum(['stdio', 'http']) satisfies z.ZodType<McpServerConfig['type']>,
  description: z.string().optional(),
  error: z.string().optional(),
  details: z
    .object({
      authorizationUrl: z
        .url()
        .describe(
          'A person opens it in a browser to let the service use the server. It works once, for minutes.',
        ),
    })
    .optional(),
});
export type McpServerRecord = z.infer<typeof McpServerRecord>;
