import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askChoice } from '../../../src/cli/init/ask-choice.ts';
import { eventually } from '../../support/project/eventually.ts';

/** Answers each question with its line, once the question is shown. */
async function answers(lines: readonly (readonly [question: string, line: string])[], provider: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  output.on('data', (chunk) => {
    shown += chunk;
  });
  const choice = askChoice({ file: 'a.yml', provider }, { input, output });
  for (const [question, line] of lines) {
    await eventually(
      async () => shown,
      (text) => text.includes(question),
    );
    input.write(line);
    input.write('\r');
  }
  return choice;
}

describe('the questions for a new agent file', () => {
  it.each(['vllm', 'ollama', 'lmstudio'])(
    'include the key variable of %s, which may do without',
    async (provider) => {
      const key = 'Which environment variable holds the key?';
      expect(
        await answers(
          [
            ['Which model?', 'm'],
            [key, 'MY_KEY'],
          ],
          provider,
        ),
      ).toMatchObject({
        keyVariable: 'MY_KEY',
      });
      expect(
        await answers(
          [
            ['Which model?', 'm'],
            [key, ''],
          ],
          provider,
        ),
      ).toMatchObject({ keyVariable: null });
    },
  );

  it('propose the usual variable of a provider that needs a key', async () => {
    const key = 'Which environment variable holds the key?';
    expect(
      await answers(
        [
          ['Which model?', 'm'],
          [key, ''],
        ],
        'mistral',
      ),
    ).toMatchObject({
      keyVariable: 'MISTRAL_API_KEY',
    });
  });
});
