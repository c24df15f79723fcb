import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { forwardingStore } from '../../../../src/app/forwarding-store.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { isEvent, memoryPair, nextSignal } from '../../../support/cluster/memory-node.ts';

describe('a session that is being erased', () => {
  it('is not begun anew before that is done, also if another node claims it meanwhile', async () => {
    const [erased, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const log = memoryEventStore();
    // It is gone in the database, and the answer comes late.
    const erase: typeof log.erase = async (...ids) => {
      await log.erase(...ids);
      erased.resolve();
      await answered.promise;
    };
    await using nodes = await memoryPair({ log: { ...forwardingStore(log), erase } });
    const { shared, one: erasing, other: claiming } = nodes;
    const done = nextSignal(erasing.bus, 's', isEvent('turn.completed'));
    await erasing.bus.send('turn.start', { sessionId: 's', turnId: 't1', text: 'hello' }, ANYONE);
    await done;
    const deleted = erasing.bus.send('session.delete', { sessionId: 's' }, ANYONE);
    await erased.promise;
    // Claims what nobody has, and says so.
    await claiming.bus.send('turn.cancel', { sessionId: 's', reason: 'enough' }, ANYONE);
    // Until the other node has heard that.
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    const begin = (turnId: string) =>
      erasing.bus.send('turn.start', { sessionId: 's', turnId, text: 'again' }, ANYONE);
    await expect(begin('t2')).rejects.toThrow('The session is being deleted.');
    answered.resolve();
    await deleted;
    await begin('t3');
    expect(shared.ownerOf('s')).not.toBeNull();
  });
});
