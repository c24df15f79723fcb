import { z } from 'zod';
import type { JsonObject } from '../../../core/tool-server/server-peer.ts';
import type { ServerEra } from '../../../ports/tool-server.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';

/** The revisions of the older era, newest first. */
export const SESSION_VERSIONS = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;

/** What a server says of itself before it works. */
export interface ServerHello {
  readonly era: ServerEra;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Whether the server says when its tools have changed. */
  readonly tellsToolChanges: boolean;
}

const Initialized = z.object({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  instructions: z.string().nullish(),
});

const ToolChanges = z.object({ tools: z.object({ listChanged: z.literal(true) }) });

/** Reads the answer to `initialize`. */
export function initializedServer(result: JsonObject): ServerHello {
  const parsed = Initialized.safeParse(result);
  if (!parsed.success) throw new InvalidAnswerError(parsed.error);
  const { protocolVersion: version, capabilities, instructions } = parsed.data;
  if (!SESSION_VERSIONS.some((known) => known === version))
    throw new Error(`the server speaks a revision of MCP that this service does not know: ${version}`);
  return {
    era: 'sessions',
    version,
    capabilities,
    instructions: instructions ?? undefined,
    tellsToolChanges: ToolChanges.safeParse(capabilities).success,
  };
}
