import type { Response } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import type { OpenAiResponse } from '../../../../src/gateway/openai/responses/response-object.ts';

/** With tokens, which are null at first. */
type Answered = OpenAiResponse & { readonly usage: object };
/** The SDK adds the text of the output itself. For the other fields, the service has types that are wider. */
type OtherFields = 'output_text' | 'error' | 'incomplete_details' | 'reasoning' | 'text' | 'tool_choice';

it('a response has all that the types of the SDK require', () => {
  const received = (response: Answered): Omit<Response, OtherFields> => response;
  expect(received).toBeTypeOf('function');
});
