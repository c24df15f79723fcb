import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { SessionCommand } from '../../../src/core/session/session-commands.ts';
import { evolve } from '../../../src/core/session/session-state.ts';
import { SessionLog, typesOf } from '../../support/log/session-log.ts';
import { completeStep } from '../../support/models/steps.ts';

const start = (turnId: string) => ({ type: 'turn.start', turnId, text: `say ${turnId}` }) as const;
const MODEL = { kind: 'model' } as const;
const answer = (turnId: string, step = 1, text = 'fine') => completeStep({ turnId, step, text });

describe('the fold of a session', () => {
  it.each<[string, SessionEvent]>([
    ['starts', { type: 'turn.started', turnId: 'b' }],
    ['is completed', { type: 'turn.completed', turnId: 'b', content: '' }],
    [
      'is cancelled',
      {
        type: 'turn.cancelled',
        turnId: 'b',
        cause: { kind: 'cancelled' },
        reason: '',
        step: 0,
        separator: '',
        partial: '',
      },
    ],
  ])('refuses that a turn %s which nobody began', (_, event) => {
    const log = new SessionLog();
    log.tell(start('a'));
    expect(() => evolve(log.state, event)).toThrow(/^turn b started without|, which is not open$/);
  });

  it('refuses a second result of a call', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.askForTools('a');
    const call = { turnId: 'a', callId: 'a-once', toolName: 'echo', serverId: 'srv' };
    const cause = { kind: 'turn-cancelled' } as const;
    const interrupted: SessionEvent = { type: 'tool-call.interrupted', ...call, cause, reason: 'it was' };
    const settled = evolve(log.state, interrupted);
    expect(() => evolve(settled, interrupted)).toThrow('call a-once, which is not open');
  });
});

describe('the session decider', () => {
  it('starts a turn at once when the session is idle', () => {
    expect(typesOf(new SessionLog().tell(start('a')))).toEqual(['turn.requested', 'turn.started']);
  });

  it('lets a message to a busy session wait, and starts it when the turn before it is settled', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    expect(typesOf(log.tell(start('b')))).toEqual(['turn.requested']);
    expect(log.tell(answer('a'))).toMatchObject([
      { type: 'step.completed', turnId: 'a' },
      { type: 'turn.completed', turnId: 'a', content: 'fine' },
      { type: 'turn.started', turnId: 'b' },
    ]);
  });

  it('refuses a message beyond the bound of the queue and records nothing', () => {
    const log = new SessionLog();
    for (const turnId of ['a', 'b', 'c']) log.tell(start(turnId));
    const before = log.events.length;
    expect(() => log.tell(start('d'))).toThrowError(
      expect.objectContaining({
        code: 'SERVICE_UNAVAILABLE',
        details: expect.objectContaining({ limit: 2, retryAfter: 5 }),
      }),
    );
    expect(log.events).toHaveLength(before);
  });

  it('joins the texts of all steps that said something, with a separator', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.askForTools('a', 1, 'first');
    for (const callId of ['a-once', 'a-again']) {
      log.tell({ type: 'tool-call.settle', turnId: 'a', callId, outcome: { status: 'failed', reason: 'x' } });
    }
    expect(log.tell(answer('a', 2, 'second'))).toMatchObject([
      {},
      { type: 'turn.completed', content: 'first\n\nsecond' },
    ]);
  });

  it('settles each tool call once', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    expect(typesOf(log.askForTools('a'))).toEqual([
      'step.completed',
      'tool-call.requested',
      'tool-call.requested',
    ]);
    const settle: SessionCommand = {
      type: 'tool-call.settle',
      turnId: 'a',
      callId: 'a-once',
      outcome: { status: 'succeeded', result: { content: [{ type: 'text', text: 'ok' }] } },
    };
    expect(typesOf(log.tell(settle))).toEqual(['tool-call.succeeded']);
    expect(log.tell(settle)).toEqual([]);
  });

  it('settles a call that cannot be run at once, so that the model is told', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    const call = {
      callId: 'x',
      name: 'nope',
      toolName: 'nope',
      serverId: null,
      arguments: {},
      repeatable: false,
      policy: 'auto',
      argumentsHash: 'a'.repeat(64),
    } as const;
    const calls = [{ ...call, problem: 'there is no such tool' }];
    const events = log.tell(completeStep({ turnId: 'a', calls }));
    expect(typesOf(events)).toEqual(['step.completed', 'tool-call.requested', 'tool-call.failed']);
    expect(events[1]).not.toHaveProperty('problem');
    expect(events[2]).toMatchObject({ cause: { kind: 'rejected' }, reason: 'there is no such tool' });
    expect(log.state.open?.unsettled.size).toBe(0);
  });

  it('ignores a step that is not the next, and whatever comes of a turn that is over', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    expect(log.tell(answer('a', 2))).toEqual([]);
    log.tell(answer('a'));
    expect(log.tell(answer('a', 2))).toEqual([]);
    expect(log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'late', partial: '' })).toEqual([]);
    const { body: error } = new ServiceError('AGENT_ERROR', 'no');
    expect(log.tell({ type: 'turn.fail', turnId: 'a', cause: MODEL, error, partial: '' })).toEqual([]);
  });

  it.each([
    ['cancel', 'turn-cancelled', { kind: 'cancelled' }],
    ['fail', 'turn-failed', MODEL],
    ['reset', 'turn-cancelled', { kind: 'session-reset' }],
    ['delete', 'turn-cancelled', { kind: 'session-deleted' }],
    ['fork', 'turn-cancelled', { kind: 'session-forked', from: 'origin' }],
  ] as const)('leaves no tool call without a result, and says why: %s', (how, ofCall, ofTurn) => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.askForTools('a');
    log.tell({
      type: 'tool-call.settle',
      turnId: 'a',
      callId: 'a-once',
      outcome: { status: 'failed', reason: 'x' },
    });
    const { body: error } = new ServiceError('AGENT_ERROR', 'no');
    const events = {
      cancel: () => log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'stop', partial: '' }),
      fail: () => log.tell({ type: 'turn.fail', turnId: 'a', cause: MODEL, error, partial: '' }),
      reset: () => log.tell({ type: 'session.reset', partial: '' }),
      delete: () => log.tell({ type: 'session.delete', partial: '' }),
      fork: () => log.tell({ type: 'session.fork', from: 'origin', at: 1 }),
    }[how]();
    expect(events[0]).toMatchObject({
      type: 'tool-call.interrupted',
      callId: 'a-again',
      cause: { kind: ofCall },
    });
    expect(events[1]).toMatchObject({ turnId: 'a', cause: ofTurn });
    expect(log.state.open).toBeNull();
  });

  it('starts the next message after a cancelled and after a failed turn', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(start('b'));
    log.tell(start('c'));
    expect(typesOf(log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'stop', partial: 'half' }))).toEqual([
      'turn.cancelled',
      'turn.started',
    ]);
    const { body: error } = new ServiceError('AGENT_ERROR', 'no');
    expect(typesOf(log.tell({ type: 'turn.fail', turnId: 'b', cause: MODEL, error, partial: '' }))).toEqual([
      'turn.failed',
      'turn.started',
    ]);
    expect(log.state.open?.turnId).toBe('c');
  });

  it('cancels a message that still waits without touching the running turn', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(start('b'));
    expect(typesOf(log.tell({ type: 'turn.cancel', turnId: 'b', reason: 'stop', partial: '' }))).toEqual([
      'turn.cancelled',
    ]);
    expect(log.state).toMatchObject({ open: { turnId: 'a' }, waiting: [] });
  });

  it('cancels running and waiting turns on reset, then forgets the conversation', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(start('b'));
    const events = log.tell({ type: 'session.reset', partial: 'half' });
    expect(events).toMatchObject([
      { type: 'turn.cancelled', turnId: 'a', cause: { kind: 'session-reset' }, partial: 'half' },
      { type: 'turn.cancelled', turnId: 'b', cause: { kind: 'session-reset' }, partial: '' },
      { type: 'session.reset' },
    ]);
    expect(log.state).toMatchObject({ transcript: [], waiting: [], open: null });
  });

  it('resumes an open turn: a call that is safe to repeat stays open, any other is interrupted', () => {
    const log = new SessionLog();
    expect(log.tell({ type: 'turn.resume' })).toEqual([]);
    log.tell(start('a'));
    log.askForTools('a');
    expect(log.tell({ type: 'turn.resume' })).toMatchObject([
      { type: 'turn.resumed', attempt: 2 },
      { type: 'tool-call.interrupted', callId: 'a-once', cause: { kind: 'service-stopped' } },
    ]);
    expect([...(log.state.open?.unsettled.keys() ?? [])]).toEqual(['a-again']);
    expect(log.tell({ type: 'turn.resume' })).toMatchObject([{ attempt: 3 }]);
  });

  it('counts seq without holes', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.askForTools('a');
    expect(log.state.seq).toBe(log.events.length);
  });
});
