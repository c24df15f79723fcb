import { describe, expect, it } from 'vitest';
import { awaitsSomebody } from '../../../src/core/session/session-state.ts';
import type { ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import { SessionLog, typesOf } from '../../support/log/session-log.ts';
import { completeStep } from '../../support/models/steps.ts';

const HASH = 'a'.repeat(64);
const call = { name: 'pay', toolName: 'pay', serverId: 'bank', arguments: { sum: 5 }, repeatable: false };
const ref = { turnId: 't', toolName: 'pay', serverId: 'bank' };

/** A turn whose step asked for these calls; those that end in `?` wait for approval. */
function asked(...calls: string[]): SessionLog {
  return askedWithin(undefined, ...calls);
}

function askedWithin(expiresAfterMs: number | undefined, ...calls: string[]): SessionLog {
  const log = new SessionLog();
  log.tell({ type: 'turn.start', turnId: 't', text: 'pay' });
  const requested = calls.map((callId) => ({
    ...call,
    callId: callId.replace('?', ''),
    policy: callId.endsWith('?') ? ('ask' as const) : ('auto' as const),
    argumentsHash: HASH,
    ...(expiresAfterMs !== undefined && { expiresAfterMs }),
  }));
  log.tell(completeStep({ turnId: 't', calls: requested }));
  return log;
}

const approve = (callId: string, argumentsHash?: string) =>
  ({ type: 'approval.answer', callId, approved: true, argumentsHash }) as const;
const deny = (callId: string, reason?: string) =>
  ({ type: 'approval.answer', callId, approved: false, reason }) as const;

describe('a tool call that needs approval', () => {
  it('is asked for with its arguments and their hash, after all calls were requested', () => {
    const log = asked('1?', '2');
    expect(log.events.slice(3)).toEqual([
      { type: 'tool-call.requested', turnId: 't', callId: '1', ...call },
      { type: 'tool-call.requested', turnId: 't', callId: '2', ...call },
      { type: 'approval.requested', ...ref, callId: '1', arguments: { sum: 5 }, argumentsHash: HASH },
    ]);
    expect(awaitsSomebody(log.state)).toBe(false);
  });

  it('holds everything up once all else is settled', () => {
    const log = asked('1?', '2');
    const outcome: ToolOutcome = { status: 'succeeded', result: { content: [] } };
    log.tell({ type: 'tool-call.settle', turnId: 't', callId: '2', outcome });
    expect(awaitsSomebody(log.state)).toBe(true);
    log.tell(approve('1'));
    expect(awaitsSomebody(log.state)).toBe(false);
  });

  it('is granted with the hash the approver has seen, or without one', () => {
    const granted = [{ type: 'approval.granted', ...ref, callId: '1', argumentsHash: HASH }];
    expect(asked('1?').tell(approve('1', HASH))).toEqual(granted);
    expect(asked('1?').tell(approve('1'))).toEqual(granted);
  });

  it('is not granted for other arguments', () => {
    const log = asked('1?');
    expect(() => log.tell(approve('1', 'b'.repeat(64)))).toThrowError(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: expect.objectContaining({ field: 'argumentsHash' }),
      }),
    );
    expect(log.state.open?.awaiting.has('1')).toBe(true);
  });

  it('fails when it is denied, and the model is told why', () => {
    const log = asked('1?');
    expect(log.tell(deny('1', 'too much'))).toEqual([
      {
        type: 'tool-call.failed',
        ...ref,
        callId: '1',
        cause: { kind: 'denied', note: 'too much' },
        reason: 'it was denied: too much',
      },
    ]);
    expect(log.state.transcript.at(-1)).toMatchObject({
      role: 'tool',
      callId: '1',
      text: 'The tool failed: it was denied: too much',
    });
    expect(asked('1?').tell(deny('1'))).toEqual([
      { type: 'tool-call.failed', ...ref, callId: '1', cause: { kind: 'denied' }, reason: 'it was denied' },
    ]);
  });

  it.each([
    ['was approved', () => asked('1?').tellAll(approve('1'))],
    ['was denied', () => asked('1?').tellAll(deny('1'))],
    ['never waited', () => asked('1')],
    ['was never asked for', () => asked('2?')],
    ['is of a turn that is over', () => asked('1?').tellAll(cancel)],
  ])('cannot be answered when it %s', (_, given) => {
    const log = given();
    for (const answer of [approve('1'), deny('1')])
      expect(() => log.tell(answer)).toThrowError(
        expect.objectContaining({
          code: 'APPROVAL_NOT_FOUND',
          details: expect.objectContaining({ callId: '1' }),
        }),
      );
  });

  it('is not asked for when it is refused anyway', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 't', text: 'pay' });
    const ask = { ...call, policy: 'ask', argumentsHash: HASH } as const;
    const calls = [{ ...ask, callId: '1', problem: 'no such tool' }];
    const events = log.tell(completeStep({ turnId: 't', calls }));
    expect(typesOf(events)).toEqual(['step.completed', 'tool-call.requested', 'tool-call.failed']);
    expect(events[2]).toMatchObject({ cause: { kind: 'rejected' }, reason: 'no such tool' });
  });
});

describe('a tool call that the agent may not make', () => {
  it('is rejected, whatever else is wrong with it, and beside it others run', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 't', text: 'pay' });
    const denied = { ...call, policy: 'deny', argumentsHash: HASH } as const;
    const auto = { ...call, policy: 'auto', argumentsHash: HASH } as const;
    const calls = [
      { ...denied, callId: '1' },
      { ...denied, callId: '2', problem: 'the arguments are not a JSON object' },
      { ...auto, callId: '3' },
    ];
    const rejected = {
      type: 'tool-call.failed',
      ...ref,
      cause: { kind: 'rejected' },
      reason: 'the agent is not allowed to use this tool',
    };
    expect(log.tell(completeStep({ turnId: 't', calls })).slice(1)).toEqual([
      ...['1', '2', '3'].map((callId) => ({ type: 'tool-call.requested', turnId: 't', callId, ...call })),
      { ...rejected, callId: '1' },
      { ...rejected, callId: '2' },
    ]);
    expect([...(log.state.open?.unsettled.keys() ?? [])]).toEqual(['3']);
  });
});

const cancel = { type: 'turn.cancel', turnId: 't', reason: 'enough', partial: '' } as const;

describe('a turn with a call that waits for approval', () => {
  it('when it is cancelled settles the call as never begun', () => {
    expect(asked('1?', '2').tell(cancel)).toMatchObject([
      {
        type: 'tool-call.failed',
        callId: '1',
        cause: { kind: 'turn-cancelled' },
        reason: 'the turn was cancelled before the call was approved',
      },
      { type: 'tool-call.interrupted', callId: '2', cause: { kind: 'turn-cancelled' } },
      { type: 'turn.cancelled' },
    ]);
  });

  it('when the service comes back waits on; only what had begun is interrupted', () => {
    const log = asked('1?', '2', '3?');
    log.tell(approve('3'));
    expect(log.tell({ type: 'turn.resume' })).toMatchObject([
      { type: 'turn.resumed', attempt: 2 },
      { type: 'tool-call.interrupted', callId: '2', cause: { kind: 'service-stopped' } },
      { type: 'tool-call.interrupted', callId: '3', cause: { kind: 'service-stopped' } },
    ]);
    expect([...(log.state.open?.awaiting.keys() ?? [])]).toEqual(['1']);
  });
});

describe('a tool call whose approval expires', () => {
  const expire = { type: 'approval.expire', turnId: 't', callId: '1' } as const;

  it('says with the request how long it waits', () => {
    const log = askedWithin(90_000, '1?', '2');
    const requests = log.events.filter(({ type }) => type === 'approval.requested');
    expect(requests).toMatchObject([{ callId: '1', expiresAfterMs: 90_000 }]);
    const calls = log.events.filter(({ type }) => type === 'tool-call.requested');
    expect(calls.map((event) => 'expiresAfterMs' in event)).toEqual([false, false]);
  });

  it('fails with a cause of its own', () => {
    const log = askedWithin(90_000, '1?');
    expect(log.tell(expire)).toEqual([
      {
        type: 'tool-call.failed',
        ...ref,
        callId: '1',
        cause: { kind: 'approval-expired', afterMs: 90_000 },
        reason: 'nobody approved it within 90 seconds',
      },
    ]);
    expect(awaitsSomebody(log.state)).toBe(false);
  });

  it('does not expire once it was answered, in another turn, or without a limit', () => {
    const answered = askedWithin(1, '1?');
    answered.tell(approve('1'));
    expect(answered.tell(expire)).toEqual([]);
    expect(askedWithin(1, '1?').tell({ ...expire, turnId: 'other' })).toEqual([]);
    expect(asked('1?').tell(expire)).toEqual([]);
  });
});

describe('a message to a session that waits for approval', () => {
  it('that asks not to wait is told what the session waits for', () => {
    const log = asked('1?');
    expect(() =>
      log.tell({ type: 'turn.start', turnId: 'u', text: 'hello', whenBusy: 'reject' }),
    ).toThrowError(
      expect.objectContaining({
        code: 'SESSION_BUSY',
        details: {
          turnId: 't',
          callIds: ['1'],
          reason:
            'a turn is running and the message asked not to wait (whenBusy: reject); the turn waits until somebody approves or denies pay (call 1)',
        },
      }),
    );
  });
});
