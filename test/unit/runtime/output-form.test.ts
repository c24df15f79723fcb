import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { TurnOptions } from '../../../src/core/turn/turn-options.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const schema = { type: 'object', required: ['colour'] };
const options: TurnOptions = { output: { schema, name: 'colour' } };

describe('a reply whose form the client has asked for', () => {
  it('is the text of the last step alone, and is streamed when it was checked', async () => {
    const rig = new SessionRig({ tools: new DirectedTools({ look: {} }) });
    const heard = rig.listen();
    await rig.say('a', { options });
    const first = await rig.model.call(0);
    expect(first.request.output).toEqual(options.output);
    expect(first.request.systemPrompt).toContain(JSON.stringify(schema));
    first.say('Let me look.');
    first.askFor({ name: 'look' });
    (await rig.tools.call(0)).answer('red');
    const second = await rig.model.call(1);
    second.say('{"colour":');
    expect(heard.text).toBe('');
    second.answer('"red"}');
    expect(await heard.event('turn.completed')).toMatchObject({ content: '{"colour":"red"}' });
    expect(heard.text).toBe('{"colour":"red"}');
  });

  it('is asked for again, once, with what was wrong', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a', { options });
    (await rig.model.call(0)).answer('Red.');
    expect(await heard.event('output.rejected')).toMatchObject({ step: 1, issue: 'it is not JSON' });
    const second = await rig.model.call(1);
    expect(second.request.messages).toMatchObject([
      { role: 'user', text: 'a' },
      { role: 'assistant', parts: [{ text: 'Red.' }] },
      { role: 'user', text: expect.stringContaining('it is not JSON') },
    ]);
    second.answer('{"colour":"red"}');
    expect(await heard.event('turn.completed')).toMatchObject({ content: '{"colour":"red"}' });
    expect(heard.text).toBe('{"colour":"red"}');
  });

  it('is told to be too long where the token limit cut it', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a', { options });
    const call = await rig.model.call(0);
    call.say('{"colour":');
    call.end({ finishReason: 'length' });
    expect(await heard.event('output.rejected')).toMatchObject({
      issue: 'it is not JSON; the token limit cut it (llm.maxTokens)',
    });
  });

  it('ends the turn when it is wrong again; the next turn is not concerned', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a', { options });
    (await rig.model.call(0)).answer('Red.');
    (await rig.model.call(1)).answer('Red!');
    expect(await heard.event('turn.failed')).toMatchObject({
      cause: { kind: 'output', issue: 'it is not JSON' },
      error: {
        code: 'AGENT_ERROR',
        details: { reason: 'the reply does not fit the schema that was asked for: it is not JSON' },
      },
    });
    await rig.say('b');
    const third = await rig.model.call(2);
    expect(third.request.output).toBeUndefined();
    third.answer('Blue.');
    expect(await heard.event('turn.completed', 'b')).toMatchObject({ content: 'Blue.' });
  });

  it('is asked for again after a stop in between, also behind the last step', async () => {
    const store = memoryEventStore();
    const stopped = new SessionRig({ store, maxSteps: 1 });
    await stopped.say('a', { options });
    (await stopped.model.call(0)).answer('Red.');
    await stopped.model.call(1);
    await stopped.registry.drain(0);

    const rig = new SessionRig({ store, maxSteps: 1 });
    const heard = rig.listen();
    await rig.registry.recover();
    (await rig.model.call(0)).answer('{"colour":"red"}');
    expect(await heard.event('turn.completed')).toMatchObject({ content: '{"colour":"red"}' });
  });

  it('is asked for again behind the last step, and the limit tells how often the model was called', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools, maxSteps: 1 });
    const heard = rig.listen();
    await rig.say('a', { options });
    (await rig.model.call(0)).answer('Red.');
    (await rig.model.call(1)).askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    expect(await heard.event('turn.failed')).toMatchObject({
      cause: { kind: 'step-limit', maxSteps: 1 },
      error: { details: { reason: expect.stringContaining('after 2 model calls, and the limit is 1 (') } },
    });
  });

  it('is not stored before it was checked, although the model is called early', async () => {
    const rig = new SessionRig({ callsEarly: true });
    const heard = rig.listen();
    await rig.say('a', { options });
    (await rig.model.call(0)).answer('Red.');
    (await rig.model.call(1)).answer('{"colour":"red"}');
    expect(await heard.event('turn.completed')).toMatchObject({ content: '{"colour":"red"}' });
    expect((await rig.logged()).map(({ type }) => type)).toEqual([
      ...['turn.requested', 'turn.started', 'step.completed', 'output.rejected', 'step.completed'],
      'turn.completed',
    ]);
  });
});
