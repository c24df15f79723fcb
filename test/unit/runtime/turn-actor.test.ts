import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import {
  type TurnEffect,
  type TurnEvent,
  type TurnInput,
  turnMachine,
} from '../../../machines/turn.machine.ts';
import { TurnActor } from '../../../src/runtime/turns/turn-actor.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

const QUESTION = { mode: 'url', url: 'https://tea.example/' } as const;

const calls = ['1', '2', '3'];
const ref = { turnId: 't', toolName: 'x', serverId: 's' };
const ended = { turnId: 't', step: 1, separator: '', partial: '' } as const;
const error = { code: 'AGENT_ERROR', message: '', details: {} } as const;
const input: TurnInput = {
  turnId: 't',
  sessionId: 's',
  step: 0,
  maxSteps: 4,
  stepTimeoutMs: 1_000,
  unsettled: [],
  awaiting: [],
  delegated: [],
  asking: [],
};

type Pick = <T>(from: readonly T[]) => T;

/** Any event, sensible or not; the ends are rare, so that most turns are long. */
function anyEvent(pick: Pick, random: () => number): TurnEvent {
  const callId = pick(calls);
  if (random() < 0.03)
    return pick<TurnEvent>([
      { type: 'turn.completed', turnId: 't', content: '' },
      { type: 'turn.failed', ...ended, cause: { kind: 'step-limit', maxSteps: 1 }, error },
      { type: 'turn.cancelled', ...ended, cause: { kind: 'cancelled' }, reason: 'r' },
      { type: 'step.timedOut' },
      { type: 'CANCEL' },
    ]);
  return pick<TurnEvent>([
    { type: 'turn.prepared' },
    { type: 'step.streaming' },
    { type: 'output.rejected', turnId: 't', step: 1, issue: 'x' },
    stepCompleted({ turnId: 't', callIds: calls.slice(0, Math.floor(random() * 4)) }),
    { type: 'approval.requested', ...ref, callId, arguments: {}, argumentsHash: 'h' },
    { type: 'approval.granted', ...ref, callId, argumentsHash: 'h' },
    { type: 'tool-call.delegated', ...ref, callId, arguments: {} },
    { type: 'input.requested', ...ref, callId, inputId: 'i', message: '', question: QUESTION },
    { type: 'input.answered', ...ref, callId, inputId: 'i', action: 'accept', cause: { kind: 'answered' } },
    { type: 'tool-call.failed', ...ref, callId, cause: { kind: 'tool' }, reason: 'x' },
    { type: 'tool-call.interrupted', ...ref, callId, cause: { kind: 'unrecorded' }, reason: 'x' },
  ]);
}

/** @param watchedAfter how many events come before somebody watches. */
function run(events: readonly TurnEvent[], from: TurnInput, watchedAfter: number) {
  const effects: TurnEffect[] = [];
  const turn = new TurnActor(from, (effect) => effects.push(effect));
  const active: boolean[] = [];
  const watchAt = (index: number) => {
    if (index === watchedAfter) turn.actor.getSnapshot();
  };
  watchAt(-1);
  turn.start();
  for (const [index, event] of events.entries()) {
    watchAt(index);
    turn.send(event);
    active.push(turn.isActive);
  }
  const { value, context, status } = turn.actor.getSnapshot();
  return { effects, active, value, context, status };
}

function runByXState(events: readonly TurnEvent[], from: TurnInput) {
  const effects: TurnEffect[] = [];
  const actor = createActor(turnMachine, { input: from });
  actor.on('*', (effect) => effects.push(effect));
  actor.start();
  const active: boolean[] = [];
  for (const event of events) {
    if (actor.getSnapshot().status === 'active') actor.send(event);
    active.push(actor.getSnapshot().status === 'active');
  }
  const { value, context, status } = actor.getSnapshot();
  return { effects, active, value, context, status };
}

describe('the machine of a turn', () => {
  it('does the same watched, unwatched and watched from any moment on as an actor of XState', () => {
    const random = seededRandom(1);
    const pick: Pick = (from) => from[Math.floor(random() * from.length)] as (typeof from)[number];
    const seen = new Set<string>();
    for (let turn = 0; turn < 500; turn += 1) {
      const from =
        random() < 0.3
          ? { ...input, step: 1, unsettled: ['1', '2', '3'], awaiting: ['1'], delegated: ['2'] }
          : input;
      const events = Array.from({ length: 20 }, () => anyEvent(pick, random));
      const expected = runByXState(events, from);
      for (const watchedAfter of [-1, 0, 1, 5, 12, 20])
        expect(run(events, from, watchedAfter)).toEqual(expected);
      for (const { type } of expected.effects) seen.add(type);
      seen.add(JSON.stringify(expected.value));
    }
    expect([...seen].toSorted()).toEqual([
      '"cancelled"',
      '"cancelling"',
      '"completed"',
      '"failed"',
      '"failing"',
      '"preparing"',
      'model-call.begin',
      'model-call.end',
      'tool-call.begin',
      'tool-calls.begin',
      'tool-calls.end',
      'turn.fail',
      '{"callingModel":"streaming"}',
      '{"callingModel":"thinking"}',
      '{"executingTools":"awaitingApproval"}',
      '{"executingTools":"awaitingClient"}',
      '{"executingTools":"awaitingInput"}',
      '{"executingTools":"running"}',
    ]);
  });

  it.each([true, false])(
    'handles what an effect sends after the other effects (watched: %s)',
    (isWatched) => {
      const heard: string[] = [];
      const turn = new TurnActor({ ...input, maxSteps: 1 }, ({ type }) => {
        heard.push(type);
        if (type === 'model-call.end') turn.send({ type: 'turn.completed', turnId: 't', content: '' });
      });
      if (isWatched) turn.actor.getSnapshot();
      turn.start();
      turn.send({ type: 'turn.prepared' });
      turn.send({ type: 'step.timedOut' });
      expect(heard).toEqual(['model-call.begin', 'model-call.end', 'turn.fail']);
      expect(turn.actor.getSnapshot().value).toBe('completed');
    },
  );

  it.each([true, false])('hears and does nothing after it was stopped (watched: %s)', (isWatched) => {
    const heard: string[] = [];
    const turn = new TurnActor(input, ({ type }) => heard.push(type));
    if (isWatched) turn.actor.getSnapshot();
    turn.start();
    turn.send({ type: 'turn.prepared' });
    turn.stop();
    turn.send({ type: 'CANCEL' });
    expect(heard).toEqual(['model-call.begin']);
    expect(turn.isActive).toBe(false);
    expect(turn.actor.getSnapshot()).toMatchObject({ value: { callingModel: 'thinking' } });
  });

  it('lets an effect that throws be the caller’s, and goes on with the next event', () => {
    const heard: string[] = [];
    const turn = new TurnActor(input, ({ type }) => {
      heard.push(type);
      if (heard.length === 1) throw new Error('no model');
    });
    turn.start();
    expect(() => turn.send({ type: 'turn.prepared' })).toThrow('no model');
    turn.send({ type: 'CANCEL' });
    expect(heard).toEqual(['model-call.begin', 'model-call.end']);
  });
});
