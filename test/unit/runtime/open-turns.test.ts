import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { OpenTurns } from '../../../src/runtime/access/open-turns.ts';

const client = (principal: string, tenant = 'acme') => ({ ...ANYONE, principal, tenant });

const signal = (sessionId: string, event: object): SessionSignal =>
  ({ sessionId, seq: 2, time: 0, event }) as SessionSignal;

const turn = (turnId: string, sessionId = 'acme/a/s') => ({ sessionId, turnId });

const refusal = (limit: number, of: string) =>
  expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', details: expect.objectContaining({ limit, of }) });

describe('open turns', () => {
  it('count for whoever started them, until their outcome', () => {
    const turns = new OpenTurns({ principal: 1, tenant: 2 });
    turns.open(turn('1'), client('a'));
    expect(() => turns.open(turn('2'), client('a'))).toThrow(refusal(1, 'principal'));
    turns.open(turn('3'), client('b'));
    expect(() => turns.open(turn('4'), client('c'))).toThrow(refusal(2, 'tenant'));
    turns.open(turn('5'), client('a', 'orbit'));
    turns.hear(signal('acme/a/s', { type: 'turn.cancelled', turnId: '1', reason: 'x' }));
    turns.open(turn('6'), client('c'));
    expect(turns.refusals).toBe(2);
  });

  it('count for the owner of the session when they go on after a restart, once', () => {
    const turns = new OpenTurns({ principal: 2, tenant: false });
    const resumed = signal('acme/a/s', { type: 'turn.resumed', turnId: '1' });
    turns.hear(resumed);
    turns.hear(resumed);
    turns.open(turn('2'), client('a'));
    expect(() => turns.open(turn('3'), client('a'))).toThrow(refusal(2, 'principal'));
    turns.close('1');
    turns.close('1');
    turns.open(turn('3'), client('a'));
    expect(() => turns.open(turn('4'), client('a'))).toThrow(refusal(2, 'principal'));
  });

  it('are over when their session is deleted, also if nobody heard them end', () => {
    const turns = new OpenTurns({ principal: 2, tenant: false });
    turns.open(turn('1'), client('a'));
    turns.open(turn('2', 'acme/a/other'), client('a'));
    turns.hear(signal('acme/a/s', { type: 'session.deleted' }));
    turns.open(turn('3'), client('a'));
    expect(() => turns.open(turn('4'), client('a'))).toThrow(refusal(2, 'principal'));
  });
});
