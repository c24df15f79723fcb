import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { parseFields } from '../../../src/gateway/requests/request-fields.ts';
import { decodeFrame } from '../../../src/gateway/websocket/client-frames.ts';
import { ApprovalRequest, MessageSyncRequest, StreamQuery } from '../../../src/wire/requests.ts';

function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.details.field, error.details.suggestion];
    throw error;
  }
  return null;
}

describe('an unknown field', () => {
  it.each([
    [MessageSyncRequest, { message: 'hi', sesionId: 'a' }, 'sesionId', 'sessionId'],
    [MessageSyncRequest, { message: 'hi', session_id: 'a' }, 'session_id', 'sessionId'],
    [StreamQuery, { sessionId: 'a' }, 'sessionId', 'session'],
    [ApprovalRequest, { decision: 'deny', reasons: 'no' }, 'reasons', 'reason'],
  ])('is refused if it is nearly a known one: %#', (schema, value, field, meant) => {
    const expected = ['INVALID_REQUEST', field, `Write ${meant} instead.`];
    expect(refusal(() => parseFields(schema, value))).toEqual(expected);
  });

  it('is refused in a frame, too', () => {
    const frame = { type: 'message', content: 'hi', clientMessagId: 'a' };
    expect(
      refusal(() => decodeFrame(JSON.stringify(frame), { maxImageBytes: false, isAuthenticated: false })),
    ).toMatchObject(['INVALID_REQUEST', 'clientMessagId', 'Write clientMessageId instead.']);
  });

  it.each([
    { message: 'hi', model: 'x', temperature: 1, t: 1, agent: 'a', timestamp: 'now' },
    { message: 'hi', sessionId: 'a', session: 'what somebody else reads' },
  ])('is ignored otherwise: %j', (value) => {
    expect(parseFields(MessageSyncRequest, value)).toMatchObject({ message: 'hi' });
  });

  it('is not looked for among many, or in what is no slip of the pen', () => {
    const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`messag${index}`, 1]));
    const long = { ['sessionI'.repeat(1_000_000)]: 1 };
    expect(refusal(() => parseFields(MessageSyncRequest, { message: 'hi', ...long }))).toBeNull();
    expect(refusal(() => parseFields(MessageSyncRequest, many))).toEqual([
      ...['MISSING_FIELD', 'message', expect.any(String)],
    ]);
  });

  it.each([
    [{ mesage: 'hi' }, 'Write message instead of mesage.'],
    [{ text: 'hi' }, 'Add message to the request.'],
  ])('does not hide that a field is missing: %j', (value, suggestion) => {
    const expected = ['MISSING_FIELD', 'message', suggestion];
    expect(refusal(() => parseFields(MessageSyncRequest, value))).toEqual(expected);
  });
});
