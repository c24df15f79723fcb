import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { chooseAdapters } from '../../../src/app/adapters/choose-adapters.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { EventMetadata, Origin } from '../../../src/core/log/event-metadata.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import { REQUEST_STREAMS } from '../../../src/core/log/streams.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { requestOrigin, serviceOrigin } from '../../../src/core/request/request-origin.ts';
import type { CancellationCause } from '../../../src/core/turn/turn-causes.ts';
import { encodeResumable, resumableFrame } from '../../../src/gateway/stream/resumable-frames.ts';
import { encodeSignal } from '../../../src/gateway/stream/server-frames.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { ResumableFrame } from '../../../src/wire/frames.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { type RigOptions, SessionRig } from '../../support/sessions/session-rig.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ADA: Origin = { actor: { kind: 'client', principal: 'ada' }, causationId: 'asked-by-ada' };
const ASK = { rules: [{ server: '*', tool: 'pay', policy: 'ask' as const }], default: 'auto' as const };

function start(options: RigOptions = {}) {
  const tools = new DirectedTools({ look: { repeatable: true }, pay: {} });
  const rig = new SessionRig({ tools, ...options });
  return { rig, tools, heard: rig.listen() };
}

type Recorded = EventMetadata & { readonly event: LoggedEvent };

/** All events of a stream, each of which has metadata. */
async function recordedIn(store: EventStore, streamId = 's'): Promise<Recorded[]> {
  return (await store.read(streamId, 0)).map(({ event, meta, seq }) => {
    if (!meta) throw new Error(`event ${seq} has no metadata`);
    return { event, ...meta };
  });
}

/** The only event of the type, or the first of a call or a turn. */
function only(events: readonly Recorded[], type: LoggedEvent['type'], of?: string): Recorded {
  const isOf = (event: LoggedEvent) =>
    of === undefined || ('callId' in event ? event.callId === of : 'turnId' in event && event.turnId === of);
  const found = events.filter(({ event }) => event.type === type && isOf(event));
  if (!found[0] || (of === undefined && found.length > 1))
    throw new Error(`there are ${found.length} ${type}`);
  return found[0];
}

const actors = (events: readonly Recorded[]) =>
  events.map(({ event, actor }) => `${event.type}: ${actor.kind}`);

/** What stands before an event is what its effects can follow from. */
function expectEarlierCause(events: readonly Recorded[], effect: Recorded): void {
  const before = events.slice(0, events.indexOf(effect)).map(({ id }) => id);
  expect(before).toContain(effect.causationId);
}

describe('the metadata of a turn with a tool call', () => {
  async function answered(): Promise<Recorded[]> {
    const { rig, tools, heard } = start();
    await rig.say('hello', { turnId: 't' });
    (await rig.model.call(0)).askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Seen.');
    await heard.event('turn.completed');
    return recordedIn(rig.store);
  }

  it('says who did each thing, and which turn it belongs to; each event has an id of its own', async () => {
    const events = await answered();
    expect(actors(events)).toEqual([
      ...['turn.requested: client', 'turn.started: client'],
      ...['step.completed: agent', 'tool-call.requested: agent', 'tool-call.succeeded: agent'],
      ...['step.completed: agent', 'turn.completed: agent'],
    ]);
    for (const { id, correlationId } of events)
      expect({ id, correlationId }).toEqual({ id: expect.stringMatching(UUID), correlationId: 't' });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('says what each thing followed from', async () => {
    const [requested, started, first, asked, result, second, completed] = await answered();
    expect([requested?.causationId, started?.causationId]).toEqual([CLIENT.causationId, CLIENT.causationId]);
    expect([first?.causationId, asked?.causationId]).toEqual([started?.id, started?.id]);
    expect(result?.causationId).toBe(asked?.id);
    expect([second?.causationId, completed?.causationId]).toEqual([result?.id, result?.id]);
  });

  it('is told with the events, as the log has it', async () => {
    const { rig, heard } = start();
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    await heard.event('turn.completed');
    expect(heard.signals.filter((signal) => 'event' in signal)).toEqual(await rig.store.read('s', 0));
  });

  it('names for each of several results its own request, whatever came in between', async () => {
    const { rig, tools, heard } = start();
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'look', callId: '1' }, { name: 'look', callId: '2' });
    (await tools.call(1)).settle({ status: 'failed', reason: 'it is dark' });
    await heard.event('tool-call.failed');
    await rig.say('b');
    (await tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Seen.');
    (await rig.model.call(2)).answer('And you?');
    await heard.event('turn.completed', 'b');
    const events = await recordedIn(rig.store);
    const [failed, seen] = [only(events, 'tool-call.failed'), only(events, 'tool-call.succeeded')];
    expect(failed.causationId).toBe(only(events, 'tool-call.requested', '2').id);
    expect(seen.causationId).toBe(only(events, 'tool-call.requested', '1').id);
    expect([failed.actor.kind, seen.actor.kind]).toEqual(['agent', 'agent']);
    const steps = events.filter(({ event }) => event.type === 'step.completed');
    expect(steps).toHaveLength(3);
    for (const step of steps) expectEarlierCause(events, step);
    for (const { event, correlationId } of events) expect(event).toMatchObject({ turnId: correlationId });
    // Its client asked for it. The service started it, at the end of the one before.
    const [requested, started] = [only(events, 'turn.requested', 'b'), only(events, 'turn.started', 'b')];
    expect([requested.actor.kind, started.actor.kind]).toEqual(['client', 'service']);
    expect(started.causationId).toBe(seen.id);
  });
});

describe('the metadata of an approval', () => {
  async function waiting() {
    const running = start({ approval: ASK });
    await running.rig.say('a');
    (await running.rig.model.call(0)).askFor({ name: 'pay', callId: 'yes' }, { name: 'pay', callId: 'no' });
    await running.heard.event('approval.requested');
    return { ...running, session: await running.rig.registry.session('s') };
  }

  it('says who gave it, and the result of the call follows from it', async () => {
    const { rig, tools, heard, session } = await waiting();
    await session.answer({ type: 'approval.answer', callId: 'yes', approved: true }, ADA);
    (await tools.call(0)).answer('paid');
    await heard.event('tool-call.succeeded');
    const events = await recordedIn(rig.store);
    expect(only(events, 'approval.requested', 'yes').actor).toEqual({ kind: 'agent' });
    const granted = only(events, 'approval.granted');
    expect(granted).toMatchObject({ ...ADA, correlationId: 'a' });
    expect(only(events, 'tool-call.succeeded')).toMatchObject({
      actor: { kind: 'agent' },
      causationId: granted.id,
      correlationId: 'a',
    });
  });

  it('says who denied the call', async () => {
    const { rig, session } = await waiting();
    await session.answer({ type: 'approval.answer', callId: 'no', approved: false }, ADA);
    expect(only(await recordedIn(rig.store), 'tool-call.failed')).toMatchObject({
      ...ADA,
      correlationId: 'a',
    });
  });
});

describe('the metadata of a turn that ends otherwise', () => {
  it('says that the model failed it', async () => {
    const { rig, heard } = start();
    await rig.say('a');
    (await rig.model.call(0)).fail(new Error('gone'));
    await heard.event('turn.failed');
    const events = await recordedIn(rig.store);
    expect(only(events, 'turn.failed')).toMatchObject({
      actor: { kind: 'agent' },
      causationId: only(events, 'turn.started').id,
      correlationId: 'a',
      event: { cause: { kind: 'model' } },
    });
  });

  it('says that it was a limit of the service: the number of steps', async () => {
    const { rig, tools, heard } = start({ maxSteps: 1 });
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    await heard.event('turn.failed');
    const events = await recordedIn(rig.store);
    const result = only(events, 'tool-call.succeeded');
    expect(only(events, 'turn.failed')).toMatchObject({
      actor: { kind: 'service' },
      causationId: result.id,
      correlationId: 'a',
      event: { cause: { kind: 'step-limit', maxSteps: 1 } },
    });
  });

  it('says that it was a limit of the service: the time of a step', async () => {
    const clock = new SimulatedClock();
    const { rig, heard } = start({ stepTimeoutMs: 500, clock });
    await rig.say('a');
    await rig.model.call(0);
    clock.increment(500);
    await heard.event('turn.failed');
    const events = await recordedIn(rig.store);
    expect(only(events, 'turn.failed')).toMatchObject({
      actor: { kind: 'service' },
      correlationId: 'a',
      event: { cause: { kind: 'step-timeout', stepTimeoutMs: 500 } },
    });
    expectEarlierCause(events, only(events, 'turn.failed'));
  });

  it('says who cancelled it, and its calls with it', async () => {
    const { rig, tools } = start();
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'pay' });
    await tools.call(0);
    await (await rig.registry.session('s')).cancel('enough', ADA);
    const events = await recordedIn(rig.store);
    for (const type of ['tool-call.interrupted', 'turn.cancelled'] as const)
      expect(only(events, type)).toMatchObject({ ...ADA, correlationId: 'a' });
  });

  it('says who reset the session: the reset belongs to no turn', async () => {
    const { rig } = start();
    await rig.say('a');
    await (await rig.registry.session('s')).reset(ADA);
    const events = await recordedIn(rig.store);
    expect(only(events, 'turn.cancelled')).toMatchObject({ ...ADA, correlationId: 'a' });
    expect(only(events, 'session.reset')).toMatchObject({ ...ADA, correlationId: ADA.causationId });
  });
});

describe('the metadata of a turn that is resumed', () => {
  async function crashed(): Promise<EventStore> {
    const store = memoryEventStore();
    const { rig, tools } = start({ store });
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'look', callId: 'l' }, { name: 'pay', callId: 'p' });
    await tools.call(1);
    await rig.registry.drain(0);
    return store;
  }

  it('says that the service did it, after the last event there was; then the agent goes on', async () => {
    const store = await crashed();
    const last = (await recordedIn(store)).at(-1);
    const { rig, tools, heard } = start({ store });
    await rig.registry.recover();
    (await tools.call(0)).answer('seen');
    (await rig.model.call(0)).answer('Seen.');
    await heard.event('turn.completed');
    const events = await recordedIn(store);
    const added = events.slice(events.findIndex(({ event }) => event.type === 'turn.resumed'));
    expect(actors(added)).toEqual([
      ...['turn.resumed: service', 'tool-call.interrupted: service', 'tool-call.succeeded: agent'],
      ...['step.completed: agent', 'turn.completed: agent'],
    ]);
    const [resumed, interrupted, result, step] = added;
    expect([resumed?.causationId, interrupted?.causationId]).toEqual([last?.id, last?.id]);
    for (const effect of [result, step]) if (effect) expectEarlierCause(events, effect);
    expect(new Set(events.map(({ correlationId }) => correlationId))).toEqual(new Set(['a']));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('is there though the log before it has none', async () => {
    const store = memoryEventStore();
    await store.append(
      's',
      0,
      [
        { type: 'turn.requested', turnId: 'a', text: 'a' },
        { type: 'turn.started', turnId: 'a' },
      ],
      { open: true },
    );
    const { rig, heard } = start({ store });
    await rig.registry.recover();
    (await rig.model.call(0)).answer('At last.');
    await heard.event('turn.completed');
    const [requested, started, resumed, step] = await store.read('s', 0);
    expect([requested?.meta, started?.meta]).toEqual([null, null]);
    expect(resumed?.meta).toMatchObject({ actor: { kind: 'service' }, correlationId: 'a' });
    expect(resumed?.meta?.causationId).toMatch(UUID);
    expect(step?.meta).toMatchObject({ actor: { kind: 'agent' }, causationId: resumed?.meta?.id });
  });
});

describe('the metadata of a fork', () => {
  it('is that of the events it shares, and for its own says who forked', async () => {
    const { rig } = start();
    await rig.say('a');
    await rig.model.call(0);
    await rig.registry.fork({ from: 's', at: 2, to: 'f' }, ADA);
    const [origin, fork] = [await recordedIn(rig.store), await recordedIn(rig.store, 'f')];
    expect(fork.slice(0, 2)).toEqual(origin);
    expect(only(fork, 'turn.cancelled')).toMatchObject({ ...ADA, correlationId: 'a' });
    expect(only(fork, 'session.forked')).toMatchObject({ ...ADA, correlationId: ADA.causationId });
    const heard = rig.listen('f');
    await rig.say('b', { sessionId: 'f' });
    (await rig.model.callFor('b')).answer('Here.');
    await heard.event('turn.completed');
    const events = await recordedIn(rig.store, 'f');
    expectEarlierCause(events, only(events, 'step.completed'));
  });
});

describe('the origin of a request', () => {
  it('is its client, by name where that is known, and the command', () => {
    expect(requestOrigin({ ...ANYONE, principal: 'ada' }, 't')).toEqual({
      actor: { kind: 'client', principal: 'ada', tenant: 'default' },
      causationId: 't',
    });
    const nameless = requestOrigin(ANYONE);
    expect(nameless).toStrictEqual({
      actor: { kind: 'client' },
      causationId: expect.stringMatching(UUID),
    });
    expect(requestOrigin(ANYONE).causationId).not.toBe(nameless.causationId);
    expect(serviceOrigin()).toEqual({ actor: { kind: 'service' }, causationId: expect.stringMatching(UUID) });
  });

  it('comes over the bus, to sessions and to what is remembered of a key', async () => {
    const store = memoryEventStore();
    const log = recordingLog();
    const { config, raw, agentVersion } = parseAgentFile(SCRIPTED, 'test.yml', {});
    const adapters = await chooseAdapters({ config, dataDir: ':memory:', environment: {}, log });
    const agent = await composeAgent({ config, raw, agentVersion, adapters: { ...adapters, store }, log });
    const ada = { ...ANYONE, principal: 'ada' };
    const key = { id: 'k', fingerprint: 'f', expiresAt: Date.now() + 60_000 };
    await agent.bus.send('turn.start', { sessionId: 's', turnId: 't', text: 'hello' }, ada);
    const read = () => recordedIn(store);
    await eventually(read, (events) => events.some(({ event }) => event.type === 'turn.completed'));
    await agent.bus.send('turn.cancel', { sessionId: 's', reason: 'enough', key }, ada);
    await agent.bus.send('session.reset', { sessionId: 's' }, ANYONE);
    const events = await read();
    expect(only(events, 'turn.requested')).toMatchObject({ actor: ADA.actor, causationId: 't' });
    expect(only(events, 'session.reset').actor).toStrictEqual({ kind: 'client' });
    const streams = (await store.sessions()).map(({ sessionId }) => sessionId);
    const kept = streams.filter((streamId) => streamId.startsWith(REQUEST_STREAMS));
    expect(kept).toHaveLength(1);
    const [begun, ended] = await recordedIn(store, kept[0]);
    const actor = { ...ADA.actor, tenant: 'default' };
    expect([begun?.actor, ended?.actor]).toEqual([actor, actor]);
    expect(ended?.causationId).toBe(begun?.causationId);
    await agent.close();
  });
});

describe('the frame of a durable event, for a client that resumes', () => {
  const cancelledBy = (cause: CancellationCause, meta: EventMetadata | null): Envelope => ({
    sessionId: 's',
    seq: 5,
    time: 0,
    meta,
    event: {
      type: 'turn.cancelled',
      turnId: 't',
      cause,
      reason: 'r',
      step: 1,
      separator: '',
      partial: '',
    },
  });
  const meta = { ...ADA, id: 'i', correlationId: 't' };
  const cancelled = cancelledBy({ kind: 'interrupted', byTurnId: 'u' }, meta);

  it('says who did it and why, and nothing else of the metadata', () => {
    const sent = resumableFrame(cancelled);
    expect(sent).toMatchObject({ event: 'error', data: { code: 'TURN_CANCELLED' } });
    const { event: _event, data: _data, ...place } = sent;
    expect(place).toStrictEqual({
      seq: 5,
      turnId: 't',
      actor: { kind: 'client', principal: 'ada' },
      cause: { kind: 'interrupted', byTurnId: 'u' },
    });
    expect(ResumableFrame.parse(JSON.parse(encodeResumable(cancelled)))).toStrictEqual(sent);
  });

  it('says neither where the log does not tell', () => {
    const old = cancelledBy({ kind: 'unrecorded' }, null);
    const { event: _event, data: _data, ...place } = resumableFrame(old);
    expect(place).toStrictEqual({ seq: 5, turnId: 't' });
  });

  it('is for other clients as it always was', () => {
    expect(Object.keys(JSON.parse(encodeSignal(cancelled) ?? ''))).toEqual(['event', 'data']);
  });
});
