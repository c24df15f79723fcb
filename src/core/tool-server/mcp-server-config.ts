import { z } from 'zod';
import { canonicalJson } from '../content-hash.ts';
import { TimeoutMs } from '../timeout-ms.ts';
import { OAuthConfig } from './oauth-config.ts';
import { HttpUrl, readOtherClients } from './other-clients.ts';
import { RootConfig } from './root.ts';
import { SamplingConfig } from './sampling-config.ts';

/** Whether the server of an agent file is left out at the start. */
const disabled = z.boolean().optional();

/** What the server is told, and may ask, while it works on a call. */
const questions = {
  /** In place of the `roots` of the agent. */
  roots: z.array(RootConfig).optional(),
  /** Without it, the server may not ask the agent's model. */
  sampling: SamplingConfig.optional(),
};

/** A tool server that the service starts as a child process. */
export const StdioServerConfig = z.strictObject({
  type: z.literal('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  /** Added to the few variables of the service's own environment that the process inherits. */
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().min(1).optional(),
  /** Longest wait for the handshake or for one tool call, in milliseconds. */
  timeout: TimeoutMs.optional(),
  description: z.string().optional(),
  ...questions,
  disabled,
});

export const HttpServerConfig = z.strictObject({
  type: z.literal('http'),
  baseUrl: HttpUrl,
  headers: z.record(z.string(), z.string()).optional(),
  /** How to authorize if the server answers 401. `false`: a 401 stays an error. */
  oauth: z.union([z.literal(false), OAuthConfig]).optional(),
  timeout: TimeoutMs.optional(),
  description: z.string().optional(),
  ...questions,
  disabled,
});

/** How to connect a tool server. Reads what other MCP clients write, too. */
export const McpServerConfig = z.preprocess(
  readOtherClients,
  z.discriminatedUnion('type', [StdioServerConfig, HttpServerConfig]),
);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

/** Whether they say the same. A file that is read again has other objects for servers that have not changed. */
export function isSameConfig(one: McpServerConfig | undefined, other: McpServerConfig | undefined): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** The name of a tool server. URLs and logs contain it, so it has no slashes, and no spaces at its ends. */
export const McpServerName = z
  .string()
  .regex(
    /^[^\s/\\?#%\p{Cc}](?:[^/\\?#%\p{Cc}]{0,126}[^\s/\\?#%\p{Cc}])?$/u,
    'must be 1 to 128 characters without / \\ ? # %, line breaks and other control characters, and no space at its ends',
  )
  // Objects by name cannot have it.
  .refine((name) => name !== '__proto__', 'must not be __proto__')
  // URLs and JSON of others cannot have it.
  .refine((name) => name.isWellFormed(), 'must be valid Unicode, without half of a surrogate pair')
  // URLs leave them out.
  .refine((name) => !/^\.\.?$/.test(name), 'must not be . or ..');
