import type { AgentId } from '../../core/agent-description.ts';
import { AGENTS_STREAM } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { againWhenStale } from '../../runtime/streams/again-when-stale.ts';

/** The agent whose streams have no prefix; undefined in a log that never had several agents. */
export async function chosenAgent(store: Pick<EventStore, 'read'>): Promise<AgentId | undefined> {
  const [chosen] = await store.read(AGENTS_STREAM, 0, 1);
  return chosen?.event.type === 'unprefixed-agent.chosen' ? chosen.event.agentId : undefined;
}

/** The same, chosen now if it was not: the first one of the first start with several agents, on whichever node. */
export function unprefixedAgent(store: EventStore, first: AgentId): Promise<AgentId> {
  return againWhenStale(async () => {
    const chosen = await chosenAgent(store);
    if (chosen !== undefined) return chosen;
    const event = { type: 'unprefixed-agent.chosen', agentId: first } as const;
    await store.append(AGENTS_STREAM, 0, [event], { origin: serviceOrigin() });
    return first;
  });
}
