import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { RunInput } from '../../../../src/gateway/ag-ui/run-input.ts';
import { ChatRequest } from '../../../../src/gateway/openai/chat/chat-request.ts';
import { ItemsQuery } from '../../../../src/gateway/openai/responses/item-page.ts';
import { ResponseRequest, RetrieveQuery } from '../../../../src/gateway/openai/responses/response-request.ts';
import { parseFields } from '../../../../src/gateway/requests/request-fields.ts';

const refusal = (schema: z.ZodType, value: unknown): unknown => {
  try {
    return parseFields(schema, value);
  } catch (error) {
    return (error as { details?: unknown }).details;
  }
};

describe('what a client of another protocol sends', () => {
  it.each(['', '1e2', '0x10', '-1', '1.5', ' 1'])('a number in a query is not %j', (number) => {
    const issue = 'must be a whole number';
    expect(refusal(RetrieveQuery, { starting_after: number })).toMatchObject({
      field: 'starting_after',
      issue,
    });
    expect(refusal(ItemsQuery, { limit: number })).toMatchObject({ field: 'limit', issue });
  });

  it('a number in a query is one of decimal digits', () => {
    expect(refusal(RetrieveQuery, { starting_after: '0' })).toMatchObject({ starting_after: 0 });
    expect(refusal(ItemsQuery, { limit: '7' })).toMatchObject({ limit: 7 });
  });

  it('a list has no item without an id', () => {
    expect(refusal(ItemsQuery, { after: '' })).toMatchObject({ field: 'after', issue: 'must not be empty' });
  });

  const text = { type: 'input_text', text: 'hello' };
  it.each<[unknown, string, string]>([
    [
      [{ role: 'user', content: [text, { type: 'input_file' }] }],
      'input.0.content.1.type',
      'must be input_text',
    ],
    [
      [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
      'input.0.content.0.file_id',
      'is not',
    ],
    [
      [{ role: 'user', content: [{ type: 'input_text' }] }],
      'input.0.content.0.text',
      'Add input.0.content.0.text',
    ],
    [[{ role: 'user', content: 7 }], 'input.0.content', 'must be a text, or a list of parts'],
    [[text, { type: 'web_search_call' }], 'input.0.type', 'must be message, function_call'],
    [
      [{ type: 'function_call_output', output: '' }],
      'input.0.call_id',
      'Add input.0.call_id to the request.',
    ],
    [[{ role: 'tool', content: '' }], 'input.0.role', 'must be user, assistant'],
    [[], 'input', 'must not be empty'],
    [7, 'input', 'must be a text, or a list of items'],
  ])('an input that is not one says where: %j', (input, field, said) => {
    const found = refusal(ResponseRequest, { model: 'm', input });
    expect(found).toMatchObject({ field });
    expect(JSON.stringify(found)).toContain(said);
  });

  it('of the forms that a value may have, the one that it has says what is wrong in it', () => {
    const asked = { model: 'm', input: 'hello' };
    const refusedField = (more: object) => refusal(ResponseRequest, { ...asked, ...more });
    expect(refusedField({ conversation: { id: 'a b' } })).toMatchObject({ field: 'conversation.id' });
    expect(refusedField({ tool_choice: { type: 'function' } })).toMatchObject({ field: 'tool_choice.name' });
    expect(refusedField({ tool_choice: 'any' })).toMatchObject({
      field: 'tool_choice',
      issue: 'must be auto, none, required, or one of the tools',
    });
    const messages = [{ role: 'user', content: [{ type: 'video' }] }];
    expect(refusal(ChatRequest, { model: 'm', messages })).toMatchObject({
      field: 'messages.0.content.0.type',
      issue: 'must be text or image_url',
    });
  });

  it('a prompt in place of the input is what is refused', () => {
    expect(refusal(ResponseRequest, { model: 'm', prompt: { id: 'p' } })).toMatchObject({
      field: 'prompt',
      issue: 'is not supported: the agent has its own prompt',
    });
  });

  it.each([
    [
      'a call',
      {
        role: 'assistant',
        id: 'm',
        toolCalls: [{ id: '', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    ['a result', { role: 'tool', id: 'm', toolCallId: '', content: 'found' }],
  ])('%s of a tool has an id', (_, message) => {
    expect(refusal(RunInput, { threadId: 't', runId: 'r', messages: [message] })).toMatchObject({
      field: expect.stringMatching(/^messages\.0\.(toolCalls\.0\.id|toolCallId)$/),
    });
  });

  it.each([
    [
      { type: 'text', txt: 'x' },
      'text',
      'Write messages.0.content.0.text instead of messages.0.content.0.txt.',
    ],
    [{ type: 'image', source: { type: 'data' } }, 'source.value', 'Add messages.0.content.0.source.value to'],
  ])('a part of a message lacks a field of its type: %j', (part, field, suggestion) => {
    const messages = [{ role: 'user', id: 'm', content: [part] }];
    expect(refusal(RunInput, { threadId: 't', runId: 'r', messages })).toMatchObject({
      field: `messages.0.content.0.${field}`,
      suggestion: expect.stringContaining(suggestion),
    });
  });

  it('the content of a message is told what it must be', () => {
    const messages = [{ role: 'user', id: 'm', content: 7 }];
    expect(refusal(RunInput, { threadId: 't', runId: 'r', messages })).toMatchObject({
      field: 'messages.0.content',
      issue: 'must be a text, or a list of parts',
    });
  });
});
