import { afterEach, describe, expect, it, vi } from 'vitest';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { DIRECT, LOST } from '../../../support/cluster/memory-link.ts';
import { memoryPair } from '../../../support/cluster/memory-node.ts';

/** After which a session in which nothing goes on has left memory. */
const IDLE_MS = 95_000;

afterEach(() => {
  vi.useRealTimers();
});

describe('a session of which a node had nothing', () => {
  it('is there for that node when another node has begun it, also if the node does not hear of that', async () => {
    await using nodes = await memoryPair();
    const { network, one: beginning, other } = nodes;
    expect(await other.bus.send('turn.cancel', { sessionId: 's', reason: 'enough' }, ANYONE)).toBe(false);
    network.way = (text) => (text.startsWith('{"type":"claimed"') ? LOST : DIRECT);
    await beginning.bus.send('turn.start', { sessionId: 's', turnId: 't1', text: 'hello' }, ANYONE);
    const renamed = await other.bus.send('session.rename', { sessionId: 's', title: 'a title' }, ANYONE);
    expect(renamed).toEqual({ title: 'a title' });
  });

  it.each([
    ['it has left memory', IDLE_MS, DIRECT],
    ['the node does not hear of that', 0, LOST],
    ['it has left memory, and the node does not hear of that', IDLE_MS, LOST],
  ])('is heard there when another node begins it, also if %s', async (_, idleMs, way) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    await using nodes = await memoryPair();
    const { network, one: beginning, other: listening } = nodes;
    const heard: string[] = [];
    listening.bus.onSession('s', {
      hear: (signal) => heard.push('event' in signal ? signal.event.type : signal.type),
    });
    // There is nothing to cancel, and so the empty session is in memory, as if it were to begin here.
    expect(await listening.bus.send('turn.cancel', { sessionId: 's', reason: 'enough' }, ANYONE)).toBe(false);
    vi.advanceTimersByTime(idleMs);
    network.way = (text) => (text.startsWith('{"type":"claimed"') ? way : DIRECT);
    await beginning.bus.send('turn.start', { sessionId: 's', turnId: 't1', text: 'hello' }, ANYONE);
    await expect
      .poll(async () => {
        // Looks at what others own, from time to time.
        await listening.membership.refresh();
        return heard;
      })
      .toContain('turn.completed');
  });
});
