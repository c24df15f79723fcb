import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { type SessionEvent, SessionEvent as SessionEventSchema } from '../../../src/core/log/events.ts';
import { withCauses } from '../../../src/replay/legacy-causes.ts';
import { replaySession } from '../../../src/replay/replay-session.ts';
import { forks, histories } from '../../support/log/recorded-histories.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

/* What version 0.1.0 wrote: sentences, and no causes. */

const UNRECORDED = { kind: 'unrecorded' } as const;
const call = (callId: string) => ({ turnId: 'a', callId, toolName: 'pay', serverId: 'bank' });

const requested = (turnId: string): SessionEvent => ({ type: 'turn.requested', turnId, text: turnId });
const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });
const cancelled = (turnId: string, reason: string): SessionEvent => ({
  type: 'turn.cancelled',
  turnId,
  cause: UNRECORDED,
  reason,
  step: 1,
  separator: '',
  partial: '',
});
const asked = (...callIds: string[]): SessionEvent[] => [
  stepCompleted({ turnId: 'a', callIds }),
  ...callIds.map(
    (callId): SessionEvent => ({
      type: 'tool-call.requested',
      ...call(callId),
      name: 'pay',
      arguments: {},
      repeatable: false,
    }),
  ),
];
const approval = (callId: string): SessionEvent => ({
  type: 'approval.requested',
  ...call(callId),
  arguments: {},
  argumentsHash: 'a'.repeat(64),
});
const granted = (callId: string): SessionEvent => ({
  type: 'approval.granted',
  ...call(callId),
  argumentsHash: 'a'.repeat(64),
});
const succeeded = (callId: string): SessionEvent => ({
  type: 'tool-call.succeeded',
  ...call(callId),
  result: { content: [] },
});
const failedCall = (callId: string, reason: string): SessionEvent => ({
  type: 'tool-call.failed',
  ...call(callId),
  cause: UNRECORDED,
  reason,
});
const failedWithResult = (callId: string, reason: string): SessionEvent => ({
  type: 'tool-call.failed',
  ...call(callId),
  cause: UNRECORDED,
  reason,
  result: { content: [{ type: 'text', text: reason }] },
});
const interruptedCall = (callId: string, reason: string): SessionEvent => ({
  type: 'tool-call.interrupted',
  ...call(callId),
  cause: UNRECORDED,
  reason,
});
const failed = (details: Record<string, unknown>): SessionEvent => ({
  type: 'turn.failed',
  turnId: 'a',
  cause: UNRECORDED,
  error: { code: 'AGENT_ERROR', message: 'The agent could not answer.', details },
  step: 1,
  separator: '',
  partial: '',
});

const RESET = 'the conversation was reset';
const DELETED = 'the session was deleted';
const INTERRUPTED = 'another message interrupted it';
const TURN_CANCELLED = 'the turn was cancelled';
const TURN_FAILED = 'the turn failed';
const STOPPED = 'the service stopped while it ran';

const a = [requested('a'), started('a')];

/** The causes that are found for the events that should have one, by turn or call. */
function causesIn(...recording: readonly (SessionEvent | readonly SessionEvent[])[]): Record<string, object> {
  const found = withCauses(recording.flat()).flatMap((event) =>
    'cause' in event ? [['callId' in event ? event.callId : event.turnId, event.cause] as const] : [],
  );
  return Object.fromEntries(found);
}

describe('why version 0.1.0 cancelled a turn', () => {
  it('was its client, whatever sentence that gave as the reason', () => {
    const next = [requested('b'), started('b')];
    for (const reason of ['enough', RESET, DELETED, INTERRUPTED, 'this session was forked from x']) {
      expect(causesIn(a, cancelled('a', reason))).toEqual({ a: { kind: 'cancelled' } });
      expect(causesIn(a, cancelled('a', reason), next)).toEqual({ a: { kind: 'cancelled' } });
    }
  });

  it('was its client, though a message that had waited came next', () => {
    for (const reason of [RESET, DELETED, 'this session was forked from x'])
      expect(causesIn(a, requested('b'), cancelled('a', reason), started('b'))).toEqual({
        a: { kind: 'cancelled' },
      });
  });

  it('was its client, also where a message came next that had waited, and had not interrupted it', () => {
    const recording = [...a, requested('b'), ...asked('1'), interruptedCall('1', TURN_CANCELLED)];
    expect(causesIn(recording, cancelled('a', INTERRUPTED), started('b'))).toMatchObject({
      a: { kind: 'cancelled' },
    });
  });

  it('was a reset, of the turn that ran, of its calls and of those that waited', () => {
    const recording = [...a, ...asked('1', '2'), approval('2'), requested('b'), requested('c')];
    const calls = [
      interruptedCall('1', TURN_CANCELLED),
      failedCall('2', `${TURN_CANCELLED} before the call was approved`),
    ];
    const turns = ['a', 'b', 'c'].map((turnId) => cancelled(turnId, RESET));
    expect(causesIn(recording, calls, turns, { type: 'session.reset' })).toEqual({
      1: { kind: 'turn-cancelled' },
      2: { kind: 'turn-cancelled' },
      a: { kind: 'session-reset' },
      b: { kind: 'session-reset' },
      c: { kind: 'session-reset' },
    });
  });

  it('was a deletion', () => {
    const turns = ['a', 'b'].map((turnId) => cancelled(turnId, DELETED));
    expect(causesIn(a, requested('b'), turns, { type: 'session.deleted' })).toEqual({
      a: { kind: 'session-deleted' },
      b: { kind: 'session-deleted' },
    });
  });

  it('was a fork, and a fork of what was forked', () => {
    const forked = (from: string): SessionEvent[] => [
      cancelled('a', `this session was forked from ${from}`),
      cancelled('b', `this session was forked from ${from}`),
      { type: 'session.forked', from, at: 3 },
    ];
    expect(causesIn(a, requested('b'), forked('origin'))).toEqual({
      a: { kind: 'session-forked', from: 'origin' },
      b: { kind: 'session-forked', from: 'origin' },
    });
    const [first = []] = [forked('origin').slice(0, 1)];
    const again: SessionEvent[] = [
      cancelled('b', 'this session was forked from the fork'),
      { type: 'session.forked', from: 'the fork', at: 4 },
    ];
    expect(causesIn(a, requested('b'), first, again)).toEqual({
      a: { kind: 'session-forked', from: 'origin' },
      b: { kind: 'session-forked', from: 'the fork' },
    });
  });

  it('was a message that interrupted it', () => {
    const recording = [...a, ...asked('1'), requested('waits'), requested('b')];
    const end = [interruptedCall('1', TURN_CANCELLED), cancelled('a', INTERRUPTED), started('b')];
    expect(causesIn(recording, end)).toEqual({
      1: { kind: 'turn-cancelled' },
      a: { kind: 'interrupted', byTurnId: 'b' },
    });
  });
});

describe('why version 0.1.0 failed a call', () => {
  const done = succeeded('first');
  const waiting = [...a, ...asked('first', '1'), approval('1'), done];
  const running = [...a, ...asked('first', '1'), done];

  it('was a denial, with and without a note', () => {
    expect(causesIn(waiting, failedCall('1', 'it was denied'))).toEqual({ 1: { kind: 'denied' } });
    for (const note of ['too much', 'no:\nnever', `${TURN_CANCELLED} before the call was approved`])
      expect(causesIn(waiting, failedCall('1', `it was denied: ${note}`))).toEqual({
        1: { kind: 'denied', note },
      });
  });

  it('was the end of its turn, before somebody had approved it', () => {
    for (const [reason, kind] of [
      [`${TURN_CANCELLED} before the call was approved`, 'turn-cancelled'],
      [`${TURN_FAILED} before the call was approved`, 'turn-failed'],
    ] as const)
      expect(causesIn(waiting, failedCall('1', reason))).toEqual({ 1: { kind } });
  });

  it('was the tool, whatever it says of its failure', () => {
    const sayings = [TURN_CANCELLED, STOPPED, 'it was denied', 'it was denied: too much'];
    for (const reason of [...sayings, `${TURN_CANCELLED} before the call was approved`]) {
      const ofTool = { 1: { kind: 'tool' } };
      expect(causesIn(running, failedCall('1', reason))).toEqual(ofTool);
      expect(causesIn(waiting, granted('1'), failedCall('1', reason))).toEqual(ofTool);
      expect(causesIn(a, asked('1'), failedWithResult('1', reason))).toEqual(ofTool);
    }
  });

  it('was that it could not be run, where it failed right behind its request, as others of its step did', () => {
    const recording = [...a, ...asked('1', '2', '3', '4')];
    const rejected = [failedCall('1', 'there is no such tool'), failedCall('3', 'there is no such tool')];
    // In another order than that of the calls: that is what a tool answered.
    const end = [approval('4'), failedCall('2', 'no money'), failedCall('4', 'it was denied')];
    expect(causesIn(recording, rejected, end)).toEqual({
      1: { kind: 'rejected' },
      2: { kind: 'tool' },
      3: { kind: 'rejected' },
      4: { kind: 'denied' },
    });
  });

  it('was a denial also after the service had come back, and the tool when an id is used again', () => {
    const resumed: SessionEvent = { type: 'turn.resumed', turnId: 'a', attempt: 2 };
    const denied = [...waiting, resumed, failedCall('1', 'it was denied')];
    expect(causesIn(denied)).toEqual({ 1: { kind: 'denied' } });
    const again = [...asked('first', '1'), succeeded('first'), failedCall('1', 'it was denied')];
    expect(causesIn(denied, again)).toEqual({ 1: { kind: 'tool' } });
  });
});

describe('why version 0.1.0 did not know what became of a call', () => {
  it.each([
    [TURN_CANCELLED, 'turn-cancelled', [cancelled('a', 'enough')]],
    [TURN_FAILED, 'turn-failed', [failed({ reason: 'gone' })]],
  ] as const)('was the end of its turn: %s', (reason, kind, end) => {
    expect(causesIn(a, asked('1'), interruptedCall('1', reason), end)).toMatchObject({ 1: { kind } });
  });

  it('was a crash', () => {
    const resumed: SessionEvent = { type: 'turn.resumed', turnId: 'a', attempt: 2 };
    expect(causesIn(a, asked('1'), resumed, interruptedCall('1', STOPPED))).toEqual({
      1: { kind: 'service-stopped' },
    });
  });
});

describe('why version 0.1.0 failed a turn', () => {
  const stepLimit = 'the model still asked for tools after 25 model calls, which is the limit (llm.maxSteps)';
  const stepTimeout = 'one model call took longer than 600000 ms, which is the limit (llm.stepTimeoutMs)';

  it('was a limit, with its value', () => {
    expect(causesIn(a, failed({ reason: stepLimit }))).toEqual({ a: { kind: 'step-limit', maxSteps: 25 } });
    expect(causesIn(a, failed({ reason: stepTimeout }))).toEqual({
      a: { kind: 'step-timeout', stepTimeoutMs: 600_000 },
    });
  });

  it.each([{}, { reason: 'the provider answered 429' }, { reason: 7 }, { reason: 'busy', status: 529 }])(
    'was the model: %j',
    (details) => {
      expect(causesIn(a, failed(details))).toEqual({ a: { kind: 'model' } });
    },
  );

  it.each([`the provider answered: ${stepLimit}`, `busy 5 which is the limit (llm.stepTimeoutMs)`])(
    'was the model, though its provider speaks of a limit: %s',
    (reason) => {
      expect(causesIn(a, failed({ reason }))).toEqual({ a: { kind: 'model' } });
    },
  );
});

describe('a recording', () => {
  it('that has causes keeps them, whatever the sentences say, and is not changed itself', () => {
    const recorded: SessionEvent = {
      type: 'turn.cancelled',
      turnId: 'a',
      cause: { kind: 'cancelled' },
      reason: RESET,
      step: 1,
      separator: '',
      partial: '',
    };
    const recording = [...a, recorded, { type: 'session.reset' } as const];
    expect(withCauses(recording)).toEqual(recording);
    const old = [...a, cancelled('a', RESET), { type: 'session.reset' } as const];
    const before = structuredClone(old);
    withCauses(old);
    expect(old).toEqual(before);
  });

  it.each(Object.entries(histories))(
    'of version 0.1.0 has the true causes, and replays: %s',
    async (_, make) => {
      await expectFound(await make());
    },
  );

  it('of version 0.1.0 that was forked has the true causes, and replays', async () => {
    for (const recording of await forks()) await expectFound(recording);
  });

  it.each([RESET, DELETED, INTERRUPTED, 'this session was forked from s'])(
    'of version 0.1.0 whose client gave such a reason has the true causes, and replays: %s',
    async (reason) => {
      const tools = new DirectedTools({ pay: {} });
      const rig = new SessionRig({ tools });
      const session = await rig.registry.session('s');
      await rig.say('a');
      await rig.say('b');
      (await rig.model.call(0)).askFor({ name: 'pay' });
      await tools.call(0);
      await session.cancel(reason, CLIENT);
      (await rig.model.call(1)).say('Half');
      await session.cancel(reason, CLIENT);
      await rig.say('c');
      await rig.model.call(2);
      await session.reset(CLIENT);
      await expectFound((await rig.logged()).map((event) => SessionEventSchema.parse(event)));
    },
  );

  /** The causes that are found are those that were recorded, or lead to the same. */
  async function expectFound(recording: readonly SessionEvent[]): Promise<void> {
    const old = recording.map((event) =>
      'cause' in event && event.type !== 'input.answered' ? { ...event, cause: UNRECORDED } : event,
    );
    expect(withCauses(old)).toEqual(recording.map(asItCanBeTold));
    const report = await replaySession(old, { store: memoryEventStore(), log: recordingLog() });
    expect(report.difference).toBeNull();
    expect(report.stateHash?.replayed).toBe(report.stateHash?.recorded);
  }
});

/** A call that failed before anything else happened looks as if it had been rejected: nothing says that it had begun. */
function asItCanBeTold(event: SessionEvent, index: number, recording: readonly SessionEvent[]): SessionEvent {
  const isAtOnce =
    event.type === 'tool-call.failed' &&
    event.cause.kind === 'tool' &&
    !event.result &&
    recording[index - 1]?.type === 'tool-call.requested';
  return isAtOnce ? { ...event, cause: { kind: 'rejected' } } : event;
}
