import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { SessionArchive } from '../../../src/runtime/sessions/session-archive.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const HOUR_MS = 3_600_000;

/** Rigs on one log and one clock. The time of day of a rig may be behind that of the log. */
function service(expiresAfterMs: number | null = HOUR_MS) {
  const clock = new SimulatedClock();
  const now = (): number => clock.now();
  const store = memoryEventStore(now);
  const start = (limitMs = expiresAfterMs, behindMs = 0) =>
    new SessionRig({
      store,
      clock,
      now: () => now() - behindMs,
      tools: new DirectedTools({ pay: {}, look: {} }),
      stepTimeoutMs: 100 * HOUR_MS,
      approval: { rules: [], default: 'ask', ...(limitMs !== null && { expiresAfterMs: limitMs }) },
    });
  return { clock, start };
}

async function ask(rig: SessionRig, sessionId = 's', text = 'pay'): Promise<void> {
  const heard = rig.listen(sessionId);
  await rig.say(text, { sessionId, turnId: `turn of ${sessionId}` });
  (await rig.model.callFor(text)).askFor({ name: 'pay', callId: `call of ${sessionId}` });
  await heard.event('approval.requested');
}

describe('the list of waiting approvals', () => {
  it('has those of the wanted sessions only', async () => {
    const rig = service().start();
    for (const sessionId of ['a', 'b', 'c']) await ask(rig, sessionId, `pay for ${sessionId}`);
    const { journal, fold, registry: sessions } = rig;
    const archive = new SessionArchive({ journal, fold, sessions, recovery: { over: Promise.resolve() } });
    const listed = async (...wanted: string[]) => {
      const { approvals, count } = await archive.approvals({ limit: 10, sessions: new Set(wanted) });
      return [count, approvals.map(({ sessionId }) => sessionId).toSorted()];
    };
    expect(await listed('a', 'c', 'x')).toEqual([2, ['a', 'c']]);
    expect(await listed()).toEqual([0, []]);
    expect(await archive.approvals({ limit: 1 })).toMatchObject({ count: 3 });
  });
});

describe('an approval that nobody gives', () => {
  it('expires after its time, and not before', async () => {
    const { clock, start } = service();
    const rig = start();
    const heard = rig.listen();
    await ask(rig);
    clock.increment(HOUR_MS - 1);
    const session = await rig.registry.session('s');
    await session.settled();
    expect(rig.registry.loaded.waitingApprovals).toHaveLength(1);
    clock.increment(1);
    expect(await heard.event('tool-call.failed')).toMatchObject({
      callId: 'call of s',
      cause: { kind: 'approval-expired', afterMs: HOUR_MS },
      reason: 'nobody approved it within 1 hour',
    });
    expect(rig.registry.loaded.waitingApprovals).toEqual([]);
    const next = await rig.model.call(1);
    expect(next.request.messages.at(-1)).toMatchObject({
      text: expect.stringContaining('nobody approved it within 1 hour'),
    });
    const [envelope] = (await rig.journal.read('s', 0)).filter(
      ({ event }) => event.type === 'tool-call.failed',
    );
    expect(envelope?.meta?.actor).toEqual({ kind: 'service' });
  });

  it('does not expire once it was given', async () => {
    const { clock, start } = service();
    const rig = start();
    await ask(rig);
    const session = await rig.registry.session('s');
    await session.answer({ type: 'approval.answer', callId: 'call of s', approved: true }, CLIENT);
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('Done.');
    await session.idle();
    const before = await rig.logged();
    clock.increment(2 * HOUR_MS);
    await session.settled();
    expect(await rig.logged()).toEqual(before);
  });

  it('expires at the same moment after a restart, whatever the agent file says by then', async () => {
    const { clock, start } = service();
    const stopped = start();
    await ask(stopped);
    clock.increment(HOUR_MS / 2);
    await stopped.registry.drain(0);
    const rig = start(10 * HOUR_MS);
    const heard = rig.listen();
    await rig.registry.recover();
    expect(rig.registry.loaded.waitingApprovals).toMatchObject([
      { since: '1970-01-01T00:00:00.000Z', expiresAt: '1970-01-01T01:00:00.000Z' },
    ]);
    clock.increment(HOUR_MS / 2 - 1);
    const session = await rig.registry.session('s');
    await session.settled();
    expect(rig.registry.loaded.waitingApprovals).toHaveLength(1);
    clock.increment(1);
    await heard.event('tool-call.failed');
  });

  it('expires right after a start if its time was over while the service was stopped', async () => {
    const { clock, start } = service();
    const stopped = start();
    await ask(stopped);
    await stopped.registry.drain(0);
    clock.increment(2 * HOUR_MS);
    const rig = start();
    const heard = rig.listen();
    await rig.registry.recover();
    clock.increment(0);
    await heard.event('tool-call.failed');
  });

  it('waits no longer than its whole time, and not less, when the time of day was set back', async () => {
    const { clock, start } = service();
    const stopped = start();
    await ask(stopped);
    await stopped.registry.drain(0);
    const rig = start(HOUR_MS, 1_000 * HOUR_MS);
    const heard = rig.listen();
    await rig.registry.recover();
    clock.increment(HOUR_MS - 1);
    const session = await rig.registry.session('s');
    await session.settled();
    expect(rig.registry.loaded.waitingApprovals).toHaveLength(1);
    clock.increment(1);
    await heard.event('tool-call.failed');
  });

  it('waits for ever without a limit, and sets no timer', async () => {
    const { clock, start } = service(null);
    const rig = start();
    await ask(rig);
    clock.increment(1_000 * HOUR_MS);
    await (await rig.registry.session('s')).settled();
    expect(rig.registry.loaded.waitingApprovals).toHaveLength(1);
    expect(rig.registry.loaded.waitingApprovals[0]).not.toHaveProperty('expiresAt');
  });
});

describe('the approvals of all sessions', () => {
  it('are listed oldest first, and known after a restart', async () => {
    const { clock, start } = service();
    const rig = start();
    await ask(rig, 'b');
    clock.increment(1_000);
    await rig.say('again', { sessionId: 'a', turnId: 'turn of a' });
    (await rig.model.callFor('again')).askFor(
      { name: 'look', callId: 'one' },
      { name: 'pay', callId: 'two', arguments: { sum: 5 } },
    );
    const session = await rig.registry.session('a');
    await session.idle();
    const listed = rig.registry.loaded.waitingApprovals;
    expect(listed.map(({ sessionId, callId }) => [sessionId, callId])).toEqual([
      ['b', 'call of b'],
      ['a', 'one'],
      ['a', 'two'],
    ]);
    expect(listed[2]).toEqual({
      sessionId: 'a',
      turnId: 'turn of a',
      callId: 'two',
      toolName: 'pay',
      serverId: 'tools',
      arguments: { sum: 5 },
      argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      since: '1970-01-01T00:00:01.000Z',
      expiresAt: '1970-01-01T01:00:01.000Z',
    });
    await rig.registry.drain(0);
    const later = start();
    await later.registry.recover();
    expect(later.registry.loaded.waitingApprovals).toEqual(listed);
  });

  it('are listed by session if they began to wait at the same time, whichever session was used first', async () => {
    const rig = service().start();
    for (const sessionId of ['b', 'c', 'a']) await ask(rig, sessionId, `pay for ${sessionId}`);
    expect(rig.registry.loaded.waitingApprovals.map(({ sessionId }) => sessionId)).toEqual(['a', 'b', 'c']);
  });
});
