import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { prefixedAgents } from '../../../src/app/agents/unserved-agents.ts';
import { serviceOrigin } from '../../../src/core/request/request-origin.ts';

async function storeWith(...streams: readonly string[]) {
  const store = memoryEventStore();
  for (const stream of streams)
    await store.append(stream, 0, [{ type: 'session.reset' }], { origin: serviceOrigin() });
  return store;
}

describe('the agents that the log has conversations of', () => {
  it('are found by one look for each, also if one id begins with another', async () => {
    const ids = ['a', 'a-b', 'a.b', 'ab', 'b', 'Z'];
    const sessions = ids.flatMap((id) => [`~agent:${id}:default`, `~agent:${id}:acme/key:ci/plan`]);
    const store = await storeWith('default', '~api-keys', '~agents', ...sessions);
    const asked: string[] = [];
    const watched = {
      streamIds: (after: string, limit: number) => {
        asked.push(after);
        return store.streamIds(after, limit);
      },
    };
    expect((await prefixedAgents(watched)).toSorted()).toEqual(ids.toSorted());
    expect(asked).toHaveLength(ids.length + 1);
  });

  it('are none where the service keeps other things only', async () => {
    const store = await storeWith('default', '~agent:sales:~grants', '~audit:2026-01-01');
    expect(await prefixedAgents(store)).toEqual([]);
  });
});
