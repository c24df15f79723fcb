import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import type { ServerEra } from '../../../ports/tool-server.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';

/** The revisions with sessions, newest first. */
export const SESSION_VERSIONS = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;
export const STATELESS_VERSION = '2026-07-28';

/** What a server says of itself before it works. */
export interface ServerHello {
  readonly era: ServerEra;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

const Capabilities = z.record(z.string(), z.unknown());
const Initialized = z.object({
  protocolVersion: z.string(),
  capabilities: Capabilities,
  instructions: z.string().nullish(),
});
const Discovered = z.object({
  supportedVersions: z.array(z.string()),
  capabilities: Capabilities,
  instructions: z.string().nullish(),
});

/** Reads the answer to `initialize`. */
export function initializedServer(result: JsonObject): ServerHello {
  const parsed = Initialized.safeParse(result);
  if (!parsed.success) throw new InvalidAnswerError(parsed.error);
  const { protocolVersion: version, capabilities, instructions } = parsed.data;
  if (!SESSION_VERSIONS.some((known) => known === version))
    throw new Error(`the server speaks a revision of MCP that this service does not know: ${version}`);
  return { era: 'sessions', version, capabilities, instructions: instructions ?? undefined };
}

/** Reads the answer to `server/discover`. @returns null if the server does not speak a stateless revision that is known. */
export function discoveredServer(result: JsonObject): ServerHello | null {
  const parsed = Discovered.safeParse(result);
  if (!parsed.success || !parsed.data.supportedVersions.includes(STATELESS_VERSION)) return null;
  const { capabilities, instructions } = parsed.data;
  return {
    era: 'stateless',
    version: STATELESS_VERSION,
    capabilities,
    instructions: instructions ?? undefined,
  };
}

/** What a server says that it tells when it changes. */
export interface ToldChanges {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
}

const Changing = z.object({ listChanged: z.boolean().nullish() }).nullish().catch(undefined);
const ToldBy = z.object({ tools: Changing, prompts: Changing, resources: Changing });

export function toldChanges(capabilities: JsonObject): ToldChanges {
  const { tools, prompts, resources } = ToldBy.parse(capabilities);
  return {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resources: resources?.listChanged === true,
  };
}
