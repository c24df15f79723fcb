import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { SessionEvent as SessionEventSchema } from '../../../src/core/log/events.ts';
import type { ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { CLIENT } from '../sessions/origins.ts';
import { type RigOptions, SessionRig } from '../sessions/session-rig.ts';
import { DirectedTools } from '../tools/directed-tools.ts';

const TOOLS = { look: { repeatable: true }, pay: {}, forbidden: {} };

const approval = {
  rules: [
    { server: '*', tool: 'pay', policy: 'ask' as const },
    { server: '*', tool: 'forbidden', policy: 'deny' as const },
  ],
  default: 'auto' as const,
};

function start(store: EventStore, options: RigOptions = {}): SessionRig & { tools: DirectedTools } {
  return new SessionRig({ store, tools: new DirectedTools(TOOLS), ...options });
}

async function recorded(store: EventStore, sessionId = 's'): Promise<SessionEvent[]> {
  const envelopes = await store.read(sessionId, 0);
  return envelopes.map(({ event }) => SessionEventSchema.parse(event));
}

type History = () => Promise<SessionEvent[]>;

/** Turns of every shape, each made by the real runtime with settings of its own. */
export const histories: Readonly<Record<string, History>> = {
  'parallel tool calls that end in another order, over several steps': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    const heard = rig.listen();
    await rig.say('hello');
    const first = await rig.model.call(0);
    first.say('Let me ', 'look.');
    first.askFor({ name: 'look', arguments: { b: 2, a: [1, null] } }, { name: 'pay' }, { name: 'look' });
    const [one, two, three] = [await rig.tools.call(0), await rig.tools.call(1), await rig.tools.call(2)];
    three.answer('third');
    await heard.event('tool-call.succeeded');
    two.settle({ status: 'failed', reason: 'no money', result: { content: [{ type: 'text', text: 'x' }] } });
    await heard.event('tool-call.failed');
    one.answer('first');
    (await rig.model.call(1)).askFor({ name: 'pay' });
    (await rig.tools.call(3)).settle({ status: 'failed', reason: 'the server is gone' });
    (await rig.model.call(2)).answer('Seen.');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'calls that are refused, for each reason, beside one that runs': async () => {
    const store = memoryEventStore();
    const rig = start(store, { approval });
    const heard = rig.listen();
    await rig.say('hello');
    const names = [
      { name: 'nothing' },
      { name: 'look' },
      { name: 'forbidden' },
      { name: 'pay', arguments: '[' },
    ];
    (await rig.model.call(0)).askFor(...names);
    (await rig.tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Sorry.');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'calls that are approved and denied': async () => {
    const store = memoryEventStore();
    const rig = start(store, { approval });
    const heard = rig.listen();
    await rig.say('hello');
    const pay = { name: 'pay', arguments: { to: 'me' } };
    (await rig.model.call(0)).askFor(...['a', 'b', 'c'].map((callId) => ({ ...pay, callId })), {
      name: 'look',
    });
    await heard.event('approval.requested');
    const session = await rig.registry.session('s');
    await session.answer(
      {
        type: 'approval.answer',
        callId: 'b',
        approved: false,
        reason: 'too much',
      },
      CLIENT,
    );
    await session.answer({ type: 'approval.answer', callId: 'c', approved: false }, CLIENT);
    await session.answer({ type: 'approval.answer', callId: 'a', approved: true }, CLIENT);
    (await rig.tools.call(1)).answer('paid');
    await heard.event('tool-call.succeeded');
    (await rig.tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Paid once.');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'a cancel in the middle of a sentence, with messages behind it': async () => {
    const store = memoryEventStore();
    const rig = start(store, { policy: { queuedMessages: 3, whenBusy: 'enqueue' } });
    const heard = rig.listen();
    await rig.say('a');
    await rig.say('b');
    await rig.say('c');
    const session = await rig.registry.session('s');
    await session.cancel('no longer wanted', CLIENT, 'b');
    (await rig.model.call(0)).say('Once ', 'upon ');
    await session.cancel('enough', CLIENT);
    (await rig.model.call(1)).answer('done');
    await heard.event('turn.completed', 'c');
    return recorded(store);
  },

  'a cancel while calls run and wait for approval': async () => {
    const store = memoryEventStore();
    const rig = start(store, { approval });
    const heard = rig.listen();
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'pay' }, { name: 'look' });
    await heard.event('approval.requested');
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    return recorded(store);
  },

  'messages that interrupt: in a text, in a call, and while others wait': async () => {
    const store = memoryEventStore();
    const rig = start(store, { policy: { queuedMessages: false, whenBusy: 'interrupt' } });
    const heard = rig.listen();
    await rig.say('a');
    (await rig.model.call(0)).say('Well');
    await rig.say('b');
    (await rig.model.call(1)).askFor({ name: 'pay' });
    await rig.tools.call(0);
    const session = await rig.registry.session('s');
    await session.startTurn({ type: 'turn.start', turnId: 'w', text: 'w', whenBusy: 'enqueue' }, CLIENT);
    await rig.say('c');
    (await rig.model.callFor('c')).answer('done');
    (await rig.model.callFor('w')).answer('done');
    await heard.event('turn.completed', 'w');
    return recorded(store);
  },

  'resets: of a running turn, of what waits, and of nothing, with keys': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    const key = (id: string) => ({ id, fingerprint: `f-${id}`, expiresAt: 2_000_000_000_000 });
    const session = await rig.registry.session('s');
    await session.reset(CLIENT);
    const image = { base64: 'AAAA', mimeType: 'image/png' as const };
    await session.startTurn({ type: 'turn.start', turnId: 'a', text: 'a', key: key('1'), image }, CLIENT);
    await rig.say('b');
    (await rig.model.call(0)).say('Half a ');
    await session.reset(CLIENT, key('2'));
    await rig.say('c');
    const heard = rig.listen();
    // The provider numbers its calls anew.
    (await rig.model.call(1)).askFor({ name: 'look', callId: 'call-1' });
    (await rig.tools.call(0)).answer('x');
    (await rig.model.call(2)).askFor({ name: 'look', callId: 'call-1' });
    (await rig.tools.call(1)).answer('x');
    (await rig.model.call(3)).answer('done');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'failures of the model, before and after it said something': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    const heard = rig.listen();
    await rig.say('a');
    await rig.say('b');
    (await rig.model.call(0)).fail(new ServiceError('AGENT_ERROR', 'No.', { reason: 'busy', status: 429 }));
    const second = await rig.model.call(1);
    second.say('I was ');
    second.fail(new Error('an adapter that breaks its promise'));
    await heard.event('turn.failed', 'b');
    return recorded(store);
  },

  'turns that ran into their limits, which were changed between them': async () => {
    const store = memoryEventStore();
    const clock = new SimulatedClock();
    for (const maxSteps of [1, 2]) {
      const rig = start(store, { maxSteps });
      const heard = rig.listen();
      await rig.say(`limit ${maxSteps}`);
      for (let step = 0; step < maxSteps; step += 1) {
        (await rig.model.call(step)).askFor({ name: 'look', callId: `${maxSteps}-${step}` });
        (await rig.tools.call(step)).answer('x');
      }
      await heard.event('turn.failed');
    }
    const rig = start(store, { stepTimeoutMs: 1_234, clock });
    const heard = rig.listen();
    await rig.say('slow');
    (await rig.model.call(0)).say('Hm');
    clock.increment(1_234);
    await heard.event('turn.failed');
    return recorded(store);
  },

  'a crash in a text, then one between tool calls, then one with nothing unsettled': async () => {
    const store = memoryEventStore();
    const first = start(store, { approval, maxSteps: 1 });
    await first.say('a');
    (await first.model.call(0)).say('Lost');
    const second = start(store, { approval: { rules: [], default: 'auto' } });
    const heard = second.listen();
    await second.registry.recover();
    (await second.model.call(0)).askFor({ name: 'pay' }, { name: 'look' }, { name: 'look' });
    (await second.tools.call(2)).answer('x');
    await heard.event('tool-call.succeeded');
    const third = start(store, { maxSteps: 1 });
    const ended = third.listen();
    await third.registry.recover();
    // The limit that is in force now is lower than the steps that were made.
    (await third.tools.call(0)).answer('x');
    await ended.event('turn.failed');
    return recorded(store);
  },

  'an approval that was given after a crash': async () => {
    const store = memoryEventStore();
    const first = start(store, { approval });
    const heard = first.listen();
    await first.say('a');
    (await first.model.call(0)).askFor({ name: 'pay', callId: 'p' }, { name: 'look' });
    await heard.event('approval.requested');
    const second = start(store, { approval });
    const again = second.listen();
    await second.registry.recover();
    await (await second.registry.session('s')).answer(
      {
        type: 'approval.answer',
        callId: 'p',
        approved: true,
      },
      CLIENT,
    );
    for (const index of [0, 1]) (await second.tools.call(index)).answer('x');
    (await second.model.call(0)).answer('done');
    await again.event('turn.completed');
    return recorded(store);
  },

  'a deletion that was under way': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    await rig.say('a');
    await rig.say('b');
    (await rig.model.call(0)).say('Half');
    await (await rig.registry.session('s')).markDeleted(CLIENT);
    return recorded(store);
  },

  'a turn that is still open': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    await rig.say('a');
    (await rig.model.call(0)).askFor({ name: 'pay' });
    await rig.tools.call(0);
    await rig.say('b');
    return recorded(store);
  },
};

/** With what version 0.1.0 did not know. */
export const laterHistories: Readonly<Record<string, History>> = {
  'a session that is renamed while a turn runs, and gets its first title back': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    const heard = rig.listen();
    await rig.say('hello');
    const session = await rig.registry.session('s');
    const call = await rig.model.call(0);
    await session.rename('Greetings', CLIENT);
    call.answer('Hi.');
    await heard.event('turn.completed');
    await session.rename(null, CLIENT);
    return recorded(store);
  },

  'a session that begins with a conversation, and is described again while a turn runs': async () => {
    const store = memoryEventStore();
    const rig = start(store);
    const heard = rig.listen();
    const session = await rig.registry.session('s');
    await session.describe({ topic: 'sums' }, CLIENT);
    await session.extend(
      [
        { role: 'user', text: 'My name is Ann.' },
        { role: 'assistant', text: '', calls: [{ callId: 'g', name: 'look', arguments: {} }] },
        { role: 'tool', callId: 'g', name: 'look', text: 'seen' },
      ],
      CLIENT,
    );
    await rig.say('hello');
    const call = await rig.model.call(0);
    await session.describe({}, CLIENT);
    call.answer('Hi.');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'a call whose approval expires, and one that is approved before that': async () => {
    const clock = new SimulatedClock();
    const now = (): number => clock.now();
    const store = memoryEventStore(now);
    const rig = start(store, { clock, now, approval: { ...approval, expiresAfterMs: 5_000 } });
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).askFor({ name: 'pay', callId: 'a' }, { name: 'pay', callId: 'b' });
    await heard.event('approval.requested');
    const session = await rig.registry.session('s');
    await session.answer({ type: 'approval.answer', callId: 'b', approved: true }, CLIENT);
    (await rig.tools.call(0)).answer('paid');
    await heard.event('tool-call.succeeded');
    clock.increment(5_000);
    (await rig.model.call(1)).answer('Paid once.');
    await heard.event('turn.completed');
    return recorded(store);
  },

  'a reply without the form that was asked for, one that has it then, and a turn that fails for it':
    async () => {
      const store = memoryEventStore();
      const rig = start(store);
      const heard = rig.listen();
      const output = { schema: { type: 'object' }, name: 'output' };
      await rig.say('a', { options: { output } });
      (await rig.model.call(0)).askFor({ name: 'look' });
      (await rig.tools.call(0)).answer('seen');
      (await rig.model.call(1)).answer('It is', ' red.');
      (await rig.model.call(2)).answer('{"colour":', '"red"}');
      await heard.event('turn.completed');
      await rig.say('b', { options: { output } });
      (await rig.model.call(3)).answer('Red.');
      (await rig.model.call(4)).answer('Red!');
      await heard.event('turn.failed');
      return recorded(store);
    },

  'calls of tools of the client, beside one of a server: answered, failed, expired, and cancelled with the turn':
    async () => {
      const clock = new SimulatedClock();
      const now = (): number => clock.now();
      const store = memoryEventStore(now);
      const rig = start(store, { clock, now });
      const heard = rig.listen();
      const clientTools = [{ name: 'ask', description: '', inputSchema: { type: 'object' } }];
      await rig.say('hello', { options: { clientTools } });
      const asked = ['a', 'b', 'c'].map((callId) => ({ name: 'ask', callId }));
      (await rig.model.call(0)).askFor(...asked, { name: 'look' });
      (await rig.tools.call(0)).answer('seen');
      await heard.event('tool-call.succeeded');
      const session = await rig.registry.session('s');
      const result = { content: [{ type: 'text', text: 'yes' }] };
      const say = (callId: string, outcome: ToolOutcome) =>
        session.answer({ type: 'tool-call.answer', callId, outcome }, CLIENT);
      await say('a', { status: 'succeeded', result });
      await say('b', { status: 'failed', reason: 'no', result });
      clock.increment(3_600_000);
      (await rig.model.call(1)).answer('Well.');
      await heard.event('turn.completed');
      await rig.say('again', { options: { clientTools } });
      (await rig.model.call(2)).askFor({ name: 'ask', callId: 'd' });
      await heard.event('tool-call.delegated', 'again');
      await session.cancel('enough', CLIENT);
      return recorded(store);
    },

  'questions of a tool server: answered, declined, expired, withdrawn, of the model, and ended with the turn':
    async () => {
      const clock = new SimulatedClock();
      const now = (): number => clock.now();
      const store = memoryEventStore(now);
      const sampling = { policy: 'auto', maxRequests: 9, maxTokens: 1_000 } as const;
      const rig = start(store, { clock, now, sampling });
      const heard = rig.listen();
      await rig.say('a');
      (await rig.model.call(0)).askFor({ name: 'look' });
      const call = await rig.tools.call(0);
      const session = await rig.registry.session('s');
      const gone = new AbortController();
      const asked = [...Array(4)].map(() => call.ask(FORM, gone.signal));
      const [first, second, third] = await heard.several('input.requested', 4);
      const content = { size: 2 };
      const reply = { type: 'input.answer', action: 'accept' } as const;
      await session.answer({ ...reply, inputId: first?.inputId ?? '', content }, CLIENT);
      await session.answer({ ...reply, inputId: second?.inputId ?? '', action: 'decline' }, CLIENT);
      await session.answer({ ...reply, inputId: third?.inputId ?? '', action: 'cancel' }, CLIENT);
      gone.abort();
      await Promise.all(asked);
      const late = call.ask(FORM);
      await heard.several('input.requested', 5);
      clock.increment(3_600_000);
      await late;
      const sampled = call.ask({
        method: 'sampling/createMessage',
        params: { maxTokens: 9, messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }] },
      });
      (await rig.model.call(1)).answer('Yes.');
      await sampled;
      void call.ask(FORM);
      await heard.several('input.requested', 6);
      call.answer('seen');
      (await rig.model.call(2)).askFor({ name: 'look', callId: 'again' });
      const again = await rig.tools.call(1);
      void again.ask(FORM);
      await heard.several('input.requested', 7);
      await session.cancel('enough', CLIENT);
      return recorded(store);
    },

  'questions that the stop of the service ended': async () => {
    const store = memoryEventStore();
    const before = start(store);
    const heard = before.listen();
    await before.say('a');
    (await before.model.call(0)).askFor({ name: 'look' }, { name: 'pay' });
    void (await before.tools.call(0)).ask(FORM);
    void (await before.tools.call(1)).ask(FORM);
    await heard.several('input.requested', 2);
    await before.registry.drain(0);
    const rig = start(store);
    const since = rig.listen();
    await (await rig.registry.session('s')).resume();
    // Only the call that is safe to repeat runs again.
    (await rig.tools.call(0)).answer('seen');
    (await rig.model.call(0)).answer('Sorry.');
    await since.event('turn.completed');
    return recorded(store);
  },
};

const FORM = {
  method: 'elicitation/create',
  params: {
    message: 'How many?',
    requestedSchema: { type: 'object', properties: { size: { type: 'integer' } } },
  },
} as const;

/** A session with calls under way and a message behind, and every fork of it and of its last fork. */
export async function forks(): Promise<SessionEvent[][]> {
  const store = memoryEventStore();
  const rig = start(store, { approval });
  const heard = rig.listen();
  await rig.say('a');
  (await rig.model.call(0)).askFor({ name: 'look' }, { name: 'pay' }, { name: 'look' });
  await heard.event('approval.requested');
  (await rig.tools.call(1)).answer('x');
  await heard.event('tool-call.succeeded');
  await rig.say('b');
  const all: SessionEvent[][] = [];
  const forkEach = async (from: string): Promise<void> => {
    const head = (await recorded(store, from)).length;
    for (let at = 1; at <= head; at += 1) {
      const to = `${from}-${at}`;
      await rig.registry.fork({ from, at, to }, CLIENT);
      const answered = rig.listen(to);
      await rig.say('c', { sessionId: to, turnId: `turn of ${to}` });
      (await rig.model.call(rig.model.calls.length - 1)).answer('done');
      await answered.event('turn.completed');
      all.push(await recorded(store, to));
    }
  };
  await forkEach('s');
  const last = `s-${(await recorded(store)).length}`;
  await forkEach(last);
  return all;
}
