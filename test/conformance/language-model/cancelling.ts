import { expect } from 'vitest';
import type { ReplyListener } from '../../../src/ports/language-model.ts';
import { type Answer, calls, question, reply, type Said, says, thinks } from './answers.ts';
import { type LanguageModelHarness, type Subject, scenario } from './harness.ts';
import { expectAnswer, rejectionOf } from './outcome.ts';

/** Shorter than any wait that an abort has to end. */
const SOON_MS = 15_000;
const WORDS = says('one', ' two', ' three', ' four');
const SAID: readonly Said[] = [...WORDS, calls('c1', 'search', '{"query":"x"}')];
const THOUGHT: readonly Said[] = [...thinks('Let me', ' see.'), ...SAID];

export function cancelScenarios(harness: LanguageModelHarness): void {
  scenario(harness, 'always', 'asks no provider when the signal is aborted beforehand', async () => {
    await using subject = await harness.open([]);
    const heard = new AbortingListener(0);
    await rejectionOf(subject.model.generate(question(), heard, heard.signal));
    expect(subject.requests).toEqual([]);
    await expectSilence(subject, heard, 0);
  });

  scenario(
    harness,
    'silence',
    'ends the request when the signal aborts before the answer',
    async () => {
      await using subject = await harness.open([{ kind: 'silent', said: [] }]);
      const heard = new AbortingListener();
      const pending = subject.model.generate(question(), heard, heard.signal);
      await subject.arrived(0);
      heard.abort();
      await rejectionOf(pending);
      await expectSilence(subject, heard, 0);
    },
    SOON_MS,
  );

  afterEachPiece(harness, 'always', 'of a stream', SAID, { kind: 'reply', said: SAID });
  afterEachPiece(harness, 'reasoning', 'with thoughts', THOUGHT, { kind: 'reply', said: THOUGHT });
  afterEachPiece(harness, 'packets', 'of one packet', THOUGHT, {
    kind: 'reply',
    said: THOUGHT,
    as: 'one packet',
  });
  // Of chat completions nothing follows the last word, so nothing but the abort itself can end the call.
  afterEachPiece(harness, 'silence', 'of a stream that says no more', WORDS, {
    kind: 'silent',
    said: WORDS,
  });
  const whole = [...thinks('Let me see.'), ...says('one')];
  afterEachPiece(harness, 'whole answers', 'of a reply that comes whole', whole, {
    kind: 'reply',
    said: whole,
    as: 'json',
  });

  scenario(
    harness,
    'refused requests',
    'ends the wait before a repeated request',
    async () => {
      const headers = { 'retry-after': '25' };
      await using subject = await harness.open([{ kind: 'refused', error: 'overloaded', headers }], {
        maxRetries: 5,
      });
      const heard = new AbortingListener();
      const pending = subject.model.generate(question(), heard, heard.signal);
      await subject.answered(0);
      // A whole call later the refusal was read long ago, so this model waits.
      await expectAnswer(subject);
      heard.abort();
      await rejectionOf(pending);
      expect(subject.requests).toHaveLength(2);
      await expectSilence(subject, heard, 0);
    },
    SOON_MS,
  );

  scenario(harness, 'always', 'is not disturbed by a signal that aborts afterwards', async () => {
    await using subject = await harness.open([reply(...SAID)]);
    const heard = new AbortingListener();
    await subject.model.generate(question(), heard, heard.signal);
    heard.abort();
    await expectSilence(subject, heard, WORDS.length);
  });
}

/** Aborts once after each of the pieces: what a slow listener or an impatient user may do at any moment. */
function afterEachPiece(
  harness: LanguageModelHarness,
  feature: Parameters<typeof scenario>[1],
  which: string,
  said: readonly Said[],
  answer: Answer,
): void {
  const pieces = said.filter(({ type }) => type !== 'call').length;
  for (let piece = 1; piece <= pieces; piece += 1) {
    scenario(
      harness,
      feature,
      `says no more when the signal aborts at piece ${piece} ${which}`,
      async () => {
        await using subject = await harness.open([answer]);
        const heard = new AbortingListener(piece);
        await rejectionOf(subject.model.generate(question(), heard, heard.signal));
        await expectSilence(subject, heard, piece);
      },
      SOON_MS,
    );
  }
}

/** No request is left open, nothing more is heard, and the model answers the next question. */
async function expectSilence(subject: Subject, heard: AbortingListener, pieces: number): Promise<void> {
  expect(heard.count).toBe(pieces);
  await subject.idle();
  await expectAnswer(subject);
  expect(heard.count).toBe(pieces);
}

/** Aborts its signal when it has heard so many pieces. */
class AbortingListener implements ReplyListener {
  readonly #abort = new AbortController();
  readonly #limit: number | undefined;
  count = 0;

  constructor(limit?: number) {
    this.#limit = limit;
    if (limit === 0) this.abort();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(): void {
    this.#abort.abort();
  }

  onText(): void {
    this.#hear();
  }

  onReasoning(): void {
    this.#hear();
  }

  #hear(): void {
    this.count += 1;
    if (this.count === this.#limit) this.abort();
  }
}
