import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { IDEMPOTENCY_TTL_MS } from '../../../src/core/request/idempotency.ts';
import { decide } from '../../../src/core/session/session-decider.ts';
import { evolve, initialSessionState, leavesTurnOpen } from '../../../src/core/session/session-state.ts';
import type { WhenBusy } from '../../../src/core/session/when-busy.ts';
import type { StartTurn } from '../../../src/core/turn/turn-commands.ts';
import { SessionLog, typesOf } from '../../support/log/session-log.ts';
import { completeStep } from '../../support/models/steps.ts';

const start = (turnId: string, more: Partial<StartTurn> = {}): StartTurn => ({
  type: 'turn.start',
  turnId,
  text: `say ${turnId}`,
  ...more,
});
const answer = (turnId: string, step = 1) => completeStep({ turnId, step, text: `re ${turnId}` });

const NOW = 1_700_000_000_000;
/** A key as a client sends it at that moment. */
const key = (id: string, { at = NOW, fingerprint = 'same' } = {}) => ({
  id,
  fingerprint,
  expiresAt: at + IDEMPOTENCY_TTL_MS,
});

describe('a message that is to follow a turn', () => {
  const overtaken = expect.objectContaining({ code: 'SESSION_BUSY' });

  it('is refused once another message came first', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(start('b', { follows: { turnId: 'a', seq: 99 } }));
    expect(() => log.tell(start('c', { follows: { turnId: 'a', seq: log.state.seq } }))).toThrowError(
      overtaken,
    );
    log.tell(start('c', { follows: { turnId: 'b', seq: 0 } }));
    expect(log.state.waiting.map(({ turnId }) => turnId)).toEqual(['b', 'c']);
  });

  it('is refused if anything happened since the turn ended', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(answer('a'));
    const { seq } = log.state;
    log.tell({ type: 'session.rename', title: 'Mine' });
    expect(() => log.tell(start('b', { follows: { turnId: 'a', seq } }))).toThrowError(overtaken);
    log.tell(start('b', { follows: { turnId: 'a', seq: seq + 1 } }));
    expect(log.state.open?.turnId).toBe('b');
  });
});

describe('a message to a busy session', () => {
  it('with reject is refused, naming the turn that runs, and records nothing', () => {
    const log = new SessionLog();
    expect(typesOf(log.tell(start('a', { whenBusy: 'reject' })))).toEqual(['turn.requested', 'turn.started']);
    expect(() => log.tell(start('b', { whenBusy: 'reject' }))).toThrowError(
      expect.objectContaining({ code: 'SESSION_BUSY', details: expect.objectContaining({ turnId: 'a' }) }),
    );
    expect(log.events).toHaveLength(2);
  });

  it('with interrupt cancels the running turn, settles its calls and starts, before those that wait', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.askForTools('a', 1, 'Let me see.');
    log.tell(start('b'));
    expect(log.tell(start('c', { whenBusy: 'interrupt', partial: 'half' }))).toMatchObject([
      { type: 'turn.requested', turnId: 'c' },
      { type: 'tool-call.interrupted', callId: 'a-once' },
      { type: 'tool-call.interrupted', callId: 'a-again' },
      {
        type: 'turn.cancelled',
        turnId: 'a',
        cause: { kind: 'interrupted', byTurnId: 'c' },
        step: 2,
        separator: '\n\n',
        partial: 'half',
      },
      { type: 'turn.started', turnId: 'c' },
    ]);
    expect(log.state).toMatchObject({ open: { turnId: 'c' }, waiting: [{ turnId: 'b' }] });
    expect(log.tell(answer('c')).at(-1)).toEqual({ type: 'turn.started', turnId: 'b' });
  });

  it('with interrupt is taken though the queue is full', () => {
    const log = new SessionLog();
    for (const turnId of ['a', 'b', 'c']) log.tell(start(turnId));
    expect(() => log.tell(start('d'))).toThrowError(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    log.tell(start('d', { whenBusy: 'interrupt' }));
    expect(log.state.open?.turnId).toBe('d');
  });

  it.each<[WhenBusy, string[] | string]>([
    ['enqueue', ['turn.requested']],
    ['reject', 'SESSION_BUSY'],
    ['interrupt', ['turn.requested', 'turn.cancelled', 'turn.started']],
  ])('that says nothing gets the policy: %s', (whenBusy, expected) => {
    const { state } = began('a');
    const told = () => typesOf(decide(state, start('b'), { queuedMessages: false, whenBusy }));
    if (typeof expected === 'string') expect(told).toThrowError(expect.objectContaining({ code: expected }));
    else expect(told()).toEqual(expected);
  });
});

describe('a message that is refused because the session is busy', () => {
  it('says who did not want it to wait', () => {
    const { state } = began('a');
    const refused = (message: Partial<StartTurn>) => () =>
      decide(state, start('b', message), { queuedMessages: false, whenBusy: 'reject' });
    const because = (reason: string) =>
      expect.objectContaining({
        details: expect.objectContaining({ reason: expect.stringContaining(reason) }),
      });
    expect(refused({ whenBusy: 'reject' })).toThrowError(because('the message asked not to wait'));
    expect(refused({})).toThrowError(because('sessions.whenBusy of the agent file'));
  });
});

describe('a message that waits behind no client', () => {
  const call = (callId: string) => ({
    callId,
    name: 'look',
    toolName: 'look',
    serverId: null,
    arguments: {},
    argumentsHash: '',
    repeatable: false,
    policy: 'auto' as const,
  });
  const message = (more: Partial<StartTurn> = {}) => start('b', { notBehindClient: true, ...more });

  it('is refused where only the results of the client are missing, and names their calls', () => {
    const log = began('a');
    const calls = ['c1', 'c2'].map((callId) => ({ ...call(callId), byClient: true as const }));
    log.tell(completeStep({ turnId: 'a', calls }));
    expect(() => log.tell(message())).toThrowError(
      expect.objectContaining({
        code: 'SESSION_BUSY',
        details: expect.objectContaining({ turnId: 'a', clientCalls: ['c1', 'c2'] }),
      }),
    );
    expect(typesOf(log.tell(message({ whenBusy: 'interrupt' })))).toContain('turn.cancelled');
  });

  it('waits where the turn is at work', () => {
    const log = began('a');
    expect(typesOf(log.tell(message()))).toEqual(['turn.requested']);
    const other = began('a');
    const calls = [{ ...call('c1'), byClient: true as const }, call('c2')];
    other.tell(completeStep({ turnId: 'a', calls }));
    expect(typesOf(other.tell(message()))).toEqual(['turn.requested']);
  });
});

function began(turnId: string): SessionLog {
  const log = new SessionLog();
  log.tell(start(turnId));
  return log;
}

describe('an idempotency key', () => {
  it('makes a message the same one, while it waits, runs and is answered', () => {
    const log = began('first');
    const again = () => log.tell(start('other', { key: key('k', { at: NOW + 5 }) }));
    log.tell(start('a', { key: key('k') }));
    expect(again()).toEqual([]);
    log.tell(answer('first'));
    expect(again()).toEqual([]);
    log.tell(answer('a'));
    expect(again()).toEqual([]);
    expect(log.state.keys.get('k')).toMatchObject({
      turnId: 'a',
      outcome: { status: 'completed', content: 're a' },
    });
  });

  it('wins over what is to be done when the session is busy', () => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    for (const whenBusy of ['reject', 'interrupt', 'enqueue'] as const)
      expect(log.tell(start('b', { whenBusy, key: key('k') }))).toEqual([]);
    expect(log.state.open?.turnId).toBe('a');
  });

  it('is refused with another fingerprint', () => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    expect(() => log.tell(start('b', { key: key('k', { fingerprint: 'other' }) }))).toThrowError(
      expect.objectContaining({
        code: 'IDEMPOTENCY_KEY_REUSED',
        details: expect.objectContaining({ key: 'k' }),
      }),
    );
  });

  it.each([
    { later: IDEMPOTENCY_TTL_MS - 1, isKnown: true },
    { later: IDEMPOTENCY_TTL_MS, isKnown: false },
    { later: 3 * IDEMPOTENCY_TTL_MS, isKnown: false },
  ])('is the same message for a day: after $later ms known is $isKnown', ({ later, isKnown }) => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    log.tell(answer('a'));
    const events = log.tell(start('b', { key: key('k', { at: NOW + later }) }));
    expect(typesOf(events)).toEqual(isKnown ? [] : ['turn.requested', 'turn.started']);
    expect(log.state.keys.get('k')?.turnId).toBe(isKnown ? 'a' : 'b');
  });

  it('of another payload is free again when the day is over', () => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    const later = key('k', { at: NOW + IDEMPOTENCY_TTL_MS, fingerprint: 'other' });
    expect(typesOf(log.tell(start('b', { key: later })))).toEqual(['turn.requested']);
  });

  it('is forgotten when it has expired, so that a long session keeps those of a day', () => {
    const log = new SessionLog();
    for (let hour = 0; hour < 100; hour += 1) {
      log.tell(start(`t${hour}`, { key: key(`k${hour}`, { at: NOW + hour * 3_600_000 }) }));
      log.tell(answer(`t${hour}`));
    }
    expect([...log.state.keys.keys()]).toEqual(Array.from({ length: 24 }, (_, index) => `k${76 + index}`));
  });

  it('of a turn that was cancelled or failed has that outcome', () => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    log.tell(start('b', { key: key('l') }));
    log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'enough', partial: '' });
    const error = { code: 'AGENT_ERROR', message: 'no', details: {} } as const;
    log.tell({ type: 'turn.fail', turnId: 'b', cause: { kind: 'model' }, error, partial: '' });
    expect(log.state.keys.get('k')?.outcome).toEqual({ status: 'cancelled', reason: 'enough' });
    expect(log.state.keys.get('l')?.outcome).toEqual({ status: 'failed', error });
  });

  it('lets a reset happen once, and is kept by it', () => {
    const log = new SessionLog();
    const reset = () => log.tell({ type: 'session.reset', partial: '', key: key('r') });
    log.tell(start('a', { key: key('k') }));
    expect(typesOf(reset())).toEqual(['turn.cancelled', 'session.reset']);
    log.tell(start('b'));
    expect(reset()).toEqual([]);
    expect(log.tell(start('c', { key: key('k') }))).toEqual([]);
    expect(log.state.open?.turnId).toBe('b');
  });
});

describe('a fork', () => {
  it('cancels what ran and waited, with every call settled, and says where it came from', () => {
    const log = began('a');
    log.askForTools('a');
    log.tell(start('b'));
    expect(log.tell({ type: 'session.fork', from: 'origin', at: 6 })).toMatchObject([
      { type: 'tool-call.interrupted', callId: 'a-once' },
      { type: 'tool-call.interrupted', callId: 'a-again' },
      { type: 'turn.cancelled', turnId: 'a', cause: { kind: 'session-forked', from: 'origin' }, partial: '' },
      { type: 'turn.cancelled', turnId: 'b', cause: { kind: 'session-forked', from: 'origin' } },
      { type: 'session.forked', from: 'origin', at: 6 },
    ]);
    expect(log.state).toMatchObject({ open: null, waiting: [] });
  });

  it('of an idle session adds nothing else', () => {
    const log = new SessionLog();
    log.tell(start('a'));
    log.tell(answer('a'));
    expect(typesOf(log.tell({ type: 'session.fork', from: 'origin', at: 4 }))).toEqual(['session.forked']);
  });
});

describe('a deletion', () => {
  it('cancels what runs and waits; nothing can follow it', () => {
    const log = began('a');
    log.askForTools('a');
    log.tell(start('b'));
    expect(typesOf(log.tell({ type: 'session.delete', partial: 'half' }))).toEqual([
      ...['tool-call.interrupted', 'tool-call.interrupted'],
      ...['turn.cancelled', 'turn.cancelled', 'session.deleted'],
    ]);
    expect(log.state).toMatchObject({ deleted: true, open: null, waiting: [] });
    const commands = [
      start('c'),
      { type: 'session.delete', partial: '' },
      { type: 'session.reset', partial: '' },
      { type: 'turn.resume' },
    ] as const;
    for (const command of commands) {
      expect(() => log.tell(command)).toThrowError(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    }
  });
});

describe('whether events leave a turn open', () => {
  it('agrees with the fold, whatever happens', () => {
    const log = new SessionLog();
    const batches: SessionEvent[][] = [
      log.tell(start('a')),
      log.askForTools('a'),
      log.tell(start('b')),
      log.tell({ type: 'turn.cancel', turnId: 'b', reason: 'x', partial: '' }),
      log.tell(start('c', { whenBusy: 'interrupt' })),
      log.tell({ type: 'turn.resume' }),
      log.tell(start('d')),
      log.tell(answer('c')),
      log.tell(answer('d')),
      log.tell(start('e')),
      log.tell({ type: 'session.reset', partial: '' }),
      log.tell(start('f')),
      log.tell(start('g')),
      log.tell({ type: 'session.fork', from: 'x', at: 1 }),
      log.tell(start('h')),
      log.tell({ type: 'session.delete', partial: '' }),
    ];
    let state = initialSessionState();
    const open: boolean[] = [];
    for (const events of batches) {
      expect(events).not.toEqual([]);
      const predicted = leavesTurnOpen(state, events);
      state = events.reduce(evolve, state);
      expect(predicted).toBe(state.open !== null);
      open.push(predicted);
    }
    expect(open).toEqual([
      ...[true, true, true, true, true, true, true, true],
      ...[false, true, false, true, true, false, true, false],
    ]);
    expect(leavesTurnOpen(initialSessionState(), [])).toBe(false);
  });
});

describe('a fork', () => {
  it('knows no key of the session that it is made from, also if that has an open turn', () => {
    const log = new SessionLog();
    log.tell(start('a', { key: key('k') }));
    log.tell(answer('a'));
    log.tell(start('b', { key: key('l') }));
    log.tell({ type: 'session.fork', from: 's', at: log.state.seq });
    expect(log.state.keys.size).toBe(0);
    const sent = start('c', { key: key('k', { fingerprint: 'other' }) });
    expect(typesOf(log.tell(sent))).toEqual(['turn.requested', 'turn.started']);
  });
});
