import { expect } from 'vitest';
import type { ModelRequest } from '../../../src/ports/language-model.ts';
import { callsIn, replyText } from '../../support/models/replies.ts';
import { type Answer, calls, type Ending, question, reply, says, thinks } from './answers.ts';
import { type LanguageModelHarness, scenario } from './harness.ts';
import { ask, askInVain } from './outcome.ts';

const ONCE = { maxRetries: 0 };
/** Shorter than the limit that must not be reached, and far longer than the other one. */
const SOON_MS = 15_000;
const LONG = 60_000;
const SHORT = 500;
const REPEATING = { maxRetries: 1 };

export function endingScenarios(harness: LanguageModelHarness): void {
  scenario(harness, 'endings', 'tells that a token limit cut the reply', async () => {
    await using subject = await harness.open([ended('length', 'Half a')]);
    const answer = await ask(subject);
    expect(answer.reply).toMatchObject({ finishReason: 'length', parts: [{ type: 'text', text: 'Half a' }] });
  });

  scenario(harness, 'endings', 'takes a call that a token limit cut for no call', async () => {
    const said = [...says('I look.'), calls('c1', 'search', '{"query": "Os')];
    await using subject = await harness.open([{ kind: 'reply', said, ending: 'length' }]);
    const { reason, heard } = await askInVain(subject);
    expect(reason).toContain('llm.maxTokens');
    expect(heard.pieces).toEqual(['I look.']);
  });

  scenario(
    harness,
    'endings',
    'fails when a token limit left nothing to be said, and does not repeat it',
    async () => {
      await using subject = await harness.open([{ kind: 'reply', said: [], ending: 'length' }], REPEATING);
      const { reason } = await askInVain(subject);
      expect(reason).toContain('llm.maxTokens');
      expect(subject.requests).toHaveLength(2);
    },
  );

  scenario(harness, 'endings', 'tells that a content filter stopped the reply', async () => {
    await using subject = await harness.open([ended('filtered', 'First')], REPEATING);
    const { error, reason, heard } = await askInVain(subject);
    expect(error.details.refused).toBe('content');
    expect(reason).toContain('content filter');
    expect(heard.pieces).toEqual(['First']);
  });

  scenario(harness, 'endings', 'passes no reply off as whole whose ending nobody knows', async () => {
    await using subject = await harness.open([ended('unknown', 'Odd')], REPEATING);
    const { reason, heard } = await askInVain(subject);
    expect(reason).toContain('strange_end');
    expect(heard.pieces).toEqual(['Odd']);
  });

  scenario(harness, 'endings', 'fails at a reply without a word', async () => {
    await using subject = await harness.open([reply()], ONCE);
    expect((await askInVain(subject)).reason).toContain('empty reply');
  });

  scenario(
    harness,
    'endings',
    'tells a model to go on that says nothing after the results of tools',
    async () => {
      await using subject = await harness.open([reply(), reply(), reply(...says('Done.'))], REPEATING);
      const answer = await ask(subject, withResult(question()));
      expect(replyText(answer.reply)).toBe('Done.');
      const isToldToGoOn = subject.requests.map(({ text }) => text.includes('Your last reply was empty'));
      expect(isToldToGoOn).toEqual([false, false, true]);
    },
  );

  scenario(harness, 'reasoning', 'fails at a reply with nothing but thoughts', async () => {
    const thoughts = reply(...thinks('Hm.'));
    await using subject = await harness.open([thoughts, thoughts], REPEATING);
    const { reason, heard } = await askInVain(subject);
    expect(reason).toContain('empty reply');
    expect(heard.thoughts).toEqual(['Hm.', 'Hm.']);
  });

  scenario(
    harness,
    'reasoning',
    'tells a model to go on that only thought, and keeps what it thought',
    async () => {
      await using subject = await harness.open([reply(...thinks('Hm.')), reply(...says('Done.'))], REPEATING);
      const answer = await ask(subject);
      expect(answer.reply.parts).toEqual([
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Done.' },
      ]);
      expect(answer.heard.thoughts).toEqual(['Hm.']);
      expect(subject.requests).toHaveLength(2);
    },
  );

  scenario(harness, 'endings', 'repeats a request that got a reply without a word', async () => {
    const answers: Answer[] = [
      { kind: 'reply', said: [] },
      { kind: 'reply', said: says('Now.') },
    ];
    await using subject = await harness.open(answers, REPEATING);
    const answer = await ask(subject);
    expect(replyText(answer.reply)).toBe('Now.');
    expect(answer.heard.pieces).toEqual(['Now.']);
  });

  for (const by of ['end', 'reset'] as const) {
    const how = by === 'end' ? 'just ends' : 'breaks';
    scenario(
      harness,
      'truncation',
      `fails when the stream ${how} in the middle, and repeats nothing`,
      async () => {
        await using subject = await harness.open([{ kind: 'truncated', said: says('Half'), by }], REPEATING);
        const { reason, heard } = await askInVain(subject);
        expect(reason).toContain('complete');
        expect(heard.pieces).toEqual(['Half']);
        expect(subject.requests).toHaveLength(2);
      },
    );

    scenario(harness, 'truncation', `repeats a request whose stream ${how} before a word`, async () => {
      const answers: Answer[] = [
        { kind: 'truncated', said: [], by },
        { kind: 'reply', said: says('Now.') },
      ];
      await using subject = await harness.open(answers, REPEATING);
      const answer = await ask(subject);
      expect(answer.heard.pieces).toEqual(['Now.']);
      expect(subject.requests).toHaveLength(2);
    });
  }

  for (const [lastly, how] of [
    ['hang', 'stays open'],
    ['reset', 'breaks'],
  ] as const) {
    scenario(
      harness,
      'truncation',
      `gives a complete reply whose stream ${how} after the finish reason`,
      async () => {
        const said = [...says('All', ' of it.'), calls('c1', 'search', '{"query":"x"}')];
        const settings = { ...ONCE, firstByteTimeoutMs: LONG, timeoutMs: SHORT };
        await using subject = await harness.open([{ kind: 'unended', said, lastly }], settings);
        const answer = await ask(subject);
        expect(replyText(answer.reply)).toBe('All of it.');
        expect(callsIn(answer.reply)).toMatchObject([{ name: 'search', arguments: '{"query":"x"}' }]);
        expect(answer.reply).not.toHaveProperty('finishReason');
      },
      SOON_MS,
    );
  }
}

function ended(ending: Ending, ...pieces: string[]): Answer {
  return { kind: 'reply', said: says(...pieces), ending };
}

/** The request goes on after the model has called a tool. */
function withResult(request: ModelRequest): ModelRequest {
  const call = { type: 'toolCall', callId: 'c1', name: 'search', arguments: { query: 'Oslo' } } as const;
  return {
    ...request,
    messages: [
      ...request.messages,
      { role: 'assistant', parts: [call] },
      { role: 'tool', callId: 'c1', name: 'search', text: 'found' },
    ],
  };
}
