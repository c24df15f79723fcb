import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import type { GivenMessage } from '../../../../src/core/conversation/given-message.ts';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { givenThread } from '../../../../src/gateway/ag-ui/given-thread.ts';
import { knownMessages } from '../../../../src/gateway/ag-ui/known-messages.ts';
import type { InputMessage } from '../../../../src/gateway/ag-ui/run-input.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { Journal } from '../../../../src/runtime/sessions/journal.ts';

const sessionId = 's';
const maxImageBytes = 1_000;

const said = (id: string): InputMessage => ({ role: 'user', id, content: `text of ${id}` });
const asked = (turnId: string, id: string): SessionEvent => ({
  type: 'turn.requested',
  turnId,
  text: `text of ${id}`,
  options: { note: { agUi: { runId: `run-${turnId}`, messageIds: [id] } } },
});
/** A turn for a message that is in the conversation. */
function requestedAgain(turnId: string): SessionEvent {
  return { type: 'turn.requested', turnId, text: '', given: [] };
}
const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });
const replied = (turnId: string): SessionEvent[] => [
  { type: 'step.completed', turnId, step: 1, parts: [], separator: '', source: null },
  { type: 'turn.completed', turnId, content: '' },
];
const cancelled = (turnId: string, partial = ''): SessionEvent => ({
  type: 'turn.cancelled',
  turnId,
  partial,
  step: 1,
  separator: '',
  cause: { kind: 'cancelled' },
  reason: 'Stop.',
});
const failed = (turnId: string, details: Record<string, unknown> = {}): SessionEvent => ({
  type: 'turn.failed',
  turnId,
  partial: '',
  step: 1,
  separator: '',
  cause: { kind: 'model' },
  error: { code: 'AGENT_ERROR', message: 'No.', details },
});

/** What is known of the messages, and how many events were read for that. */
async function search(events: readonly SessionEvent[], messages: readonly InputMessage[], runId = 'new') {
  const store = memoryEventStore();
  await store.append(sessionId, 0, events);
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const journal = new Journal(store, bus);
  let read = 0;
  bus.handle('session.events', async ({ afterSeq, limit }) => {
    const page = await journal.read(sessionId, afterSeq, limit);
    read += page.length;
    return page;
  });
  const input = { threadId: sessionId, runId, messages: [...messages] };
  const run = { bus, context: ANYONE, sessionId, input, maxImageBytes, use: undefined };
  const thread = givenThread(messages, { maxImageBytes, isKnown: true });
  const { ids, answeredBy, isUnanswered } = await knownMessages(run, thread, events.length);
  return { ids: [...ids], answeredBy, isUnanswered, read };
}

const reply: GivenMessage = { role: 'assistant', text: 'Hi.' };
const begun = [asked('t1', 'u1'), started('t1')];
const UNANSWERED = { ids: ['u1'], answeredBy: null, isUnanswered: true };
const KNOWN = { ids: ['u1'], answeredBy: null, isUnanswered: false };
const NEW = { ids: [], answeredBy: null, isUnanswered: false };
/** A newest message that was answered is said again. */
const NOT_SOUGHT = NEW;

it.each<[what: string, events: SessionEvent[], known: object]>([
  ['is at work', begun, { ...KNOWN, answeredBy: 't1' }],
  ['waits for another turn', [asked('t1', 'u1')], { ...KNOWN, answeredBy: 't1' }],
  ['is answered', [...begun, ...replied('t1')], NOT_SOUGHT],
  ['has failed', [...begun, failed('t1')], UNANSWERED],
  ['was cancelled', [...begun, cancelled('t1')], UNANSWERED],
  ['was cancelled in the middle of the reply', [...begun, cancelled('t1', 'Wel')], NOT_SOUGHT],
  ['was refused by the provider', [...begun, failed('t1', { refused: 'content' })], NOT_SOUGHT],
  ['was cancelled while it waited', [asked('t1', 'u1'), cancelled('t1')], NEW],
  ['was cleared', [...begun, failed('t1'), { type: 'session.reset' }], NEW],
  ['has other words', [asked('t1', 'u2'), started('t1'), failed('t1')], NEW],
  [
    'has failed, and another one is at work',
    [...begun, failed('t1'), asked('t2', 'u2'), started('t2')],
    { ...KNOWN, answeredBy: 't2' },
  ],
  [
    'is answered, and another one is at work',
    [...begun, ...replied('t1'), asked('t2', 'u2'), started('t2')],
    NOT_SOUGHT,
  ],
  [
    'is at work, and was sent before the end of another one',
    [asked('t0', 'u0'), started('t0'), asked('t1', 'u1'), ...replied('t0'), started('t1')],
    { ...KNOWN, answeredBy: 't1' },
  ],
  [
    'has failed, and was sent before the end of another one',
    [asked('t0', 'u0'), started('t0'), asked('t1', 'u1'), ...replied('t0'), started('t1'), failed('t1')],
    UNANSWERED,
  ],
  [
    'has failed, and brought a reply behind it',
    [
      {
        type: 'turn.requested',
        turnId: 't1',
        text: 'text of u2',
        given: [{ role: 'user', text: 'text of u1' }, reply],
        options: { note: { agUi: { runId: 'run-t1', messageIds: ['u1', 'a1', 'u2'] } } },
      },
      started('t1'),
      failed('t1'),
    ],
    KNOWN,
  ],
  [
    'has interrupted another one and failed, and one that waited longer is at work',
    [
      asked('t0', 'u0'),
      started('t0'),
      asked('t2', 'u2'),
      asked('t1', 'u1'),
      cancelled('t0'),
      started('t1'),
      failed('t1'),
      started('t2'),
    ],
    { ...KNOWN, answeredBy: 't2' },
  ],
])('the turn of a message %s', async (_, events, known) => {
  expect(await search(events, [said('u1')])).toMatchObject(known);
});

it.each<[what: string, events: SessionEvent[]]>([
  ['at work', [...begun, asked('t2', 'u2')]],
  ['over', [...begun, failed('t1'), asked('t2', 'u2'), started('t2')]],
])('a run whose own turn is %s is told that one', async (_, events) => {
  expect(await search(events, [said('u1')], 'run-t1')).toMatchObject(KNOWN);
});

const thought = (id: string): InputMessage => ({ role: 'reasoning', id, content: 'A greeting.' });
const answered = [...begun, ...replied('t1')];

it.each<[what: string, events: SessionEvent[], messages: InputMessage[], known: object]>([
  [
    'of a turn that is over',
    [...answered, asked('t2', 'u2'), started('t2'), ...replied('t2')],
    [said('u1'), thought('t1-1-reasoning-0')],
    { ...KNOWN, answeredBy: 't1' },
  ],
  [
    'of a turn that did not say the message',
    [...begun, failed('t1'), requestedAgain('t2'), started('t2'), ...replied('t2')],
    [said('u1'), thought('t2-1-reasoning-0')],
    { ...KNOWN, answeredBy: 't2' },
  ],
  [
    'of a turn that has failed',
    [...begun, failed('t1')],
    [said('u1'), thought('t1-1-reasoning-0')],
    UNANSWERED,
  ],
  ['of another turn', answered, [said('u1'), thought('t9-1-reasoning-0')], KNOWN],
  ['before the message', answered, [thought('t1-1-reasoning-0'), said('u1')], NOT_SOUGHT],
  ['behind other words', answered, [{ ...said('u1'), content: 'other' }, thought('t1-1-reasoning-0')], NEW],
])('a page has reasoning %s', async (_, events, messages, known) => {
  expect(await search(events, messages)).toMatchObject(known);
});

it('the log is read no further back than the last reply, unless older messages lack', async () => {
  const long = Array.from({ length: 200 }, (_, index) => {
    const turnId = `t${index}`;
    return [asked(turnId, `u${index}`), started(turnId), ...replied(turnId)];
  }).flat();
  expect(await search(long, [said('new')])).toMatchObject({ ...NEW, read: 50 });
  expect(await search(long, [said('u150'), said('new')])).toMatchObject({ ids: ['u150'], read: 200 });
  const reply: InputMessage = { role: 'assistant', id: 't190-1', content: 'Hi.' };
  expect(await search(long, [reply, said('other'), said('new')])).toMatchObject({ ...NEW, read: 50 });
});
