import { expect } from 'vitest';
import type { Refused } from '../../../src/core/conversation/refused.ts';
import { replyText } from '../../support/models/replies.ts';
import { type Answer, type ErrorKind, question, reply, says, thinks } from './answers.ts';
import { type LanguageModelHarness, scenario } from './harness.ts';
import { ask, askInVain } from './outcome.ts';

/** What repeating would not mend. */
const lasting: readonly { error: ErrorKind; reason: RegExp; refused?: Refused }[] = [
  { error: 'key', reason: /refused the API key; check llm\.apiKey/ },
  { error: 'model', reason: /has no model .*check llm\.model/ },
  { error: 'quota', reason: /credit or budget/ },
  { error: 'context', reason: /too long for model/, refused: 'context' },
  { error: 'image', reason: /did not accept an image/, refused: 'image' },
];

const REPEATING = { maxRetries: 2 };
const AT_ONCE = { 'retry-after-ms': '1' };

export function errorScenarios(harness: LanguageModelHarness): void {
  for (const { error: kind, reason, refused } of lasting) {
    scenario(
      harness,
      'refused requests',
      `tells of an error of kind ${kind}, and does not repeat the request`,
      async () => {
        await using subject = await harness.open([{ kind: 'refused', error: kind }], REPEATING);
        const failed = await askInVain(subject, withImage());
        expect(failed.reason).toMatch(reason);
        expect(failed.error.details.refused).toBe(refused);
        expect(failed.error.details.status).toBeTypeOf('number');
        expect(failed.heard.pieces).toEqual([]);
        expect(subject.requests).toHaveLength(2);
      },
    );
  }

  scenario(harness, 'refused requests', 'tells of a long wait, and does not wait', async () => {
    const headers = { 'retry-after': '120' };
    await using subject = await harness.open([{ kind: 'refused', error: 'rate', headers }], REPEATING);
    const { error, reason } = await askInVain(subject);
    expect(error.details).toMatchObject({ status: 429, retryAfter: 120 });
    expect(reason).toMatch(/rate limit.*120 seconds/);
    expect(subject.requests).toHaveLength(2);
  });

  for (const error of ['overloaded', 'rate'] as const) {
    scenario(harness, 'refused requests', `repeats a request after an error of kind ${error}`, async () => {
      const refusal: Answer = { kind: 'refused', error, headers: AT_ONCE };
      await using subject = await harness.open([refusal, refusal, reply(...says('Now.'))], REPEATING);
      const answer = await ask(subject);
      expect(replyText(answer.reply)).toBe('Now.');
      expect(answer.heard.pieces).toEqual(['Now.']);
      const [first, ...again] = subject.requests.map(({ text }) => text);
      expect(again).toEqual([first, first]);
    });

    scenario(
      harness,
      'refused requests',
      `gives up an error of kind ${error} after so many attempts`,
      async () => {
        const refusal: Answer = { kind: 'refused', error, headers: AT_ONCE };
        await using subject = await harness.open([refusal, refusal, refusal], REPEATING);
        const failed = await askInVain(subject);
        expect(failed.reason).toMatch(error === 'rate' ? /rate limit/ : /overloaded; try again later/);
        expect(subject.requests).toHaveLength(4);
      },
    );
  }

  scenario(
    harness,
    'errors before the text',
    'repeats a request whose stream tells of an error before a word',
    async () => {
      const failing: Answer = { kind: 'error', said: [], error: 'overloaded' };
      await using subject = await harness.open([failing, reply(...says('Now.'))], REPEATING);
      const answer = await ask(subject);
      expect(answer.heard.pieces).toEqual(['Now.']);
      expect(subject.requests).toHaveLength(2);
    },
  );

  scenario(harness, 'always', 'fails with a reason after the text that came before', async () => {
    const said = says('half', ' a');
    await using subject = await harness.open([{ kind: 'error', said, error: 'overloaded' }], REPEATING);
    const { heard } = await askInVain(subject);
    expect(heard.pieces.join('')).toBe('half a');
    if (subject.requests.length > 0) expect(subject.requests).toHaveLength(2);
  });

  scenario(harness, 'reasoning', 'repeats nothing after a thought was passed on', async () => {
    const failing: Answer = { kind: 'error', said: thinks('Hm.'), error: 'overloaded' };
    await using subject = await harness.open([failing], REPEATING);
    expect((await askInVain(subject)).heard.thoughts).toEqual(['Hm.']);
    expect(subject.requests).toHaveLength(2);
  });
}

function withImage() {
  const images = [{ base64: 'iVBORw0KGgo=', mimeType: 'image/png' } as const];
  return { ...question(), messages: question().messages.map((message) => ({ ...message, images })) };
}
