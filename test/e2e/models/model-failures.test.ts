import { inspect } from 'node:util';
import { describe, expect } from 'vitest';
import {
  errorReply,
  type StreamStep,
  textReply,
  type UpstreamReply,
} from '../../support/models/openai-upstream.ts';
import { KEY, SYSTEM_PROMPT, UpstreamService } from '../../support/service/upstream-service.ts';
import { verifies } from '../requirements.ts';

const PROMPT = 'prompt-of-the-user-7c1b';

interface Failure {
  readonly name: string;
  /** One for each attempt, or for all of them. */
  readonly reply: UpstreamReply;
  readonly reason: RegExp;
  readonly requests: number;
  readonly llm?: object;
  /** What was streamed before. */
  readonly partial?: string;
}

const started: StreamStep = { text: 'Half a ' };

/** What a bad provider may say of us in its errors. */
const leaky = `Incorrect API key provided: ${KEY}, while answering ${PROMPT}`;
/** The same, with no word in it of what is wrong. */
const vague = `It was ${KEY} who said ${PROMPT}`;

const failures: readonly Failure[] = [
  {
    name: 'a wrong key',
    reply: errorReply(401, { code: 'invalid_api_key', message: leaky }),
    reason: /refused the API key.*llm\.apiKey.*401/,
    requests: 1,
  },
  {
    name: 'an unknown model',
    reply: errorReply(404, { code: 'model_not_found', message: leaky }),
    reason: /no model gpt-test.*llm\.model/,
    requests: 1,
  },
  {
    name: 'a bad request',
    reply: errorReply(400, { message: vague }),
    reason: /refused the request/,
    requests: 1,
  },
  {
    name: 'a wrong key that is called a bad request',
    reply: errorReply(400, { message: leaky }),
    reason: /refused the API key.*llm\.apiKey.*400/,
    requests: 1,
  },
  {
    name: 'a rate limit',
    reply: errorReply(429, { message: leaky, retryAfterMs: 1 }),
    reason: /rate limit or quota/,
    requests: 3,
  },
  {
    name: 'an outage',
    reply: errorReply(500, { message: leaky, retryAfterMs: 1 }),
    reason: /in trouble or overloaded.*500/,
    requests: 3,
  },
  {
    name: 'a connection that is reset at once',
    reply: { hangUp: true },
    reason: /closed the connection/,
    requests: 3,
  },
  {
    name: 'an upstream that hangs',
    reply: { hang: true },
    reason: /silent for 300 ms.*llm\.firstByteTimeoutMs/,
    requests: 1,
    llm: { firstByteTimeoutMs: 300 },
  },
  {
    name: 'a stream that hangs in the middle',
    reply: { stream: [started, { hang: true }] },
    reason: /silent for 300 ms.*llm\.timeoutMs/,
    requests: 1,
    llm: { timeoutMs: 300 },
    partial: 'Half a ',
  },
  {
    name: 'a stream that is cut in the middle',
    reply: { stream: [started, { cut: true }] },
    reason: /closed the connection before its answer was complete/,
    requests: 1,
    partial: 'Half a ',
  },
  {
    name: 'a stream that just ends',
    reply: { stream: [started] },
    reason: /ended before the reply was complete/,
    requests: 1,
    partial: 'Half a ',
  },
  {
    name: 'a malformed event',
    reply: { stream: [started, { raw: `data: {"${KEY} ${PROMPT}\n\n` }] },
    reason: /sent an event that is not complete JSON/,
    requests: 1,
    partial: 'Half a ',
  },
  {
    name: 'an error inside the stream',
    reply: { stream: [started, { error: { message: vague, type: 'server_error', code: null } }] },
    reason: /in trouble or overloaded.*server_error/,
    requests: 1,
    partial: 'Half a ',
  },
  {
    name: 'a web page',
    reply: { status: 200, body: `<html>${PROMPT}</html>`, headers: { 'content-type': 'text/html' } },
    reason: /text\/html instead of a reply.*llm\.baseURL and llm\.api/,
    requests: 1,
  },
  {
    name: 'one call that takes too long',
    reply: { stream: [started, { hang: true }] },
    reason: /longer than 300 ms.*llm\.stepTimeoutMs/,
    requests: 1,
    llm: { stepTimeoutMs: 300 },
    partial: 'Half a ',
  },
];

describe('an upstream that fails', () => {
  for (const failure of failures) {
    verifies('model.failures', failure.name, () => expectFailure(failure));
  }

  verifies('model.failures', 'nothing listens there', async () => {
    await using setup = await UpstreamService.open();
    await setup.upstream[Symbol.asyncDispose]();
    const answer = await setup.service.post('/api/message-sync', { message: PROMPT });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      error: { code: 'AGENT_ERROR', details: { reason: expect.stringMatching(/Nothing listens at/) } },
    });
  });

  verifies('model.failures', 'the session goes on afterwards', async () => {
    await using setup = await UpstreamService.open({ timeoutMs: 300 });
    setup.upstream.replyWith({ stream: [started, { cut: true }] }, textReply('Whole.'));
    const failed = await setup.service.post('/api/message-sync', { message: 'one' });
    expect(failed.status).toBe(500);
    const next = await setup.service.post('/api/message-sync', { message: 'two' });
    expect(await next.json()).toMatchObject({ response: 'Whole.' });
    expect((await setup.upstream.request(1)).body.messages).toEqual([
      { role: 'system', content: SYSTEM_PROMPT },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: expect.stringMatching(/^Half a .*failed/) },
      { role: 'user', content: 'two' },
    ]);
  });
});

/** The same failure over REST and over WebSocket, at the same time, in two sessions. */
async function expectFailure({ reply, reason, requests, llm, partial = '' }: Failure): Promise<void> {
  await using setup = await UpstreamService.open(llm);
  const { upstream, service, log } = setup;
  upstream.otherwise = () => reply;
  using client = await service.connect('?session=socket');
  client.say(PROMPT);
  const [answer, frames] = await Promise.all([
    service.post('/api/message-sync', { message: PROMPT, sessionId: 'rest' }),
    client.settled(),
  ]);
  const error = {
    code: 'AGENT_ERROR',
    message: expect.stringMatching(/\w/),
    details: expect.objectContaining({ reason: expect.stringMatching(reason) }),
  };
  expect(answer.status).toBe(500);
  const envelope = await answer.json();
  expect(envelope).toEqual({ success: false, error, timestamp: expect.any(String) });
  expect(frames.at(-1)).toEqual({ event: 'error', data: error });
  const streamed = frames.flatMap((frame) => (frame.event === 'chunk' ? [frame.data.content] : []));
  expect(streamed.join('')).toBe(partial);
  expect(upstream.requests).toHaveLength(2 * requests);

  await service.close();
  expect(log.lines.filter(({ message }) => message.startsWith('turn failed'))).toHaveLength(2);
  const seen = inspect([envelope, client.frames, log.lines], {
    depth: Infinity,
    showHidden: true,
    maxStringLength: Infinity,
    maxArrayLength: Infinity,
  });
  expect(seen).toContain('AGENT_ERROR');
  for (const secret of [KEY, PROMPT, SYSTEM_PROMPT]) expect(seen).not.toContain(secret);
}
