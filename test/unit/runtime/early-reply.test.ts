import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { typesOf } from '../../support/log/session-log.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { type RigOptions, SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const diskFull = new Error('disk full');

/** It is known which sessions the log has, so the first message of a new one can be answered early, too. */
async function earlyRig(options: RigOptions = {}): Promise<SessionRig> {
  const rig = new SessionRig({ ...options, callsEarly: true });
  await rig.journal.learnSessions();
  return rig;
}

/** All that happens by itself has happened. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await tick();
}

describe('a reply that is requested while the log writes the message', () => {
  it('is held back until the message is in the log, and then told in its order', async () => {
    const rig = await earlyRig();
    const heard = rig.listen();
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    await held.arrived;
    const call = await rig.model.call(0);
    call.think('hm');
    call.answer('good ', 'morning');
    await quiet();
    expect(heard.signals).toEqual([]);
    expect(await rig.logged()).toEqual([]);
    held.release();
    await said;
    await heard.event('turn.completed');
    const order = heard.signals.map((signal) => ('event' in signal ? signal.event.type : signal.type));
    expect(order.slice(0, 3)).toEqual(['turn.requested', 'turn.started', 'reply.reasoning']);
    expect(order.slice(-2)).toEqual(['step.completed', 'turn.completed']);
    expect(heard.text).toBe('good morning');
    expect(rig.model.calls).toHaveLength(1);
  });

  it('goes into the log together with the message, when it is whole before that is written', async () => {
    const rig = await earlyRig();
    const heard = rig.listen();
    let appends = 0;
    rig.store.afterAppend = async () => {
      appends += 1;
    };
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    (await rig.model.call(0)).answer('good ', 'morning');
    await quiet();
    held.release();
    await said;
    await heard.event('turn.completed');
    expect(appends).toBe(1);
    const order = heard.signals.map((signal) => ('event' in signal ? signal.event.type : signal.type));
    expect(order).toEqual([
      'turn.requested',
      'turn.started',
      'reply.chunk',
      'reply.chunk',
      'step.completed',
      'turn.completed',
    ]);
    const [requested, started, completed, ended] = await rig.store.read('s', 0);
    expect(requested?.meta?.actor).toEqual({ kind: 'client' });
    expect(started?.meta?.causationId).toBe(requested?.meta?.causationId);
    for (const { meta } of [completed, ended].flatMap((found) => found ?? [])) {
      expect(meta).toMatchObject({ actor: { kind: 'agent' }, causationId: started?.meta?.id });
      expect(meta?.correlationId).toBe('hello');
    }
    expect(await rig.store.sessions()).toMatchObject([{ head: 4, open: false }]);
    await rig.say('again');
    (await rig.model.call(1)).answer('fine');
    await heard.event('turn.completed', 'again');
  });

  it('comes after the message in the log, when it asks for tools', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = await earlyRig({ tools });
    await rig.say('warm up');
    (await rig.model.call(0)).answer('ready');
    await rig.listen().event('turn.completed', 'warm up');
    const sizes: number[] = [];
    const held = rig.store.holdNext('turn.requested');
    rig.store.afterAppend = async (events) => {
      sizes.push(events.length);
    };
    const said = rig.say('look');
    (await rig.model.call(1)).askFor({ name: 'look' });
    await quiet();
    held.release();
    await said;
    (await tools.call(0)).answer('seen');
    expect(sizes.slice(0, 2)).toEqual([2, 2]);
  });

  it('ends its turn although the service has been stopped meanwhile, when it is in the log', async () => {
    const rig = await earlyRig();
    const heard = rig.listen();
    const stored = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const held = rig.store.holdNext('turn.requested');
    rig.store.afterAppend = async () => {
      stored.resolve();
      await release.promise;
    };
    const said = rig.say('hello');
    (await rig.model.call(0)).answer('good ', 'morning');
    await quiet();
    held.release();
    await stored.promise;
    const drained = rig.registry.drain(0);
    await quiet();
    release.resolve();
    await said;
    await drained;
    expect(heard.text).toBe('good morning');
    expect(typesOf(await rig.logged()).at(-1)).toBe('turn.completed');
    expect((await heard.event('turn.completed')).content).toBe('good morning');
  });

  it('begins no tool call before the message is in the log', async () => {
    const tools = new DirectedTools({ pay: {} });
    const rig = await earlyRig({ tools });
    await rig.say('warm up');
    (await rig.model.call(0)).answer('ready');
    await rig.listen().event('turn.completed', 'warm up');
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('pay');
    (await rig.model.call(1)).askFor({ name: 'pay' });
    await quiet();
    expect(tools.calls).toEqual([]);
    held.release();
    await said;
    (await tools.call(0)).answer('paid');
    (await rig.model.call(2)).answer('done');
  });

  it('fails its turn after the message is in the log, when the model fails before', async () => {
    const rig = await earlyRig();
    const heard = rig.listen();
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    (await rig.model.call(0)).fail(new ServiceError('AGENT_ERROR', 'No answer.', { reason: 'it is down' }));
    await quiet();
    expect(heard.signals).toEqual([]);
    held.release();
    await said;
    expect(await heard.event('turn.failed')).toMatchObject({ error: { details: { reason: 'it is down' } } });
    expect(typesOf(await rig.logged())).toEqual(['turn.requested', 'turn.started', 'turn.failed']);
  });

  it('is aborted, and leaves no trace, when the log refuses the message', async () => {
    const rig = await earlyRig();
    const heard = rig.listen();
    rig.store.refuseNext('turn.requested', diskFull);
    await expect(rig.say('hello')).rejects.toBe(diskFull);
    const call = await rig.model.call(0);
    await call.aborted;
    call.say('too late');
    await quiet();
    expect(heard.signals).toEqual([]);
    expect(await rig.logged()).toEqual([]);
    await rig.say('again');
    (await rig.model.call(1)).answer('fine');
    expect(await heard.event('turn.completed', 'again')).toMatchObject({ content: 'fine' });
  });

  it('is not requested as long as it is unknown whether the log has the session', async () => {
    const store = memoryEventStore();
    const before = await earlyRig({ store });
    await before.say('first');
    (await before.model.call(0)).answer('one');
    await before.listen().event('turn.completed');
    const rig = new SessionRig({ store, callsEarly: true });
    const heard = rig.listen();
    await rig.say('second');
    const call = await rig.model.call(0);
    expect(call.request.messages).toMatchObject([{ text: 'first' }, {}, { text: 'second' }]);
    call.answer('two');
    await heard.event('turn.completed');
    expect(heard.text).toBe('two');
    expect(rig.model.calls).toHaveLength(1);
  });

  it('is requested with the whole conversation, when the log has the session', async () => {
    const store = memoryEventStore();
    const before = await earlyRig({ store });
    await before.say('first');
    (await before.model.call(0)).answer('one');
    await before.listen().event('turn.completed');
    const rig = await earlyRig({ store });
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('second');
    await held.arrived;
    const call = await rig.model.call(0);
    expect(call.request.messages).toMatchObject([{ text: 'first' }, {}, { text: 'second' }]);
    held.release();
    await said;
  });

  it('is aborted with its turn', async () => {
    const rig = await earlyRig();
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    const call = await rig.model.call(0);
    call.say('Once upon');
    const session = rig.registry.session('s');
    held.release();
    await said;
    await (await session).cancel('changed my mind', CLIENT);
    await call.aborted;
    expect((await rig.logged()).at(-1)).toMatchObject({ type: 'turn.cancelled', partial: 'Once upon' });
  });

  it('is aborted by a cancellation that comes before the message is in the log', async () => {
    const rig = await earlyRig();
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    const call = await rig.model.call(0);
    const cancelled = rig.registry.session('s').then((session) => session.cancel('changed my mind', CLIENT));
    held.release();
    await said;
    expect(await cancelled).toBe(true);
    await call.aborted;
    expect(typesOf(await rig.logged()).at(-1)).toBe('turn.cancelled');
  });

  it('is aborted when the service stops meanwhile', async () => {
    const rig = await earlyRig();
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    const call = await rig.model.call(0);
    const drained = rig.registry.drain(0);
    await quiet();
    held.release();
    await said;
    await drained;
    await call.aborted;
    expect(typesOf(await rig.logged())).toEqual(['turn.requested', 'turn.started']);
  });

  it('waits for its turn behind another one', async () => {
    const rig = await earlyRig();
    await rig.say('first');
    const first = await rig.model.call(0);
    await rig.say('second');
    await quiet();
    expect(rig.model.calls).toHaveLength(1);
    first.answer('one');
    (await rig.model.call(1)).answer('two');
    await rig.listen().event('turn.completed', 'second');
  });

  it('waits for the tool servers', async () => {
    const tools = new DirectedTools({ look: {} });
    const { promise: isUp, resolve: comeUp } = Promise.withResolvers<void>();
    const connector: Pick<DirectedTools, 'connect'> = {
      connect: async () => {
        await isUp;
        return new DirectedTools({ look: {} }).connect();
      },
    };
    const rig = await earlyRig({ tools: Object.assign(tools, connector) });
    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('hello');
    await held.arrived;
    await quiet();
    expect(rig.model.calls).toEqual([]);
    held.release();
    await said;
    comeUp();
    expect((await rig.model.call(0)).request.tools).toHaveLength(1);
  });

  it('asks for exactly what a reply asks for that waits for the log, whatever came before', async () => {
    for (let seed = 0; seed < 60; seed += 1) {
      const [early, late] = await Promise.all([requestsOf(true, seed), requestsOf(false, seed)]);
      expect({ seed, requests: early }).toEqual({ seed, requests: late });
    }
  });
});

const TURNS = 12;

/** The requests of a random conversation: replies, tools, images, failures, refusals, cancellations and resets. */
async function requestsOf(callsEarly: boolean, seed: number): Promise<unknown[]> {
  const random = seededRandom(seed);
  const tools = new DirectedTools({ look: {} }, ({ answer }) => answer('seen'));
  const rig = new SessionRig({ tools, callsEarly, keepReasoning: random() < 0.5 });
  const heard = rig.listen();
  const session = await rig.registry.session('s');
  for (let turn = 0; turn < TURNS; turn += 1) {
    const turnId = `turn-${turn}`;
    const image = random() < 0.2 ? { image: { mimeType: 'image/png', base64: 'AAAA' } as const } : {};
    const before = rig.model.calls.length;
    await session.startTurn({ type: 'turn.start', turnId, text: turnId, ...image }, CLIENT);
    let call = await rig.model.call(before);
    if (random() < 0.3) {
      call.think('hm');
      call.say('Let me look.');
      call.askFor({ name: 'look' });
      call = await rig.model.call(before + 1);
    }
    const end = random();
    if (end < 0.5) {
      call.answer(`answer ${turn}`);
      await heard.event('turn.completed', turnId);
    } else if (end < 0.8) {
      const refused = end < 0.65 ? { refused: 'image' } : { reason: 'down' };
      call.fail(new ServiceError('AGENT_ERROR', 'No.', refused));
      await heard.event('turn.failed', turnId);
    } else if (end < 0.9) {
      call.say('half');
      await session.cancel('no', CLIENT);
    } else await session.reset(CLIENT);
  }
  return rig.model.calls.map(({ request }) => request);
}
