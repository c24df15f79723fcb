import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../../src/core/errors.ts';
import { parseFields } from '../../../src/gateway/requests/request-fields.ts';
import { decodeFrame } from '../../../src/gateway/websocket/client-frames.ts';
import {
  ApprovalRequest,
  ConnectServerRequest,
  EventsQuery,
  ForkRequest,
  MessageSyncRequest,
  StreamQuery,
} from '../../../src/wire/requests.ts';

function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.details.field, error.details.suggestion];
    throw error;
  }
  return null;
}

const optionalText = z.string().optional();
const PIXEL = Buffer.from('GIF89a...').toString('base64');

describe('an unknown field', () => {
  it.each([
    [MessageSyncRequest, { message: 'hi', sesionId: 'a' }, 'sesionId', 'sessionId'],
    [MessageSyncRequest, { message: 'hi', session_id: 'a' }, 'session_id', 'sessionId'],
    [StreamQuery, { sessionId: 'a' }, 'sessionId', 'session'],
    [ApprovalRequest, { decision: 'deny', reasons: 'no' }, 'reasons', 'reason'],
    [
      MessageSyncRequest,
      { message: 'look', imageData: { base64: PIXEL, mimetype: 'image/gif' } },
      'imageData.mimetype',
      'imageData.mimeType',
    ],
    [ForkRequest, { At: 2 }, 'At', 'at'],
    [ForkRequest, { att: 2 }, 'att', 'at'],
    [
      MessageSyncRequest,
      { message: 'hi', clientTools: [{ name: 'a' }, { name: 'b', inputschema: {} }] },
      'clientTools.1.inputschema',
      'clientTools.1.inputSchema',
    ],
  ])('is refused if it is nearly a known one: %#', (schema, value, field, meant) => {
    const expected = ['INVALID_REQUEST', field, `Write ${meant} instead.`];
    expect(refusal(() => parseFields(schema, value))).toEqual(expected);
  });

  it('is refused in a frame, too', () => {
    const frame = { type: 'message', content: 'hi', clientMessagId: 'a' };
    expect(
      refusal(() =>
        decodeFrame(JSON.stringify(frame), {
          isSession: () => true,
          maxImageBytes: false,
          isAuthenticated: false,
        }),
      ),
    ).toMatchObject(['INVALID_REQUEST', 'clientMessagId', 'Write clientMessageId instead.']);
  });

  it.each([
    { message: 'hi', model: 'x', temperature: 1, t: 1, agent: 'a', timestamp: 'now' },
    { message: 'hi', sessionId: 'a', session: 'what somebody else reads' },
  ])('is ignored otherwise: %j', (value) => {
    expect(parseFields(MessageSyncRequest, value)).toMatchObject({ message: 'hi' });
  });

  it('is ignored if it is another word of four letters', () => {
    const query = { type: 'x', size: '1' };
    expect(parseFields(EventsQuery, query)).toMatchObject({ time: 0 });
  });

  it.each([{ t: 1 }, { _: 1 }, { ts: 1 }, { abc: 1 }])(
    'is ignored if it is short and only a bit alike: %j',
    (value) => {
      expect(parseFields(ForkRequest, value)).toEqual({});
    },
  );

  it('is ignored where a tool of another interface has more fields', () => {
    const tool = {
      name: 'a',
      inputSchema: {},
      title: 'A',
      annotations: {},
      outputSchema: {},
      _meta: {},
      icons: [],
    };
    expect(parseFields(MessageSyncRequest, { message: 'hi', clientTools: [tool] })).toMatchObject({
      message: 'hi',
    });
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

  it.each([
    [
      MessageSyncRequest,
      { message: 'look', imageData: { Base64: PIXEL } },
      ['MISSING_FIELD', 'imageData.base64', 'Write imageData.base64 instead of imageData.Base64.'],
    ],
    [
      ConnectServerRequest,
      { name: 'a', config: { type: 'stdio', comand: 'x' } },
      ['MISSING_FIELD', 'config.command', 'Write config.command instead of config.comand.'],
    ],
    [
      ConnectServerRequest,
      { name: 'a', config: { type: 'stdio', command: 'x', arguments: ['y'], descripton: 'z' } },
      [
        'INVALID_REQUEST',
        'config.arguments',
        expect.stringMatching(/^Remove config.arguments. The known fields are type, command, args,/),
      ],
    ],
    [
      ConnectServerRequest,
      { name: 'a', config: { type: 'stdio', command: 'x', descripton: 'z' } },
      [
        ...(['INVALID_REQUEST', 'config.descripton'] as const),
        'Write config.description instead of config.descripton.',
      ],
    ],
    [
      MessageSyncRequest,
      { message: 'hi', clientTools: [{ naem: 'a' }] },
      ['MISSING_FIELD', 'clientTools.0.name', 'Write clientTools.0.name instead of clientTools.0.naem.'],
    ],
  ])('is named within another field: %#', (schema, value, expected) => {
    expect(refusal(() => parseFields(schema, value))).toEqual(expected);
  });

  it('is refused in a list that may be a text, too', () => {
    const Body = z.object({ content: z.union([z.string(), z.array(z.object({ text: optionalText }))]) });
    const value = { content: [{ text: 'a' }, { texxt: 'b' }] };
    const expected = ['INVALID_REQUEST', 'content.1.texxt', 'Write content.1.text instead.'];
    expect(refusal(() => parseFields(Body, value))).toEqual(expected);
  });

  it('is any in what has no fields of ours', () => {
    const value = { message: 'hi', outputSchema: { typo: 1, sessionId: { messag: 1 } } };
    expect(parseFields(MessageSyncRequest, value)).toMatchObject(value);
  });
});
