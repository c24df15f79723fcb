import { expect } from 'vitest';
import { replyText } from '../../support/models/replies.ts';
import { type Answer, calls, reply, type Said, says } from './answers.ts';
import { type LanguageModelHarness, scenario } from './harness.ts';
import { ask, askInVain } from './outcome.ts';

/** Shorter than the limits that must not be reached, and far longer than those that must. */
const SOON_MS = 15_000;
const LONG = 60_000;
const SHORT = 500;

const SHORT_REPLY: readonly Said[] = [...says('Grüße', ' 👋'), calls('c1', 'search', '{"query":"ä"}')];

export function wireScenarios(harness: LanguageModelHarness): void {
  scenario(harness, 'settings', 'has the settings in each request', async () => {
    await using subject = await harness.open([], {
      maxTokens: 321,
      temperature: 0.5,
      extraBody: { x_extra: { deep: [1] }, y_extra: 'y' },
    });
    await ask(subject);
    const { text = '', headers } = subject.requests[0] ?? {};
    expect(JSON.parse(text)).toMatchObject({
      ...harness.settingFields,
      x_extra: { deep: [1] },
      y_extra: 'y',
      stream: true,
    });
    expect(headers?.['content-type']).toBe('application/json');
  });

  scenario(harness, 'settings', 'takes a field away that the configuration sets to null', async () => {
    await using subject = await harness.open([], { maxTokens: 321, extraBody: { stream: null } });
    await ask(subject);
    expect(JSON.parse(subject.requests[0]?.text ?? '')).not.toHaveProperty('stream');
  });

  scenario(harness, 'packets', 'reads the same reply wherever its bytes are split', async () => {
    const { length } = harness.bytesOf({ kind: 'reply', said: SHORT_REPLY });
    const splits = Array.from({ length: length - 1 }, (_, index): Answer => {
      return { kind: 'reply', said: SHORT_REPLY, as: { splitAt: index + 1 } };
    });
    await using subject = await harness.open([reply(...SHORT_REPLY), ...splits]);
    const { reply: expected } = await ask(subject);
    expect(replyText(expected)).toBe('Grüße 👋');
    for (const { as } of splits.map((split) => ({ as: split.kind === 'reply' ? split.as : undefined }))) {
      const answer = await ask(subject);
      expect({ as, ...answer.reply }).toEqual({ as, ...expected });
      expect(answer.heard.pieces).toEqual(['Grüße', ' 👋']);
    }
  });

  scenario(
    harness,
    'silence',
    'gives up a provider that does not begin to answer',
    async () => {
      const settings = { firstByteTimeoutMs: SHORT, timeoutMs: LONG };
      await using subject = await harness.open([{ kind: 'silent', said: [] }], settings);
      const { reason, heard } = await askInVain(subject);
      expect(reason).toContain(`was silent for ${SHORT} ms`);
      expect(reason).toContain('llm.firstByteTimeoutMs');
      expect(heard.pieces).toEqual([]);
    },
    SOON_MS,
  );

  scenario(
    harness,
    'silence',
    'gives up a provider that falls silent in the middle, and repeats nothing',
    async () => {
      const settings = { firstByteTimeoutMs: LONG, timeoutMs: SHORT };
      await using subject = await harness.open([{ kind: 'silent', said: says('Half') }], settings);
      const { reason, heard } = await askInVain(subject);
      expect(reason).toContain(`was silent for ${SHORT} ms`);
      expect(reason).toContain('llm.timeoutMs');
      expect(heard.pieces).toEqual(['Half']);
      expect(subject.requests).toHaveLength(2);
    },
    SOON_MS,
  );
}
