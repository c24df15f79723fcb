import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { TimedEvent } from '../../../src/console/service/timed-event.ts';
import { turnsIn } from '../../../src/console/statecharts/past/past-turns.ts';
import { type ReplayFrame, replayTurn } from '../../../src/console/statecharts/past/turn-replay.ts';
import type { MachineState } from '../../../src/core/machine-state.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { eventsFor } from '../../support/sessions/rig-events.ts';
import { type RigOptions, SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const ASK = { rules: [{ server: '*', tool: 'write', policy: 'ask' as const }], default: 'auto' as const };

/** A rig whose machines are watched from the beginning, as the service tells of them. */
function start(options: RigOptions = {}, open = Promise.resolve()) {
  const tools = new DirectedTools({ look: { repeatable: true }, write: {} });
  tools.open = open;
  const rig = new SessionRig({ tools, approval: ASK, ...options });
  const told: MachineState[] = [];
  rig.machines.watchStates((state) => {
    if (state.machine === 'turn' && state.status !== 'stopped') told.push(state);
  });
  return { rig, tools, told, heard: rig.listen() };
}

/** What the service told: each event with the state it led to, the start of a machine once. */
function lived(told: readonly MachineState[]) {
  return told
    .filter(({ event }) => event !== null)
    .map(({ event, value, context }) => ({
      event,
      value,
      step: context.step,
      unsettled: context.unsettled,
      awaiting: context.awaiting,
      delegated: context.delegated,
      asking: context.asking,
    }));
}

function replayed(frames: readonly ReplayFrame[]) {
  return frames
    .filter(({ event }) => event !== null)
    .map(({ event, after, context }) => ({ event, value: after, ...context }));
}

async function recordOf(rig: SessionRig, turnId: string): Promise<readonly TimedEvent[]> {
  const turn = turnsIn(await eventsFor(rig)).find((candidate) => candidate.turnId === turnId);
  return turn?.events ?? [];
}

async function replayOf(rig: SessionRig, turnId: string): Promise<ReplayFrame[]> {
  return replayTurn(turnId, await recordOf(rig, turnId));
}

describe('a replayed turn is in the states in which the machine of the service was', () => {
  it('with two parallel tools, an approval and a reply', async () => {
    const { rig, tools, told, heard } = start();
    await rig.say('go');
    const first = await rig.model.call(0);
    first.say('Let me see.');
    first.askFor({ name: 'look' }, { name: 'write', callId: 'w' });
    (await tools.call(0)).answer('seen');
    await heard.event('tool-call.succeeded');
    await (await rig.registry.session('s')).answer(
      {
        type: 'approval.answer',
        callId: 'w',
        approved: true,
      },
      CLIENT,
    );
    (await tools.call(1)).answer('written');
    (await rig.model.call(1)).answer('Done.');
    await heard.event('turn.completed');
    const frames = await replayOf(rig, 'go');
    expect(replayed(frames)).toEqual(lived(told));
    expect(replayed(frames).map(({ value }) => value)).toContainEqual({ executingTools: 'awaitingApproval' });
    expect(replayed(frames).at(-1)?.value).toBe('completed');
  });

  it('with two parallel tools, an approval and a cancel', async () => {
    const { rig, tools, told, heard } = start();
    await rig.say('go');
    (await rig.model.call(0)).askFor({ name: 'look' }, { name: 'look' }, { name: 'write', callId: 'w' });
    (await tools.call(1)).answer('seen');
    await heard.event('tool-call.succeeded');
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    const frames = await replayOf(rig, 'go');
    expect(replayed(frames)).toEqual(lived(told));
    expect(
      replayed(frames)
        .map(({ event, value }) => [event, value])
        .slice(-4),
    ).toEqual([
      ['CANCEL', 'cancelling'],
      ['tool-call.interrupted', 'cancelling'],
      ['tool-call.failed', 'cancelling'],
      ['turn.cancelled', 'cancelled'],
    ]);
  });

  it('of a log of version 0.1.0, which tells causes by its sentences alone', async () => {
    const { rig, tools, told, heard } = start();
    await rig.say('go');
    (await rig.model.call(0)).askFor({ name: 'look' }, { name: 'look' }, { name: 'write', callId: 'w' });
    (await tools.call(1)).answer('seen');
    await heard.event('tool-call.succeeded');
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    const old = (await recordOf(rig, 'go')).map(({ actor, cause, ...frame }) => frame);
    expect(replayed(replayTurn('go', old))).toEqual(lived(told));
  });

  it('cancelled in the middle of a text, after a tool that failed', async () => {
    const { rig, tools, told, heard } = start();
    await rig.say('go');
    (await rig.model.call(0)).askFor({ name: 'look' });
    (await tools.call(0)).settle({ status: 'failed', reason: 'no light' });
    (await rig.model.call(1)).say('I can');
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    await heard.event('turn.cancelled');
    expect(replayed(await replayOf(rig, 'go'))).toEqual(lived(told));
  });

  it('when the model fails', async () => {
    const { rig, told, heard } = start();
    await rig.say('go');
    const call = await rig.model.call(0);
    call.say('I');
    call.fail(new Error('gone'));
    await heard.event('turn.failed');
    expect(replayed(await replayOf(rig, 'go'))).toEqual(lived(told));
  });

  it('when it makes too many steps', async () => {
    const { rig, tools, told, heard } = start({ maxSteps: 2 });
    await rig.say('go');
    for (const step of [0, 1]) {
      (await rig.model.call(step)).askFor({ name: 'look' });
      (await tools.call(step)).answer('seen');
    }
    await heard.event('turn.failed');
    const frames = replayed(await replayOf(rig, 'go'));
    expect(frames).toEqual(lived(told));
    expect(frames.map(({ value }) => value)).toContain('failing');
  });

  it('when a step takes too long', async () => {
    const clock = new SimulatedClock();
    const { rig, told, heard } = start({ clock, stepTimeoutMs: 500 });
    await rig.say('go');
    (await rig.model.call(0)).say('I');
    clock.increment(500);
    await heard.event('turn.failed');
    const frames = replayed(await replayOf(rig, 'go'));
    expect(frames).toEqual(lived(told));
    expect(frames.map(({ value }) => value)).toContain('failing');
  });

  it('after the service came back in the middle of it', async () => {
    const before = start();
    await before.rig.say('go');
    (await before.rig.model.call(0)).askFor({ name: 'look' }, { name: 'write', callId: 'w' });
    (await before.tools.call(0)).answer('seen');
    await before.heard.event('tool-call.succeeded');
    await (await before.rig.registry.session('s')).answer(
      {
        type: 'approval.answer',
        callId: 'w',
        approved: true,
      },
      CLIENT,
    );
    await before.tools.call(1);
    (await before.rig.registry.session('s')).stop();
    const { promise, resolve } = Promise.withResolvers<void>();
    const back = start({ store: before.rig.store }, promise);
    await back.rig.registry.session('s');
    await back.heard.event('tool-call.interrupted');
    resolve();
    (await back.rig.model.call(0)).answer('Nobody knows.');
    await back.heard.event('turn.completed');
    const frames = replayed(await replayOf(back.rig, 'go'));
    expect(frames).toEqual([...lived(before.told), ...lived(back.told)]);
    expect(frames.map(({ event }) => event)).toContain('tool-call.interrupted');
  });
});

describe('a replayed turn', () => {
  it('has a moment for each recorded event, and says which moments are not in the log', async () => {
    const { rig, heard } = start();
    await rig.say('go');
    (await rig.model.call(0)).answer('Hello.');
    await heard.event('turn.completed');
    const frames = await replayOf(rig, 'go');
    expect(frames.map(({ recorded, event }) => recorded?.event ?? `not in the log: ${event}`)).toEqual([
      'message',
      'thinking',
      'not in the log: turn.prepared',
      'not in the log: step.streaming',
      'stepCompleted',
      'response',
    ]);
    expect(frames[0]).toMatchObject({ after: null, event: null });
  });

  it('is not offered when it was cancelled before it began', async () => {
    const { rig } = start();
    await rig.say('one');
    await rig.say('two');
    await (await rig.registry.session('s')).cancel('enough', CLIENT, 'two');
    expect(turnsIn(await eventsFor(rig)).map(({ turnId }) => turnId)).toEqual(['one']);
  });
});
