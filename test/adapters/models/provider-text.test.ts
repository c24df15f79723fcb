import { describe, expect, it } from 'vitest';
import { KEY, OpenAiModelHarness } from '../../support/models/openai-model-harness.ts';
import { errorReply, type UpstreamReply } from '../../support/models/openai-upstream.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const SECRET_PROMPT = 'My account number is 4711-0815-42, please keep it.\nIt is "private".';

/** What is logged of the provider's answer. */
async function logged(reply: UpstreamReply, config = {}) {
  const log = recordingLog();
  await using harness = await OpenAiModelHarness.open(reply);
  const request = { messages: [{ role: 'user' as const, text: SECRET_PROMPT }] };
  const error = await harness.fail({ log, request, config: { maxRetries: 0, ...config } });
  return { log, error, url: harness.upstream.baseURL };
}

describe("a provider's own error text", () => {
  it('is in the log at debug, and nowhere else', async () => {
    const message = 'Unsupported parameter: frobnication of the widget is not enabled for this project.';
    const { log, error, url } = await logged(errorReply(400, { code: 'unsupported', message }));
    expect(log.lines).toEqual([
      {
        level: 'debug',
        fields: {
          provider: 'openai',
          url: `${url}/chat/completions`,
          status: 400,
          answer: expect.stringContaining(message),
        },
        message: 'the model provider answered with an error',
      },
    ]);
    expect(JSON.stringify(error.body)).not.toContain('frobnication');
  });

  it('is logged without the key, and without what it repeats of the conversation', async () => {
    const message = `Key ${KEY} (Authorization: Bearer ${KEY}) may not say: ${SECRET_PROMPT}`;
    const { log } = await logged(errorReply(400, { code: KEY, message }));
    const text = JSON.stringify(log.lines);
    expect(text).toContain('may not say: ');
    expect(text).toContain('***REDACTED***');
    for (const secret of [KEY, '4711', 'account', 'private']) expect(text).not.toContain(secret);
  });

  it('is logged with the names of settings, which the request holds, too', async () => {
    const message = 'Unsupported parameter: max_completion_tokens.';
    const { log } = await logged(errorReply(400, { code: 'c', message }), { maxTokens: 100 });
    expect(log.lines[0]?.fields.answer).toContain(message);
  });

  it('is logged for an error in the middle of a reply, too', async () => {
    const { log } = await logged({
      stream: [{ raw: 'data: {"error":{"message":"The frobnicator broke."}}\n\n' }],
    });
    expect(log.lines.map(({ fields }) => fields.answer)).toEqual([
      expect.stringContaining('The frobnicator broke.'),
    ]);
  });

  it('is cut where it is long', async () => {
    const { log } = await logged(errorReply(400, { code: 'c', message: 'frobnicate '.repeat(5_000) }));
    expect(String(log.lines[0]?.fields.answer).length).toBeLessThan(2_100);
  });

  it('is not prepared where the log does not want it', async () => {
    const log = recordingLog();
    await using harness = await OpenAiModelHarness.open(errorReply(400, { code: 'c', message: 'm' }));
    await harness.fail({ log: { ...log, isLevelEnabled: () => false }, config: { maxRetries: 0 } });
    expect(log.lines).toEqual([]);
  });
});

describe('a 404 of a provider', () => {
  it('names the whole address that was asked, without its query', async () => {
    await using harness = await OpenAiModelHarness.open(errorReply(404));
    const baseURL = `${harness.upstream.baseURL}/deployments/mine?api-version=1&token=hunter2`;
    const { details } = await harness.fail({ config: { baseURL } });
    expect(details.reason).toContain(`${harness.upstream.baseURL}/deployments/mine/chat/completions`);
    expect(details.reason).not.toMatch(/hunter2|api-version/);
  });

  it('names it without the key, should the path hold it', async () => {
    await using harness = await OpenAiModelHarness.open(errorReply(404));
    const { details } = await harness.fail({ config: { baseURL: `${harness.upstream.baseURL}/${KEY}/v1` } });
    expect(details.reason).toContain('***REDACTED***/v1/chat/completions');
    expect(details.reason).not.toContain(KEY);
  });
});
