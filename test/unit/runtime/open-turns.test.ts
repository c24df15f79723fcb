import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { LimitedRequests } from '../../../src/runtime/access/limited-requests.ts';
import { OpenTurns } from '../../../src/runtime/access/open-turns.ts';
import { SessionQuota } from '../../../src/runtime/access/session-quota.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

const client = (principal: string, tenant = 'acme') => ({ ...ANYONE, principal, tenant });

const signal = (sessionId: string, event: object): SessionSignal =>
  ({ sessionId, seq: 2, time: 0, event }) as SessionSignal;

const turn = (turnId: string, sessionId = 'acme/a/s') => ({ sessionId, turnId });

const AGENT = {};

const refusal = (limit: number, of: string) =>
  expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', details: expect.objectContaining({ limit, of }) });

describe('the turns of an agent that goes on with them before its clients can be heard', () => {
  it('count for the owners of their sessions', async () => {
    const store = memoryEventStore();
    const before = new SessionRig({ store });
    await before.say('hello', { sessionId: 'acme/a/s' });
    await before.model.call(0);
    await before.registry.drain(0);
    const { registry, bus } = new SessionRig({ store });
    await registry.recover();
    const requests = new LimitedRequests(
      bus,
      {
        sessions: new SessionQuota({ principal: false, tenant: false }),
        turns: new OpenTurns({ principal: 1, tenant: false }),
        countMessage: () => undefined,
      },
      registry.loaded.openTurns,
    );
    const message = { sessionId: 'acme/a/t', turnId: '2', text: 'more' };
    await expect(requests.send('turn.start', message, client('a'))).rejects.toThrow(refusal(1, 'principal'));
  });
});

describe('the turns of several agents', () => {
  it('are not over when a session of the same name of another agent is deleted', async () => {
    const [one, other] = [new SessionRig().bus, new SessionRig().bus];
    one.handle('turn.start', async ({ turnId }) => ({ turnId }));
    const quotas = {
      sessions: new SessionQuota({ principal: false, tenant: false }),
      turns: new OpenTurns({ principal: 1, tenant: false }),
      countMessage: () => undefined,
    };
    const [requests] = [one, other].map((bus) => new LimitedRequests(bus, quotas, []));
    const start = (turnId: string) =>
      requests?.send('turn.start', { sessionId: 'acme/a/s', turnId, text: 'hello' }, client('a'));
    await start('1');
    other.publish(signal('acme/a/s', { type: 'session.deleted' }));
    await expect(start('2')).rejects.toThrow(refusal(1, 'principal'));
    one.publish(signal('acme/a/s', { type: 'session.deleted' }));
    await start('3');
  });
});

describe('open turns', () => {
  it('count for whoever started them, until their outcome', () => {
    const turns = new OpenTurns({ principal: 1, tenant: 2 });
    turns.open(turn('1'), client('a'), AGENT);
    expect(() => turns.open(turn('2'), client('a'), AGENT)).toThrow(refusal(1, 'principal'));
    turns.open(turn('3'), client('b'), AGENT);
    expect(() => turns.open(turn('4'), client('c'), AGENT)).toThrow(refusal(2, 'tenant'));
    turns.open(turn('5'), client('a', 'orbit'), AGENT);
    turns.hear(signal('acme/a/s', { type: 'turn.cancelled', turnId: '1', reason: 'x' }), AGENT);
    turns.open(turn('6'), client('c'), AGENT);
    expect(turns.refusals).toBe(2);
  });

  it('count for the owner of the session when they go on after a restart, once', () => {
    const turns = new OpenTurns({ principal: 2, tenant: false });
    const resumed = signal('acme/a/s', { type: 'turn.resumed', turnId: '1' });
    turns.hear(resumed, AGENT);
    turns.hear(resumed, AGENT);
    turns.open(turn('2'), client('a'), AGENT);
    expect(() => turns.open(turn('3'), client('a'), AGENT)).toThrow(refusal(2, 'principal'));
    turns.close('1');
    turns.close('1');
    turns.open(turn('3'), client('a'), AGENT);
    expect(() => turns.open(turn('4'), client('a'), AGENT)).toThrow(refusal(2, 'principal'));
  });

  it('are over when their session is deleted, also if nobody heard them end', () => {
    const turns = new OpenTurns({ principal: 2, tenant: false });
    turns.open(turn('1'), client('a'), AGENT);
    turns.open(turn('2', 'acme/a/other'), client('a'), AGENT);
    turns.hear(signal('acme/a/s', { type: 'session.deleted' }), AGENT);
    turns.open(turn('3'), client('a'), AGENT);
    expect(() => turns.open(turn('4'), client('a'), AGENT)).toThrow(refusal(2, 'principal'));
  });
});
