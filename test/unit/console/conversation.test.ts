import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/client/session-client.ts';
import { conversationOf, type TurnView } from '../../../src/console/chat/conversation.ts';
import {
  type LiveSteps,
  record,
  stepKey,
  stream,
  type Thoughts,
} from '../../../src/console/service/running-step.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { eventsFor } from '../../support/sessions/rig-events.ts';
import { type RigOptions, SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const NOTHING: LiveSteps = { running: null, thoughts: new Map() };
const place = { turnId: 't', step: 1, offset: 0 };
const chunk = (content: string) => ({ event: 'chunk', data: { content }, ...place }) as const;
const thought = (reasoning: string) =>
  ({ event: 'thinking', data: { message: 'm', reasoning }, ...place }) as const;
const completed: StreamEvent = {
  event: 'stepCompleted',
  data: { content: '', step: 1, callIds: [] },
  seq: 3,
  turnId: 't',
};
const cancelled = (turnId: string) =>
  ({ event: 'error', data: { code: 'TURN_CANCELLED', message: 'm', details: {} }, seq: 3, turnId }) as const;
const NOW = 3_000;
/** The step began at 1,000 milliseconds. */
const times = { now: NOW, since: () => 1_000 };
const later = { ...times, now: 9_000 };

describe('the running step', () => {
  it('has thought from its beginning to its first word', () => {
    const thinking = stream(stream(NOTHING, thought('One'), times), thought(', two'), times);
    expect(thinking.running).toMatchObject({ text: '', thought: { text: 'One, two', ms: null } });
    const said = stream(thinking, chunk('Done'), times);
    const more = stream(stream(said, thought(', three'), later), chunk('.'), later);
    expect(more.running).toMatchObject({ text: 'Done.', thought: { text: 'One, two, three', ms: 2_000 } });
    const over = record(more, completed, later.now);
    expect(over.running).toBeNull();
    expect(over.thoughts).toEqual(new Map([[stepKey('t', 1), { text: 'One, two, three', ms: 2_000 }]]));
  });

  it('has thought up to its end where it says nothing', () => {
    const over = record(stream(NOTHING, thought('One'), times), completed, NOW);
    expect([...over.thoughts.values()]).toEqual([{ text: 'One', ms: 2_000 }]);
  });

  it('does not tell how long it thought when it thought only after its first word', () => {
    const over = record(stream(stream(NOTHING, chunk('A'), times), thought('One'), times), completed, NOW);
    expect([...over.thoughts.values()]).toEqual([{ text: 'One', ms: null }]);
  });

  it('leaves nothing when it begins anew, or has thought nothing', () => {
    const resumed = { event: 'turnResumed', data: { attempt: 2 }, seq: 3, turnId: 't' } as const;
    expect(record(stream(NOTHING, thought('One'), times), resumed, NOW)).toEqual(NOTHING);
    expect(record(stream(NOTHING, chunk('A'), times), completed, NOW)).toEqual(NOTHING);
  });

  it('goes on when another turn ends, and begins with the first piece of the next step', () => {
    const thinking = stream(NOTHING, thought('One'), times);
    expect(record(thinking, cancelled('waiting'), NOW).running).toBe(thinking.running);
    expect(record(thinking, cancelled('t'), NOW).running).toBeNull();
    const next = stream(thinking, { ...thought('Two'), step: 2 }, { ...times, since: () => 2_500 });
    expect(next.running).toMatchObject({ step: 2, since: 2_500, thought: { text: 'Two' } });
  });
});

/** A turn whose first step looks something up and whose second is cut by the token limit. */
async function cutTurn(options: RigOptions = {}): Promise<SessionRig> {
  const tools = new DirectedTools({ look: {} });
  const rig = new SessionRig({ tools, ...options });
  const heard = rig.listen();
  await rig.say('Why?', { turnId: 't' });
  const first = await rig.model.call(0);
  first.think('I should look.');
  first.askFor({ name: 'look' });
  (await tools.call(0)).answer('roses');
  const second = await rig.model.call(1);
  second.say('Because');
  second.end({ finishReason: 'length', usage: { inputTokens: 5, outputTokens: 2 } });
  await heard.event('turn.completed');
  return rig;
}

async function turnOf(rig: SessionRig, thoughts: Thoughts = new Map()): Promise<TurnView> {
  const [turn] = conversationOf(await eventsFor(rig), thoughts);
  if (turn?.kind !== 'turn') throw new Error('there is no turn');
  return turn;
}

describe('the conversation', () => {
  it('has what was kept of the thoughts, and what was heard beside it', async () => {
    const heard = new Map([[stepKey('t', 1), { text: 'look.', ms: 2_000 }]]);
    const kept = await cutTurn({ keepReasoning: true });
    const thoughtsOf = ({ steps }: TurnView) => steps.map(({ thought: one }) => one);
    expect(thoughtsOf(await turnOf(kept))).toEqual([{ text: 'I should look.', ms: null }, null]);
    expect(thoughtsOf(await turnOf(kept, heard))).toEqual([{ text: 'I should look.', ms: 2_000 }, null]);
    const forgotten = await cutTurn();
    expect(thoughtsOf(await turnOf(forgotten))).toEqual([null, null]);
    expect(thoughtsOf(await turnOf(forgotten, heard))).toEqual([{ text: 'look.', ms: 2_000 }, null]);
  });

  it('tells of each step its model and tokens, and of the turn whether the token limit cut it', async () => {
    const turn = await turnOf(await cutTurn());
    expect(turn.isCut).toBe(true);
    expect(turn.steps.map(({ model, usage }) => [model, usage])).toEqual([
      ['directed directed', undefined],
      ['directed directed', { inputTokens: 5, outputTokens: 2 }],
    ]);
  });

  it('tells why a text was asked for again, which is no part of the reply', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    const options = { output: { name: 'colour', schema: { type: 'object' } } };
    await rig.say('Which colour?', { turnId: 't', options });
    (await rig.model.call(0)).answer('Red.');
    (await rig.model.call(1)).answer('{"colour":"red"}');
    await heard.event('turn.completed');
    const { steps, reply } = await turnOf(rig);
    expect(steps.map(({ text, issue }) => [text, issue])).toEqual([
      ['Red.', 'it is not JSON'],
      ['{"colour":"red"}', undefined],
    ]);
    expect(reply).toBe('{"colour":"red"}');
  });

  it.each([
    [true, 'approved by a client'],
    [false, 'denied by a client'],
  ])('tells who answered a call that waited for approval: %s', async (approved, decision) => {
    const approval = { rules: [], default: 'ask' as const };
    const rig = new SessionRig({ tools: new DirectedTools({ look: {} }), approval });
    const heard = rig.listen();
    await rig.say('Why?', { turnId: 't' });
    (await rig.model.call(0)).askFor({ name: 'look', callId: 'l' });
    await heard.event('approval.requested');
    const session = await rig.registry.session('s');
    await session.answer({ type: 'approval.answer', callId: 'l', approved }, CLIENT);
    const [call] = (await turnOf(rig)).steps.flatMap(({ calls }) => calls);
    expect(call?.decision).toBe(decision);
  });

  it('has what was thought before a cancel, though nothing was said', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('Why?', { turnId: 't' });
    (await rig.model.call(0)).think('They ask');
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    await heard.event('turn.cancelled');
    const live = new Map([[stepKey('t', 1), { text: 'They ask', ms: 10 }]]);
    expect((await turnOf(rig, live)).steps).toEqual([
      { step: 1, text: '', thought: { text: 'They ask', ms: 10 }, calls: [] },
    ]);
    expect((await turnOf(rig)).steps).toEqual([]);
  });
});
