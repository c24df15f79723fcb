import { describe, expect, it } from 'vitest';
import type { ReplyChunk, SessionFault, SessionSignal } from '../../../../src/core/session/session-signal.ts';
import { HeldSignals } from '../../../../src/runtime/cluster/held-signals.ts';

/** Signals of a node whose lease the test renews and ends. */
function start() {
  let renewed: () => void = () => undefined;
  const lease = {
    isHeld: true,
    onRenewed: (listener: () => void) => {
      renewed = listener;
      return () => undefined;
    },
  };
  const told: SessionSignal[] = [];
  const held = new HeldSignals(lease, (signal) => told.push(signal));
  const renew = (isHeld = true): void => {
    lease.isHeld = isHeld;
    renewed();
  };
  return { lease, told, held, renew };
}

const chunk = (content: string): ReplyChunk => ({
  type: 'reply.chunk',
  sessionId: 's',
  turnId: 't',
  step: 1,
  offset: 0,
  content,
});
const FAULT: SessionFault = {
  type: 'session.fault',
  sessionId: 's',
  error: { code: 'INTERNAL_ERROR', message: 'It failed.', details: {} },
};

describe('the signals of a node', () => {
  it('are told at once while its lease is held', () => {
    const { held, told } = start();
    held.publish(chunk('a'));
    expect(told).toEqual([chunk('a')]);
  });

  it('are kept back while its lease may have ended, and told in their order when it is held after all', () => {
    const { held, lease, told, renew } = start();
    lease.isHeld = false;
    held.publish(chunk('a'));
    held.publish(chunk('b'));
    renew(false);
    expect(told).toEqual([]);
    renew();
    expect(told).toEqual([chunk('a'), chunk('b')]);
    held.publish(chunk('c'));
    expect(told).toHaveLength(3);
  });

  it('that were kept back come before a new one, also if nobody said that the lease is held again', () => {
    const { held, lease, told } = start();
    lease.isHeld = false;
    held.publish(chunk('a'));
    lease.isHeld = true;
    held.publish(chunk('b'));
    expect(told).toEqual([chunk('a'), chunk('b')]);
  });

  it('are told once, although the lease is renewed again and again', () => {
    const { held, lease, told, renew } = start();
    lease.isHeld = false;
    held.publish(chunk('a'));
    renew();
    renew();
    expect(told).toEqual([chunk('a')]);
  });

  it('are told whatever the lease is if they say that nothing is certain, but not before earlier ones', () => {
    const { held, lease, told, renew } = start();
    lease.isHeld = false;
    held.publish(FAULT);
    expect(told).toEqual([FAULT]);
    held.publish(chunk('a'));
    held.publish(FAULT);
    expect(told).toEqual([FAULT]);
    renew();
    expect(told).toEqual([FAULT, chunk('a'), FAULT]);
  });

  it('that are kept back are known by the seq of the first event', () => {
    const { held, lease, renew } = start();
    const event = (seq: number): SessionSignal => ({
      sessionId: 's',
      seq,
      time: 0,
      meta: null,
      event: { type: 'turn.started', turnId: 't' },
    });
    held.publish(event(1));
    lease.isHeld = false;
    held.publish(chunk('a'));
    expect(held.toldUpTo('s')).toBe(Infinity);
    held.publish(event(2));
    held.publish(event(3));
    expect([held.toldUpTo('s'), held.toldUpTo('another')]).toEqual([1, Infinity]);
    renew();
    expect(held.toldUpTo('s')).toBe(Infinity);
  });

  it('are kept up to a bound: beyond it pieces of replies are left out, and no event', () => {
    const { held, lease, told, renew } = start();
    lease.isHeld = false;
    for (let count = 0; count < 100_001; count += 1) held.publish(chunk('a'));
    held.publish(FAULT);
    expect(held.size).toBe(100_001);
    renew();
    expect(held.size).toBe(0);
    expect(told).toHaveLength(100_001);
    expect(told.at(-1)).toBe(FAULT);
  });
});
