import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import type { TurnOptions } from '../../../src/core/turn/turn-options.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const ASK = { name: 'ask', description: 'Asks the person.', inputSchema: { type: 'object' } };
const options: TurnOptions = { clientTools: [ASK] };
const said = (text: string): ToolOutcome => ({
  status: 'succeeded',
  result: { content: [{ type: 'text', text }] },
});

describe('a tool that a client lends to a turn', () => {
  it('is offered in that turn only, in front of a tool of the same name', async () => {
    const rig = new SessionRig({ tools: new DirectedTools({ ask: {}, look: {} }) });
    const heard = rig.listen();
    await rig.say('a', { options });
    const first = await rig.model.call(0);
    expect(first.request.tools).toMatchObject([
      { name: 'ask', description: 'Asks the person.' },
      { name: 'tools__ask' },
      { name: 'look' },
    ]);
    first.answer('ok');
    await heard.event('turn.completed', 'a');
    await rig.say('b');
    expect((await rig.model.call(1)).request.tools.map(({ name }) => name)).toEqual(['ask', 'look']);
  });

  it('is run by the client, and the turn goes on with what it says', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a', { options });
    (await rig.model.call(0)).askFor({ name: 'ask', callId: 'x', arguments: { of: 'you' } });
    expect(await heard.event('tool-call.delegated')).toEqual({
      type: 'tool-call.delegated',
      turnId: 'a',
      callId: 'x',
      toolName: 'ask',
      serverId: null,
      arguments: { of: 'you' },
      expiresAfterMs: 3_600_000,
    });
    const session = await rig.registry.session('s');
    await expect(
      session.answer({ type: 'tool-call.answer', callId: 'y', outcome: said('no') }, CLIENT),
    ).rejects.toMatchObject({ code: 'CALL_NOT_FOUND', details: { callId: 'y' } });
    await session.answer({ type: 'tool-call.answer', callId: 'x', outcome: said('fine') }, CLIENT);
    const { messages } = (await rig.model.call(1)).request;
    expect(messages.at(-1)).toMatchObject({ role: 'tool', callId: 'x', text: 'fine' });
    await expect(
      session.answer({ type: 'tool-call.answer', callId: 'x', outcome: said('again') }, CLIENT),
    ).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' });
  });

  it('waits for its client over a restart, as long as it would have waited without', async () => {
    const clock = new SimulatedClock();
    const now = (): number => clock.now();
    const store = memoryEventStore(now);
    const before = new SessionRig({ store, clock, now });
    const heard = before.listen();
    await before.say('a', { options });
    (await before.model.call(0)).askFor({ name: 'ask', callId: 'x' }, { name: 'ask', callId: 'late' });
    await heard.event('tool-call.delegated');
    await before.registry.drain(0);
    clock.increment(1_800_000);
    const rig = new SessionRig({ store, clock, now });
    const since = rig.listen();
    const session = await rig.registry.session('s');
    await session.resume();
    await session.answer({ type: 'tool-call.answer', callId: 'x', outcome: said('fine') }, CLIENT);
    clock.increment(1_799_999);
    expect(rig.model.calls).toHaveLength(0);
    clock.increment(1);
    expect(await since.event('tool-call.failed')).toMatchObject({
      callId: 'late',
      cause: { kind: 'client-expired', afterMs: 3_600_000 },
      reason: 'the client did not answer it within 1 hour',
    });
    (await rig.model.call(0)).answer('Well.');
    expect(await since.event('turn.completed')).toMatchObject({ content: 'Well.' });
  });

  it('is not asked for when its arguments do not parse; the model is told', async () => {
    const rig = new SessionRig();
    await rig.say('a', { options });
    (await rig.model.call(0)).askFor({ name: 'ask', arguments: '[' });
    const { messages } = (await rig.model.call(1)).request;
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      text: expect.stringContaining('not a JSON object'),
    });
  });

  it('is forced in the first step only', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a', { options: { ...options, toolChoice: { name: 'ask' } } });
    const first = await rig.model.call(0);
    expect(first.request.toolChoice).toEqual({ name: 'ask' });
    first.askFor({ name: 'ask', callId: 'x' });
    await heard.event('tool-call.delegated');
    const session = await rig.registry.session('s');
    await session.answer({ type: 'tool-call.answer', callId: 'x', outcome: said('fine') }, CLIENT);
    expect((await rig.model.call(1)).request.toolChoice).toBeUndefined();
  });
});
