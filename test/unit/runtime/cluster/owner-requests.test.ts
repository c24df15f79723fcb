import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { StorageAwayError } from '../../../../src/core/log/storage-away.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { answerTurn } from '../../../../src/gateway/turns/turn-answer.ts';
import type { RequestOf } from '../../../../src/ports/service-requests.ts';
import { ClusterBus } from '../../../../src/runtime/cluster/cluster-bus.ts';
import { DIRECT, LOST } from '../../../support/cluster/memory-link.ts';
import {
  isEvent,
  type MemoryNode,
  type MemoryPair,
  memoryPair,
  nextSignal,
} from '../../../support/cluster/memory-node.ts';
import { DirectedModel } from '../../../support/models/directed-model.ts';

const PATIENCE_MS = 60_000;
const EXPIRES_MS = 86_400_000;

/** Says something at the node. Resolves when it is answered. */
async function say({ bus }: MemoryNode, sessionId: string): Promise<void> {
  const completed = nextSignal(bus, sessionId, isEvent('turn.completed'));
  await bus.send('turn.start', { sessionId, turnId: crypto.randomUUID(), text: 'hello' }, ANYONE);
  await completed;
}

/** From here on, no answer of a node arrives. @returns what resolves when one was lost. */
function loseAnswers(network: MemoryPair['network']): { promise: Promise<void> } {
  const lost = Promise.withResolvers<void>();
  network.way = (text) => {
    if (!text.startsWith('{"type":"answer"')) return DIRECT;
    lost.resolve();
    return LOST;
  };
  return lost;
}

/** The session leaves memory, as after some time in which nobody has used it. */
async function evict({ bus }: MemoryNode, sessionId: string): Promise<void> {
  if (!(bus instanceof ClusterBus)) return expect.unreachable('the node has a cluster');
  await expect
    .poll(() => {
      bus.lost(sessionId);
      return bus.load.sessions;
    })
    .toBe(0);
}

describe('a message to a session of another node', () => {
  it('is refused if nobody can say where its session is, because its end might not be heard', async () => {
    const model = new DirectedModel();
    await using nodes = await memoryPair({ model });
    const { shared, one, other } = nodes;
    const begun = say(one, 's');
    (await model.call(0)).answer('Hi!');
    await begun;
    await evict(one, 's');
    // The other node learns who has the session.
    await other.bus.send('session.rename', { sessionId: 's', title: 'Mine' }, ANYONE);
    await evict(one, 's');
    // The owner cannot read the position of the session, and the other node cannot read its place.
    const sessions = shared.log.sessions.bind(shared.log);
    let failures = 0;
    shared.log.sessions = (...filter) => {
      failures += 1;
      if (failures > 2) return sessions(...filter);
      throw new StorageAwayError('the log cannot be read');
    };
    const ask = () => {
      const message = { sessionId: 's', turnId: crypto.randomUUID(), text: 'and then?' };
      return answerTurn(other.bus, message, { context: ANYONE });
    };
    await expect(ask()).rejects.toThrow(StorageAwayError);
    const reply = ask();
    (await model.call(1)).answer('Then this.');
    expect(await reply).toEqual({ content: 'Then this.' });
  });

  it('is heard to the end of its turn where turns are counted, and not for ever if it is repeated', async () => {
    await using nodes = await memoryPair();
    const { one, other } = nodes;
    // As a service does that counts the running turns of its clients.
    other.agent.bus.onEverySession(() => undefined);
    const key = { id: 'k', fingerprint: 'f', expiresAt: Date.now() + EXPIRES_MS };
    const message = () => ({ sessionId: 's', turnId: crypto.randomUUID(), text: 'hello', key });
    const completed = nextSignal(one.bus, 's', isEvent('turn.completed'));
    const begun = await one.bus.send('turn.start', message(), ANYONE);
    await completed;
    const repeated = await other.bus.send('turn.start', message(), ANYONE);
    expect(repeated).toMatchObject({ turnId: begun.turnId, outcome: { status: 'completed' } });
    expect(other.cluster.feeds.size).toBe(0);
  });
});

describe('a session of a node that is lost', () => {
  it('is not used by the next one before its clients have what they lack, also if that cannot be read at once', async () => {
    const model = new DirectedModel();
    await using nodes = await memoryPair({ model });
    const { shared, network, one, other } = nodes;
    const told: number[] = [];
    const completed = nextSignal(other.bus, 's', isEvent('turn.completed'));
    other.bus.onSession('s', { hear: (signal) => 'event' in signal && told.push(signal.seq) });
    await other.bus.send('session.position', { sessionId: 's' }, ANYONE);
    const ended = nextSignal(one.bus, 's', isEvent('turn.completed'));
    await one.bus.send('turn.start', { sessionId: 's', turnId: 't1', text: 'hello' }, ANYONE);
    await expect.poll(() => told).toEqual([1, 2]);
    network.way = () => LOST;
    (await model.call(0)).answer('Hi!');
    await ended;
    // The log is away until a read after the claim has failed.
    const read = shared.log.pages.bind(shared.log);
    let isAway = true;
    shared.log.pages = (...wanted) => {
      if (!isAway) return read(...wanted);
      isAway = !other.membership.owns('s');
      throw new StorageAwayError('the log cannot be read');
    };
    shared.rows.delete(one.membership.self);
    await other.membership.refresh();
    const renamed = () => other.bus.send('session.rename', { sessionId: 's', title: 'Mine' }, ANYONE);
    await expect(renamed()).rejects.toThrow(StorageAwayError);
    await renamed();
    await completed;
    expect(told).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('what only reads a session', () => {
  const READS = ['session.rest', 'push.list'] as const;
  type Read = (typeof READS)[number];
  const read = ({ bus }: MemoryNode, type: Read) =>
    bus.send(type, { sessionId: 's', turnId: 't' } satisfies RequestOf<Read>, ANYONE);

  /** A client of the other node hears a session of the first one, whose answers get lost from then on. */
  async function unanswered({ network, one, other }: MemoryPair): Promise<{ promise: Promise<void> }> {
    await say(one, 's');
    other.bus.onSession('s', { hear: () => undefined });
    await other.bus.send('session.position', { sessionId: 's' }, ANYONE);
    return loseAnswers(network);
  }

  it.each(READS)('is never in doubt: %s is 503 if the owner cannot be reached', async (type) => {
    await using nodes = await memoryPair();
    const { promise: lost } = await unanswered(nodes);
    const asked = read(nodes.other, type);
    await lost;
    nodes.other.cluster.messenger[Symbol.dispose]();
    await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is in the log: a view needs no answer of the owner, however large it is', async () => {
    await using nodes = await memoryPair();
    await unanswered(nodes);
    const view = await nodes.other.bus.send('session.view', { sessionId: 's' }, ANYONE);
    expect(view).toMatchObject({ head: 4, history: [{ content: 'hello' }, { role: 'assistant' }] });
  });

  it.each(READS)('is read elsewhere if the owner is gone: %s', async (type) => {
    await using nodes = await memoryPair();
    const { shared, network, one, other } = nodes;
    const { promise: lost } = await unanswered(nodes);
    const asked = read(other, type);
    await lost;
    network.way = () => DIRECT;
    shared.rows.delete(one.membership.self);
    await other.membership.refresh();
    await asked;
  });
});

describe('a node that stops', () => {
  it('takes messages and cancellations in a session whose step still runs', async () => {
    const model = new DirectedModel();
    await using nodes = await memoryPair({ model });
    const { one, other } = nodes;
    const [running, next] = [crypto.randomUUID(), crypto.randomUUID()];
    await one.bus.send('turn.start', { sessionId: 's', turnId: running, text: 'hello' }, ANYONE);
    await model.call(0);
    const drained = one.agent.drain(PATIENCE_MS);
    await expect.poll(() => other.cluster.others[0]?.isDraining).toBe(true);
    const cancellation = { sessionId: 's', turnId: running, reason: 'enough' };
    const message = { sessionId: 's', turnId: next, text: 'next' };
    expect(await other.bus.send('turn.start', message, ANYONE)).toEqual({ turnId: next });
    const completed = nextSignal(other.bus, 's', isEvent('turn.completed'));
    expect(await other.bus.send('turn.cancel', cancellation, ANYONE)).toBe(true);
    await drained;
    // The other node has the session, and its next turn.
    expect(await completed).toMatchObject({ event: { turnId: next } });
  });
});

describe('a session that has left the memory of its node', () => {
  it.each(['one', 'other'] as const)(
    'goes on at another node as soon as its own one stops, also when node %s is asked',
    async (asked) => {
      const model = new DirectedModel();
      await using nodes = await memoryPair({ model });
      const { one, other } = nodes;
      const said = say(one, 'idle');
      (await model.call(0)).answer('Hi!');
      await said;
      await evict(one, 'idle');
      const running = { sessionId: 'busy', turnId: crypto.randomUUID(), text: 'take your time' };
      await one.bus.send('turn.start', running, ANYONE);
      const step = await model.call(1);
      const drained = one.agent.drain(PATIENCE_MS);
      await expect.poll(() => other.cluster.others[0]?.isDraining).toBe(true);
      const message = { sessionId: 'idle', turnId: crypto.randomUUID(), text: 'and then?' };
      const completed = nextSignal(nodes[asked].bus, 'idle', isEvent('turn.completed'));
      expect(await nodes[asked].bus.send('turn.start', message, ANYONE)).toEqual({ turnId: message.turnId });
      expect(await completed).toMatchObject({ event: { turnId: message.turnId } });
      expect(other.membership.owns('idle')).toBe(true);
      step.answer('Done.');
      await drained;
    },
  );
});

describe('a turn that goes on at another node', () => {
  it('is heard to its end where turns are counted, also when no client hears it any more', async () => {
    await using nodes = await memoryPair();
    const { agent, cluster } = nodes.other;
    const { bus } = agent;
    if (!(bus instanceof ClusterBus)) return expect.unreachable('the node has a cluster');
    const tell = (seq: number, event: SessionEvent) =>
      bus.tell({ sessionId: 's', seq, time: 0, meta: null, event });
    tell(1, { type: 'turn.resumed', turnId: 't', attempt: 2 });
    expect(cluster.feeds.size).toBe(0);
    bus.onEverySession(() => undefined);
    tell(2, { type: 'turn.resumed', turnId: 't', attempt: 3 });
    expect(cluster.feeds.size).toBe(1);
    // It is open in the log, also if it does not go on by itself.
    const error = { code: 'INTERNAL_ERROR', message: 'It failed.', details: { continues: false } } as const;
    bus.tell({ type: 'session.fault', sessionId: 's', error });
    expect(cluster.feeds.size).toBe(1);
    tell(3, { type: 'turn.completed', turnId: 't', content: 'done' });
    expect(cluster.feeds.size).toBe(0);
  });
});

describe('a node that stops', () => {
  it.each(['session.view', 'session.position'] as const)(
    'has another one answer %s for a session that it does not have',
    async (type) => {
      await using nodes = await memoryPair();
      const { one, other } = nodes;
      await say(other, 'of other');
      // Only what it is asked for from now on meets it while it stops.
      await one.agent.drain(0);
      const answer = await one.bus.send(type, { sessionId: 'of other' }, ANYONE);
      expect(answer).toMatchObject({ head: 4 });
    },
  );
});

describe('a session that is deleted by a node', () => {
  it('is deleted for the client, too, when the node is lost before it answers', async () => {
    await using nodes = await memoryPair();
    const { shared, network, one, other } = nodes;
    await say(one, 's');
    await other.bus.send('session.position', { sessionId: 's' }, ANYONE);
    const lost = loseAnswers(network);
    const deleted = other.bus.send('session.delete', { sessionId: 's' }, ANYONE);
    await lost.promise;
    expect(await shared.log.sessions()).toEqual([]);
    shared.rows.delete(one.membership.self);
    network.way = () => DIRECT;
    await other.membership.refresh();
    await deleted;
    await expect(other.bus.send('session.delete', { sessionId: 's' }, ANYONE)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });
});

describe('a cancellation of the running turn', () => {
  it('is done once when the node is lost before it answers: the next turn goes on', async () => {
    const model = new DirectedModel();
    await using nodes = await memoryPair({ model, otherModel: model });
    const { shared, network, one, other } = nodes;
    const [running, next] = [crypto.randomUUID(), crypto.randomUUID()];
    await one.bus.send('turn.start', { sessionId: 's', turnId: running, text: 'hello' }, ANYONE);
    await model.call(0);
    await one.bus.send('turn.start', { sessionId: 's', turnId: next, text: 'next' }, ANYONE);
    const lost = loseAnswers(network);
    const cancelled = other.bus.send('turn.cancel', { sessionId: 's', reason: 'enough' }, ANYONE);
    await Promise.all([lost.promise, model.call(1)]);
    shared.rows.delete(one.membership.self);
    network.way = () => DIRECT;
    await other.membership.refresh();
    expect(await cancelled).toBe(true);
    const completed = nextSignal(other.bus, 's', isEvent('turn.completed'));
    (await model.call(2)).answer('Done.');
    expect(await completed).toMatchObject({ event: { turnId: next } });
    const events = (await shared.log.read('s', 0)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'turn.cancelled')).toMatchObject([{ turnId: running }]);
  });
});

describe('a session that there is not', () => {
  it('is nobody’s after a request to change it, and whoever begins it is heard', async () => {
    await using nodes = await memoryPair();
    const { one, other } = nodes;
    const refusal = { code: 'SESSION_NOT_FOUND' };
    const completed = nextSignal(one.bus, 's', isEvent('turn.completed'));
    await expect(one.bus.send('session.delete', { sessionId: 's' }, ANYONE)).rejects.toMatchObject(refusal);
    expect(one.membership.owns('s')).toBe(false);
    await say(other, 's');
    expect(other.membership.owns('s')).toBe(true);
    expect(await completed).toMatchObject({ sessionId: 's' });
    // The owner is asked, and has nothing of another session to keep.
    await one.bus.send('session.delete', { sessionId: 's' }, ANYONE);
    expect(other.membership.owns('s')).toBe(false);
  });

  it('stays this node’s while somebody begins it', async () => {
    await using nodes = await memoryPair();
    const { one } = nodes;
    const named = one.bus.send('session.rename', { sessionId: 's', title: 'Mine' }, ANYONE).catch(() => null);
    const said = say(one, 's');
    await Promise.all([named, said]);
    await say(one, 's');
    expect(one.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
