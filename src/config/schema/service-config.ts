import { basename, extname } from 'node:path';
import { z } from 'zod';
import { AgentId } from '../../core/agent-description.ts';
import { messageOf } from '../../core/thrown.ts';
import { parseBusUrl } from '../addresses/bus-url.ts';
import { parseStoreUrl } from '../addresses/store-url.ts';
import { AuthConfig } from './auth-config.ts';

const AgentEntry = z.union([
  z.string().min(1),
  z.strictObject({ id: AgentId.optional(), file: z.string().min(1) }),
]);

type AgentEntry = z.infer<typeof AgentEntry>;

/** An agent file, and what requests call its agent. */
export interface ListedAgent {
  readonly id: AgentId;
  readonly file: string;
}

/** The service file: what belongs to the service and not to an agent. */
const ServiceFields = z.strictObject({
  /** The agent file, from the folder of this file. `--agent` wins over it. */
  agent: z.string().min(1).optional(),
  /** Several agent files instead. The first agent answers the requests that name none. */
  agents: z.array(AgentEntry).min(1).superRefine(checkIds).transform(listed).optional(),
  /** The PostgreSQL database that has the event log: `postgres://…`. Without it, the log is in the data directory. */
  store: address(parseStoreUrl).optional(),
  /** The NATS servers over which services that share this database hear of each other: `nats://…`. */
  bus: address(parseBusUrl).optional(),
  /** Without it, nobody is authenticated, and the service listens only to its own machine. */
  auth: AuthConfig.optional(),
});

export const ServiceConfig = ServiceFields.superRefine(({ agent, agents = [], auth }, context) => {
  const refuse = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message, params: { isWhole: true } });
  if (auth && !auth.apiKeys && auth.jwt.length === 0)
    refuse(['auth'], 'lets nobody in: set apiKeys to true, or name an identity provider in jwt');
  if (agent !== undefined && agents.length > 0)
    refuse(['agent'], 'must be left out where there is a list of agents: add the file to the list');
});
export type ServiceConfig = z.infer<typeof ServiceConfig>;

/** An agent without an id is called as its file: `agents/support.yml` is `support`. */
function listed(entries: readonly AgentEntry[]): ListedAgent[] {
  return entries.map((entry) => {
    const { id, file } = typeof entry === 'string' ? { id: undefined, file: entry } : entry;
    return { id: id ?? basename(file, extname(file)), file };
  });
}

/** The schema checks the ids that are written. This checks those that are taken from files, and that none is repeated. */
function checkIds(entries: readonly AgentEntry[], context: z.RefinementCtx): void {
  const refuse = (index: number, message: string) =>
    context.addIssue({ code: 'custom', path: [index], message, params: { isWhole: true } });
  const agents = listed(entries);
  for (const [index, { id }] of agents.entries()) {
    const entry = entries[index];
    const hasOwn = typeof entry === 'object' && entry.id !== undefined;
    if (!hasOwn && !AgentId.safeParse(id).success)
      refuse(index, 'needs an id, because the name of its file is none: {id: my-agent, file: …}');
    if (agents.findIndex((other) => other.id === id) < index)
      refuse(index, `has the id ${id} of another agent: give it an id of its own, {id: …, file: …}`);
  }
}

/** The error does not show what was found: the address may have a password. */
function address(parse: (text: string) => unknown) {
  return z.string().superRefine((text, context) => {
    try {
      parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error), params: { isWhole: true } });
    }
  });
}
