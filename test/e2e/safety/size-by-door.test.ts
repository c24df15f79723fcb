import { describe, expect } from 'vitest';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const LIMIT = 3000;
const yaml = `${SCRIPTED}\nlimits: { requestBytes: ${LIMIT} }`;
/** As large as an image may be: its base64 is larger than the limit. */
const base64 = Buffer.alloc(LIMIT, 7).toString('base64');
const dataUrl = `data:image/png;base64,${base64}`;
const accept = { Accept: 'application/json, text/event-stream' };
const a2a = { 'A2A-Version': '1.0' };
const toOpenAi = { model: 'default' };

interface Door {
  readonly path: string;
  readonly headers?: Record<string, string>;
  /** The body of a request that says a text, with an image or without. */
  readonly body: (text: string, hasImage: boolean) => object;
  /** What the refusal has. */
  readonly refusal: object;
}

const details = { limit: LIMIT };
const envelope = { success: false, error: { code: 'RATE_LIMIT_EXCEEDED', details } };
const ofOpenAi = { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', details } };
/** In the text of a refusal, also where its status is 200. */
const REFUSED = /"code":429|rate_limit/i;
const ofJsonRpc = { jsonrpc: '2.0', id: 'r1', error: { code: 429 } };

const partsOf = (text: string, hasImage: boolean) => [
  { text },
  ...(hasImage ? [{ raw: base64, mediaType: 'image/png' }] : []),
];
const messageOf = (text: string, hasImage: boolean) => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: partsOf(text, hasImage) },
});

const itemsOf = (text: string, hasImage: boolean) => [
  {
    role: 'user',
    content: [
      { type: 'input_text', text },
      ...(hasImage ? [{ type: 'input_image', image_url: dataUrl }] : []),
    ],
  },
];

const DOORS: readonly Door[] = [
  {
    path: '/api/message-sync',
    body: (message, hasImage) => ({
      message,
      ...(hasImage && { imageData: { base64, mimeType: 'image/png' } }),
    }),
    refusal: envelope,
  },
  {
    path: '/v1/chat/completions',
    body: (text, hasImage) => ({
      ...toOpenAi,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            ...(hasImage ? [{ type: 'image_url', image_url: { url: dataUrl } }] : []),
          ],
        },
      ],
    }),
    refusal: ofOpenAi,
  },
  {
    path: '/v1/responses',
    body: (text, hasImage) => ({ ...toOpenAi, input: itemsOf(text, hasImage) }),
    refusal: ofOpenAi,
  },
  {
    path: '/v1/responses/compact',
    body: (text, hasImage) => ({ ...toOpenAi, input: itemsOf(text, hasImage) }),
    refusal: ofOpenAi,
  },
  {
    path: '/v1/conversations',
    body: (text, hasImage) => ({ items: itemsOf(text, hasImage) }),
    refusal: ofOpenAi,
  },
  {
    path: '/ag-ui',
    headers: accept,
    body: (text, hasImage) => {
      const image = { type: 'image', source: { type: 'data', value: base64, mimeType: 'image/png' } };
      const content = [{ type: 'text', text }, ...(hasImage ? [image] : [])];
      return { threadId: 't', runId: `r${text.length}`, messages: [{ id: 'u', role: 'user', content }] };
    },
    refusal: envelope,
  },
  { path: '/a2a/message:send', headers: a2a, body: messageOf, refusal: { error: { code: 429 } } },
  {
    path: '/a2a',
    headers: a2a,
    body: (text, hasImage) => ({
      jsonrpc: '2.0',
      id: 'r1',
      method: 'SendMessage',
      params: messageOf(text, hasImage),
    }),
    refusal: ofJsonRpc,
  },
];

describe('the limit on size', () => {
  for (const { path, headers = {}, body, refusal } of DOORS) {
    verifies('limits.image', `at ${path}, with an image and without`, async () => {
      await using service = await RunningService.start({ yaml });
      const post = (text: string, hasImage: boolean) =>
        service.fetch(path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify(body(text, hasImage)),
        });
      const fitting = await post('look', true);
      // Not the digits alone: ids and times may have them.
      expect([fitting.status, await fitting.text()]).toEqual([200, expect.not.stringMatching(REFUSED)]);
      for (const hasImage of [false, true]) {
        const refused = await post('x'.repeat(LIMIT), hasImage);
        expect(refused.status).toBe(429);
        expect(await refused.json()).toMatchObject(refusal);
      }
    });
  }
});
