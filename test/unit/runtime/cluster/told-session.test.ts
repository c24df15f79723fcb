import { expect, it } from 'vitest';
import type { SessionSignal } from '../../../../src/core/session/session-signal.ts';
import { ToldSession } from '../../../../src/runtime/cluster/told-session.ts';

it('recognizes the next session, also if its place was looked up when the clients had nothing', () => {
  const told: SessionSignal[] = [];
  const session = new ToldSession({
    sessionId: () => 's',
    tell: (signal) => told.push(signal),
    onEnd: () => undefined,
  });
  const before = session.mark;
  session.moveTo(1);
  session.noteBegan(100);
  expect(session.compare({ head: 1, began: 100 }, before)).toBe(false);
  expect(session.compare({ head: 2, began: 200 }, session.mark)).toBe(true);
  expect(told).toEqual([expect.objectContaining({ seq: 2, event: { type: 'session.deleted' } })]);
});
