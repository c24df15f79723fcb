import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { parseFields } from '../../../../src/gateway/requests/request-fields.ts';
import {
  ConnectServerRequest,
  EventsQuery,
  MessageSyncRequest,
  ToolResultFrame,
} from '../../../../src/wire/requests.ts';

const connect = (config: object) => ({ name: 'a', config });

describe('what is wrong with a field', () => {
  it.each<[z.ZodType, object, string, string]>([
    [EventsQuery, { after: '9999999999999999' }, 'after', 'must be a whole number of at most 15 digits'],
    [EventsQuery, { after: '1.5' }, 'after', 'must be a whole number'],
    [EventsQuery, { limit: '0' }, 'limit', 'must be at least 1'],
    [EventsQuery, { limit: '1001' }, 'limit', 'must be at most 1000'],
    [
      MessageSyncRequest,
      { message: 'hi', whenBusy: 'now' },
      'whenBusy',
      'must be enqueue, reject or interrupt',
    ],
    [EventsQuery, { after: 'x'.repeat(20) }, 'after', 'must be a whole number'],
    [
      MessageSyncRequest,
      { message: 'hi', outputSchema: [] },
      'outputSchema',
      'Invalid input: expected object, received array',
    ],
    [
      ConnectServerRequest,
      connect({ type: 'http', baseUrl: 'https://a.example', timeout: 1.5 }),
      'config.timeout',
      'must be a whole number',
    ],
    [ToolResultFrame, { type: 'toolResult', callId: '', content: 'x' }, 'callId', 'must not be empty'],
    [ConnectServerRequest, connect({ type: 'stdio', command: '' }), 'config.command', 'must not be empty'],
    [ConnectServerRequest, connect({ type: 'pigeon' }), 'config.type', 'must be stdio or http'],
    [MessageSyncRequest, { message: 5 }, 'message', 'Invalid input: expected string, received number'],
  ])('is said in plain words: %#', (schema, value, field, issue) => {
    expect(() => parseFields(schema, value)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field, issue }) }),
    );
  });
});
