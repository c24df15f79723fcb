import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { SendMessageRequest } from '../../../../src/gateway/a2a/a2a-requests.ts';
import { RunInput } from '../../../../src/gateway/ag-ui/run-input.ts';
import { ChatRequest } from '../../../../src/gateway/openai/chat/chat-request.ts';
import { ResponseRequest } from '../../../../src/gateway/openai/responses/response-request.ts';
import { parseForeign } from '../../../../src/gateway/requests/request-fields.ts';
import { countedList } from '../../../support/service/counted-list.ts';

const chat = { model: 'm', messages: [{ role: 'user', content: '' }] };
const run = { threadId: 't', runId: 'r', messages: [] };
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '' }] };

describe('a list of wrong elements', () => {
  it.each<[string, z.ZodType, (list: readonly unknown[]) => unknown]>([
    ['messages.0', ChatRequest, (messages) => ({ ...chat, messages })],
    ['messages.0.content.0', ChatRequest, (content) => ({ ...chat, messages: [{ role: 'user', content }] })],
    ['stop.0', ChatRequest, (stop) => ({ ...chat, stop })],
    ['tools.0', ChatRequest, (tools) => ({ ...chat, tools })],
    ['input.0', ResponseRequest, (input) => ({ model: 'm', input })],
    ['tools.0', ResponseRequest, (tools) => ({ model: 'm', input: '', tools })],
    ['messages.0', RunInput, (messages) => ({ ...run, messages })],
    [
      'messages.0.content.0',
      RunInput,
      (content) => ({ ...run, messages: [{ role: 'user', id: 'u', content }] }),
    ],
    ['context.0', RunInput, (context) => ({ ...run, context })],
    ['resume.0', RunInput, (resume) => ({ ...run, resume })],
    ['message.parts.0', SendMessageRequest, (parts) => ({ message: { ...message, parts } })],
  ])('is looked at up to the first: %s', (field, schema, withList) => {
    const { list, read } = countedList();
    expect(() => parseForeign(schema, withList(list))).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    );
    expect(read()).toBe(1);
  });
});
