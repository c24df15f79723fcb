import OpenAI from 'openai';
import type { Response as SdkResponse } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import type { OpenAiResponse } from '../../../../src/gateway/openai/responses/response-object.ts';

/** With tokens, which are null at first. */
type Answered = OpenAiResponse & { readonly usage: object };
/** The SDK adds the text of the output itself. For the other fields, the service has types that are wider. */
type OtherFields = 'output_text' | 'error' | 'incomplete_details' | 'reasoning' | 'text' | 'tool_choice';

it('a response has all that the types of the SDK require', () => {
  const received = (response: Answered): Omit<SdkResponse, OtherFields> => response;
  expect(received).toBeTypeOf('function');
});

it('the SDK sends an idempotency key only as a header, as the documentation says', async () => {
  const sent: (string | null)[] = [];
  const client = new OpenAI({
    apiKey: 'none',
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers).get('idempotency-key'));
      return Response.json({});
    },
  });
  const body = { model: 'default', input: 'hello' };
  await client.responses.create(body, { idempotencyKey: 'k1' });
  await client.responses.create(body, { headers: { 'Idempotency-Key': 'k2' } });
  expect(sent).toEqual([null, 'k2']);
});
