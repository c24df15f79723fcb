import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/core/conversation/token-estimate.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { stepParts, textOf } from '../../support/models/steps.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import type { SignalRecord } from '../../support/sockets/signal-record.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

describe('what the model thinks aloud', () => {
  const place = { type: 'reply.reasoning', sessionId: 's', turnId: 'hello', step: 1 };
  const thoughts = ({ signals }: SignalRecord) =>
    signals.filter((signal) => 'type' in signal && signal.type === 'reply.reasoning');

  it('is published as it comes, and not recorded', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.think('Hm', ', so');
    call.answer('Hello.');
    expect(await heard.event('step.completed')).toMatchObject({ parts: stepParts('Hello.') });
    expect(thoughts(heard)).toEqual([
      { ...place, offset: 0, content: 'Hm' },
      { ...place, offset: 2, content: ', so' },
    ]);
    expect(heard.text).toBe('Hello.');
  });

  it('is recorded in its place where that is wanted', async () => {
    const rig = new SessionRig({ keepReasoning: true });
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.think('Hm', '.');
    call.say('Well');
    call.think('Yes.');
    call.answer('.');
    const parts = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Well' },
      { type: 'reasoning', text: 'Yes.' },
      { type: 'text', text: '.' },
    ];
    expect(await heard.event('step.completed')).toMatchObject({ parts });
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'Well.' });
  });

  it('is told to whoever comes in the middle of it, until the step is in the log', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    const position = { head: 2, running: null };
    expect(await rig.registry.position('s')).toEqual({ ...position, reasoning: null });
    call.think('Hm', ', so');
    const reasoning = { ...place, offset: 0, content: 'Hm, so' };
    expect(await rig.registry.position('s')).toEqual({ ...position, reasoning });
    call.answer('Hello.');
    await heard.event('turn.completed');
    expect(await rig.registry.position('s')).toEqual({ head: 4, running: null, reasoning: null });
  });

  it('is not heard any more when the call is over', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    call.think('too late');
    expect(thoughts(heard)).toEqual([]);
  });
});

describe('what is recorded of a reply', () => {
  it('are its parts in their order, which model it was, how it ended and what it used', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    const opaque = { signature: 'x' };
    call.add({ type: 'opaque', data: opaque });
    call.say('I look.');
    call.add({ type: 'toolCall', callId: 'a', name: 'look', arguments: '{}', opaque });
    call.add({ type: 'toolCall', callId: 'a', name: 'look', arguments: '{}' });
    call.add({ type: 'text', text: 'Wait.', opaque });
    call.end({ usage: { inputTokens: 1, outputTokens: 2, reasoningTokens: 1 } });
    const [first, second] = [await heard.event('tool-call.requested'), heard.events.at(-1)];
    expect(await heard.event('step.completed')).toEqual({
      type: 'step.completed',
      turnId: 'hello',
      step: 1,
      parts: [
        { type: 'opaque', data: opaque },
        { type: 'text', text: 'I look.' },
        { type: 'toolCall', callId: 'a', opaque },
        // The model has used an id twice.
        { type: 'toolCall', callId: expect.stringMatching(/^call_/) },
        { type: 'text', text: 'Wait.', opaque },
      ],
      separator: '',
      source: rig.model.source,
      usage: { inputTokens: 1, outputTokens: 2, reasoningTokens: 1 },
    });
    expect([first, second]).toMatchObject([{ callId: 'a' }, { callId: expect.stringMatching(/^call_/) }]);
    for (const index of [0, 1]) (await tools.call(index)).answer('seen');
    const next = await rig.model.call(1);
    expect(next.request.messages[1]).toMatchObject({
      source: rig.model.source,
      parts: [{ data: opaque }, {}, { opaque }, {}, { opaque }],
    });
    next.say('Half');
    next.end({ finishReason: 'length' });
    expect(await heard.event('turn.completed')).toMatchObject({ finishReason: 'length' });
  });
});

describe('a conversation that the provider finds too long', () => {
  const tooLong = () => new ServiceError('AGENT_ERROR', 'No.', { reason: 'too long', refused: 'context' });

  it('is shown half as much of the next time, whatever the system prompt', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    const long = 'x'.repeat(396);
    for (let turn = 0; turn < 4; turn += 1) {
      await rig.say(`${turn} ${long}`, { turnId: `t${turn}` });
      (await rig.model.call(turn)).answer('ok');
      await heard.event('turn.completed', `t${turn}`);
    }
    await rig.say('short');
    const call = await rig.model.call(4);
    expect(call.request.messages).toHaveLength(9);
    const shownTokens = call.request.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    call.fail(tooLong());
    expect((await heard.event('turn.failed')).error.details).toEqual({
      reason: 'too long',
      refused: 'context',
      shownTokens,
    });
    await rig.say('again');
    const { messages } = (await rig.model.call(5)).request;
    expect(messages.map(textOf).map((text) => text.slice(0, 3))).toEqual(['3 x', 'ok', 'sho']);
    expect(messages.reduce((sum, message) => sum + estimateTokens(message), 0)).toBeLessThanOrEqual(
      shownTokens / 2,
    );
  });
});
