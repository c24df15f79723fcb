import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { unprefixedAgent } from '../../../src/app/agents/unprefixed-agent.ts';
import { AGENTS_STREAM } from '../../../src/core/log/streams.ts';

it('the agent without a prefix is the same on all nodes, also when they start at the same time', async () => {
  const store = memoryEventStore();
  const chosen = await Promise.all(['shop', 'desk', 'lab'].map((first) => unprefixedAgent(store, first)));
  expect(new Set(chosen).size).toBe(1);
  expect(await unprefixedAgent(store, 'other')).toBe(chosen[0]);
  expect(await store.read(AGENTS_STREAM, 0)).toHaveLength(1);
});
