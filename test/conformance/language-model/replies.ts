import { expect } from 'vitest';
import { callsIn, replyText } from '../../support/models/replies.ts';
import { said as assistantSaid } from '../../support/models/steps.ts';
import { calls, question, reply, says, thinks } from './answers.ts';
import { type LanguageModelHarness, scenario } from './harness.ts';
import { ask } from './outcome.ts';

const PIECES = ['Grüße,', ' world 👋', ' and all'];
const TEXT = PIECES.join('');
const IMAGE = { base64: 'iVBORw0KGgo=', mimeType: 'image/png' } as const;

export function replyScenarios(harness: LanguageModelHarness): void {
  scenario(
    harness,
    'always',
    'has a label of provider and model, and a source that names the same',
    async () => {
      await using subject = await harness.open([]);
      const { label, source } = subject.model;
      expect(label).toMatch(/^\S+ \S+/);
      expect(source?.api).toMatch(/\S/);
      expect(`${source?.provider} ${source?.model}`).toBe(label);
    },
  );

  scenario(harness, 'always', 'streams pieces that are never empty and add up to the text', async () => {
    await using subject = await harness.open([reply(...says(...PIECES))]);
    const answer = await ask(subject);
    expect(replyText(answer.reply)).toBe(TEXT);
    expect(answer.reply).not.toHaveProperty('finishReason');
    expect(answer.heard.pieces.join('')).toBe(TEXT);
    expect(answer.heard.pieces.length).toBeGreaterThan(1);
    expect(answer.heard.pieces).not.toContain('');
  });

  scenario(harness, 'always', 'never calls back before it has returned its promise', async () => {
    await using subject = await harness.open([reply(...says(...PIECES))]);
    let hasReturned = false;
    const heard: boolean[] = [];
    const listener = { onText: () => void heard.push(hasReturned), onReasoning: () => undefined };
    const pending = subject.model.generate(question(), listener, new AbortController().signal);
    hasReturned = true;
    await pending;
    expect(new Set(heard)).toEqual(new Set([true]));
  });

  scenario(
    harness,
    'always',
    'gives parallel tool calls in their order, with raw arguments and ids of their own',
    async () => {
      const args = [{ query: 'uWS "cork" 👋', limit: 3 }, {}];
      const [first = '', second = ''] = args.map((each) => JSON.stringify(each));
      const said = [
        ...says('Let me', ' look.'),
        calls('c1', 'search', first),
        calls('c2', 'files__read', second),
      ];
      await using subject = await harness.open([reply(...said)]);
      const answer = await ask(subject);
      expect(answer.heard.pieces.join('')).toBe('Let me look.');
      expect(answer.reply.parts.map(({ type }) => type)).toEqual(['text', 'toolCall', 'toolCall']);
      const asked = callsIn(answer.reply);
      expect(asked.map(({ name }) => name)).toEqual(['search', 'files__read']);
      expect(asked.map((call) => JSON.parse(call.arguments))).toEqual(args);
      expect(new Set(asked.map(({ callId }) => callId)).size).toBe(2);
      expect(asked.every(({ callId }) => callId !== '')).toBe(true);
    },
  );

  scenario(harness, 'always', 'says nothing when there is nothing but a tool call', async () => {
    await using subject = await harness.open([reply(calls('c1', 'search', '{"query":"x"}'))]);
    const answer = await ask(subject);
    expect(answer.heard.pieces).toEqual([]);
    expect(answer.reply.parts).toMatchObject([{ type: 'toolCall', name: 'search' }]);
  });

  scenario(
    harness,
    'packets',
    'gives calls of one id, or of an id that is known, ids of their own',
    async () => {
      const twice = [calls('c1', 'search', '{"query":"a"}'), calls('c1', 'search', '{"query":"b"}')];
      await using subject = await harness.open([reply(...twice)]);
      const known = { role: 'tool', callId: 'c1', name: 'search', text: 'found' } as const;
      const call = { type: 'toolCall', callId: 'c1', name: 'search', arguments: {} } as const;
      const { messages, ...rest } = question();
      const before = [...messages, { role: 'assistant', parts: [call] } as const, known];
      const answer = await ask(subject, { ...rest, messages: before });
      expect(new Set(['c1', ...callsIn(answer.reply).map(({ callId }) => callId)]).size).toBe(3);
      expect(callsIn(answer.reply).map((each) => each.arguments)).toEqual(['{"query":"a"}', '{"query":"b"}']);
    },
  );

  scenario(harness, 'reasoning', 'tells reasoning apart from the text', async () => {
    await using subject = await harness.open([reply(...thinks('Let me', ' see.'), ...says(...PIECES))]);
    const answer = await ask(subject);
    expect(answer.heard.thoughts).toEqual(['Let me', ' see.']);
    expect(answer.heard.pieces.join('')).toBe(TEXT);
    expect(replyText(answer.reply)).toBe(TEXT);
    expect(answer.reply.parts).toContainEqual({ type: 'reasoning', text: 'Let me see.' });
  });

  scenario(harness, 'refusal', 'gives a refusal as a part of its own, which the user reads', async () => {
    const refusal = ['I cannot', ' do that.'].map((text) => ({ type: 'refusal', text }) as const);
    await using subject = await harness.open([reply(...refusal)]);
    const answer = await ask(subject);
    expect(answer.heard.pieces.join('')).toBe('I cannot do that.');
    expect(answer.reply.parts).toEqual([{ type: 'refusal', text: 'I cannot do that.' }]);
  });

  scenario(harness, 'image', 'sends the images of a message', async () => {
    await using subject = await harness.open([]);
    await ask(subject, { ...question(), messages: [{ role: 'user', text: 'Look', images: [IMAGE] }] });
    expect(subject.requests[0]?.text).toContain(JSON.stringify(harness.imagePart(IMAGE)).slice(0, -1));
  });

  scenario(
    harness,
    'always',
    'takes a whole conversation, with results, images and a reply that was cut',
    async () => {
      await using subject = await harness.open([reply(...says(...PIECES))]);
      const call = {
        type: 'toolCall',
        callId: 'call_1_1',
        name: 'search',
        arguments: { query: 'q' },
      } as const;
      const answer = await ask(subject, {
        ...question(),
        messages: [
          { role: 'user', text: 'first' },
          { role: 'assistant', parts: [call] },
          { role: 'tool', callId: 'call_1_1', name: 'search', text: 'found' },
          assistantSaid('Here is half of [cut off: the user cancelled this reply]'),
          { role: 'user', text: '#0', images: [IMAGE] },
        ],
      });
      expect(replyText(answer.reply)).toBe(TEXT);
    },
  );

  scenario(harness, 'always', 'answers several calls at a time, each to its own listener', async () => {
    const same = reply(...says(...PIECES));
    await using subject = await harness.open([same, same, same]);
    const answers = await Promise.all([ask(subject), ask(subject), ask(subject)]);
    for (const answer of answers) {
      expect(replyText(answer.reply)).toBe(TEXT);
      expect(answer.heard.pieces.join('')).toBe(TEXT);
    }
  });

  scenario(harness, 'whole answers', 'takes a reply that comes whole', async () => {
    const said = [...thinks('Let me see.'), ...says(TEXT), calls('c1', 'search', '{"query":"x"}')];
    await using subject = await harness.open([{ kind: 'reply', said, as: 'json' }]);
    const answer = await ask(subject);
    expect(answer.heard).toMatchObject({ thoughts: ['Let me see.'], pieces: [TEXT] });
    expect(callsIn(answer.reply)).toMatchObject([{ name: 'search', arguments: '{"query":"x"}' }]);
  });
}
