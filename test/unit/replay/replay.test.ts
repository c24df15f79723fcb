import { beforeAll, describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { SessionEvent } from '../../../src/core/log/events.ts';
import { decide } from '../../../src/core/session/session-decider.ts';
import { evolve, initialSessionState } from '../../../src/core/session/session-state.ts';
import { type ReplayReport, replaySession } from '../../../src/replay/replay-session.ts';
import { forks, histories, laterHistories } from '../../support/log/recorded-histories.ts';
import { typesOf } from '../../support/log/session-log.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const made = { ...histories, ...laterHistories };
let recordings: SessionEvent[][];
let forked: SessionEvent[][];

beforeAll(async () => {
  forked = await forks();
  recordings = [...(await Promise.all(Object.values(made).map((make) => make()))), ...forked];
});

function replay(recording: readonly SessionEvent[]): Promise<ReplayReport> {
  return replaySession(recording, { store: memoryEventStore(), log: recordingLog() });
}

describe('a replay comes out as it was recorded', () => {
  it.each(Object.entries(made))('%s', async (_, make) => {
    const recording = await make();
    const report = await replay(recording);
    expect(report.difference).toBeNull();
    expect(report.events).toBe(recording.length);
    expect(report.stateHash?.recorded).toMatch(/^[0-9a-f]{64}$/);
    expect(report.stateHash?.replayed).toBe(report.stateHash?.recorded);
  });

  it('sessions that a repair cut after any event, and that went on', async () => {
    let repaired = 0;
    for (const recording of recordings) {
      for (let at = 1; at < recording.length; at += 1) {
        const kept = recording.slice(0, at);
        const state = kept.reduce(evolve, initialSessionState());
        if (state.deleted) continue;
        const closing = decide(state, { type: 'session.repair' }, POLICY);
        if (closing.length === 0) continue;
        repaired += 1;
        const cut = [...kept, ...closing, ...wentOn];
        const { difference, stateHash } = await replay(cut);
        expect({ difference, cut }).toEqual({ difference: null, cut });
        expect(stateHash?.replayed).toBe(stateHash?.recorded);
      }
    }
    expect(repaired).toBeGreaterThan(20);
  });

  it('forks made at any event, and forks of forks', async () => {
    expect(forked.length).toBeGreaterThan(20);
    for (const recording of forked) {
      const { difference, stateHash } = await replay(recording);
      expect({ difference, recording }).toEqual({ difference: null, recording });
      expect(stateHash?.replayed).toBe(stateHash?.recorded);
    }
  });

  it('forks of forks that were cut within the ends of the calls that the first fork closed', async () => {
    const recording = await made['a cancel while calls run and wait for approval']?.();
    if (!recording) throw new Error('there is no such history');
    // The first fork lost the request of the second call, and the second one the end of the turn.
    const requested = recording.findIndex(({ type }) => type === 'tool-call.requested') + 1;
    const first = forkOf(recording, requested, 'parent');
    const second = [...forkOf(first, requested + 1, 'child'), ...wentOn];
    expect(typesOf(second).slice(requested)).toEqual([
      'tool-call.interrupted',
      'turn.cancelled',
      'session.forked',
      ...typesOf(wentOn),
    ]);
    const { difference, stateHash } = await replay(second);
    expect(difference).toBeNull();
    expect(stateHash?.replayed).toBe(stateHash?.recorded);
  });

  it('with the traces that messages came with', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const traced = recordings.map((recording) =>
      recording.map((event) =>
        event.type === 'turn.requested' ? { ...event, trace: { traceparent } } : event,
      ),
    );
    for (const recording of traced) expect((await replay(recording)).difference).toBeNull();
  });

  it('with every type of event there is', async () => {
    const replayed = new Set(recordings.flatMap(typesOf));
    expect([...replayed].toSorted()).toEqual(
      SessionEvent.options.map((option) => option.shape.type.value).toSorted(),
    );
  });
});

type Tampering = (event: SessionEvent) => SessionEvent | undefined;

/** Each changes what follows from the rest of the recording, where an event has it. */
const tamperings: Readonly<Record<string, Tampering>> = {
  'another turn was started': (event) =>
    event.type === 'turn.started' ? { ...event, turnId: 'another' } : undefined,
  'the attempt of a resumed turn': (event) =>
    event.type === 'turn.resumed' ? { ...event, attempt: event.attempt + 1 } : undefined,
  'the number of a step': (event) =>
    event.type === 'step.completed' ? { ...event, step: event.step + 1 } : undefined,
  'the separator of a step': (event) =>
    event.type === 'step.completed' ? { ...event, separator: '-' } : undefined,
  'the final reply': (event) =>
    event.type === 'turn.completed' ? { ...event, content: `${event.content}.` } : undefined,
  'the hash of what was to be approved': (event) =>
    event.type === 'approval.requested' ? { ...event, argumentsHash: 'f00' } : undefined,
  'the hash of what was approved': (event) =>
    event.type === 'approval.granted' ? { ...event, argumentsHash: 'f00' } : undefined,
  'the call that was settled': (event) =>
    event.type === 'tool-call.succeeded' ? { ...event, callId: 'another' } : undefined,
  'the server of a settled call': (event) =>
    event.type === 'tool-call.succeeded' ? { ...event, serverId: 'another' } : undefined,
  'the tool of a failed call': (event) =>
    event.type === 'tool-call.failed' ? { ...event, toolName: 'another' } : undefined,
  'the reason of an interruption': (event) =>
    event.type === 'tool-call.interrupted' ? { ...event, reason: 'another' } : undefined,
  'the step in which a turn failed': (event) =>
    event.type === 'turn.failed' ? { ...event, step: event.step + 1 } : undefined,
  'the limit that a turn ran into': (event) => {
    const reason = event.type === 'turn.failed' ? String(event.error.details.reason) : '';
    if (event.type !== 'turn.failed' || !reason.includes('llm.maxSteps')) return undefined;
    return { ...event, error: { ...event.error, details: { reason: reason.replace(/\d+/, '7') } } };
  },
  'the limit that its cause tells': (event) =>
    event.type === 'turn.failed' && event.cause.kind === 'step-limit'
      ? { ...event, cause: { ...event.cause, maxSteps: 7 } }
      : undefined,
  'the time that its cause tells': (event) =>
    event.type === 'turn.failed' && event.cause.kind === 'step-timeout'
      ? { ...event, cause: { ...event.cause, stepTimeoutMs: 7 } }
      : undefined,
  'that a limit ended the turn, and not the model': (event) =>
    event.type === 'turn.failed' && event.cause.kind === 'model'
      ? { ...event, cause: { kind: 'step-limit', maxSteps: 7 } }
      : undefined,
  'why a turn was cancelled': (event) =>
    event.type === 'turn.cancelled'
      ? { ...event, cause: { kind: 'interrupted', byTurnId: 'another' } }
      : undefined,
  'why a call was interrupted': (event) => {
    if (event.type !== 'tool-call.interrupted') return undefined;
    const kind = event.cause.kind === 'turn-cancelled' ? 'service-stopped' : 'turn-cancelled';
    return { ...event, cause: { kind } };
  },
  'why a call failed that somebody denied': (event) =>
    event.type === 'tool-call.failed' && event.cause.kind === 'denied'
      ? { ...event, cause: { kind: 'denied', note: 'another' } }
      : undefined,
  'that a tool failed a call, and nobody denied it': (event) =>
    event.type === 'tool-call.failed' && event.cause.kind === 'tool'
      ? { ...event, cause: { kind: 'denied' } }
      : undefined,
  'the turn that failed': (event) =>
    event.type === 'turn.failed' ? { ...event, turnId: 'another' } : undefined,
  'the separator before a cancelled text': (event) =>
    event.type === 'turn.cancelled' ? { ...event, separator: '-' } : undefined,
  'the moment of a fork': (event) => (event.type === 'session.forked' ? { ...event, at: 1_000 } : undefined),
};

describe('a replay finds, at its seq, what was tampered with:', () => {
  it.each(Object.entries(tamperings))('%s', async (_, tamper) => {
    let tampered = 0;
    for (const recording of recordings) {
      for (const [index, event] of recording.entries()) {
        const changed = tamper(event);
        if (!changed) continue;
        tampered += 1;
        const report = await replay(recording.with(index, changed));
        expect({ seq: report.difference?.seq, recorded: report.difference?.recorded }).toEqual({
          seq: index + 1,
          recorded: changed,
        });
        expect(report.stateHash).toBeNull();
      }
    }
    expect(tampered).toBeGreaterThan(0);
  });

  it('an event that is missing at the end', async () => {
    expect((await replay(begun)).difference).toBeNull();
    expect((await replay(begun.slice(0, 1))).difference).toEqual({
      seq: 2,
      turnId: 'a',
      turn: 1,
      step: null,
      recorded: null,
      replayed: begun[1],
    });
  });

  it('a result of a tool that was not called', async () => {
    const ref = { turnId: 'a', callId: 'c', toolName: 't', serverId: 's' };
    const result: SessionEvent = { type: 'tool-call.succeeded', ...ref, result: { content: [] } };
    expect((await replay([...begun, result])).difference).toMatchObject({
      seq: 3,
      turn: 1,
      recorded: result,
      replayed: null,
      note: 'the tool was not called',
    });
  });

  it('a reply of a model that was not called', async () => {
    const recording: SessionEvent[] = [{ type: 'session.reset' }, stepCompleted({ turnId: 'a' })];
    expect((await replay(recording)).difference).toMatchObject({ seq: 2, note: 'the model was not called' });
  });

  it('an approval that nobody was asked for', async () => {
    const ref = { turnId: 'a', callId: 'c', toolName: 't', serverId: 's' };
    const recording: SessionEvent[] = [...begun, { type: 'approval.granted', ...ref, argumentsHash: 'x' }];
    expect((await replay(recording)).difference).toMatchObject({
      seq: 3,
      note: 'it was refused: No tool call of that id waits for approval.',
    });
  });
});

const begun: readonly SessionEvent[] = [
  { type: 'turn.requested', turnId: 'a', text: 'hello' },
  { type: 'turn.started', turnId: 'a' },
];

const POLICY = { queuedMessages: false, whenBusy: 'enqueue' } as const;

/** A turn after a fork or a repair. */
const wentOn: readonly SessionEvent[] = [
  { type: 'turn.requested', turnId: 'next', text: 'go on' },
  { type: 'turn.started', turnId: 'next' },
  {
    type: 'turn.cancelled',
    turnId: 'next',
    cause: { kind: 'cancelled' },
    reason: 'x',
    step: 1,
    separator: '',
    partial: '',
  },
];

function forkOf(recording: readonly SessionEvent[], at: number, from: string): SessionEvent[] {
  const copied = recording.slice(0, at);
  const state = copied.reduce(evolve, initialSessionState());
  return [...copied, ...decide(state, { type: 'session.fork', from, at }, POLICY)];
}
