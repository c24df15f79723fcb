import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/core/errors.ts';
import { parseFields } from '../../../../src/gateway/requests/request-fields.ts';
import { CallAnswerRequest, MessageSyncRequest } from '../../../../src/wire/requests.ts';

function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.details.field, error.details.issue];
    throw error;
  }
  return null;
}

const PNG = 'iVBORw0KGgo=';
const GIF = Buffer.from('GIF89a...').toString('base64');
const JPEG = '/9j/4AAQSkZJRgAB';
const said = { type: 'text', text: 'hi' };

describe('content blocks of a client', () => {
  it.each([
    ['hi'],
    [[]],
    [[said, { type: 'image', data: PNG, mimeType: 'image/png', more: 1 }]],
    // As Python's encodebytes writes it.
    [[{ type: 'audio', data: 'AAAA\nAAAA\n', mimeType: 'audio/wav' }]],
    [[{ type: 'image', data: JPEG, mimeType: 'image/jpg' }]],
    [[{ type: 'image', data: PNG, mimeType: 'image/apng' }]],
    [[{ type: 'resource', resource: { uri: 'file:///empty', blob: '' } }]],
    [[{ type: 'resource_link', uri: 'file:///a', name: 'a' }]],
    [[{ type: 'resource', resource: { uri: 'file:///a', text: 'a' } }]],
  ])('are kept as they are: %j', (content) => {
    expect(parseFields(CallAnswerRequest, { content })).toEqual({ content });
  });

  it.each([
    [[said, { type: 'text' }], 'MISSING_FIELD', 'content.1.text', 'must be a text'],
    [[{ type: 'text', text: 5 }], 'INVALID_REQUEST', 'content.0.text', 'must be a text'],
    [
      [{ type: 'txt', text: 'a' }],
      'INVALID_REQUEST',
      'content.0.type',
      expect.stringContaining('resource_link'),
    ],
    [[{ type: 'image', mimeType: 'image/png' }], 'MISSING_FIELD', 'content.0.data', expect.any(String)],
    [[{ type: 'image', data: PNG }], 'MISSING_FIELD', 'content.0.mimeType', expect.any(String)],
    [
      [{ type: 'image', data: 'no base64', mimeType: 'image/png' }],
      ...(['INVALID_REQUEST', 'content.0.data', expect.stringContaining('base64')] as const),
    ],
    [
      [{ type: 'image', data: 'data:image/png;base64,AAAA', mimeType: 'image/png' }],
      ...(['INVALID_REQUEST', 'content.0.data', expect.stringContaining('base64')] as const),
    ],
    [
      [{ type: 'image', data: GIF, mimeType: 'image/png' }],
      ...(['INVALID_REQUEST', 'content.0.mimeType', expect.stringContaining('image/gif')] as const),
    ],
    [[{ type: 'resource', resource: {} }], 'MISSING_FIELD', 'content.0.resource.uri', expect.any(String)],
  ])('are refused with the field that is wrong: %j', (content, ...expected) => {
    expect(refusal(() => parseFields(CallAnswerRequest, { content }))).toEqual(expected);
  });
});

it('long bytes that are no base64 are refused at once', () => {
  const data = `${'\n'.repeat(1_000_000)}!`;
  const content = [{ type: 'audio', data, mimeType: 'audio/wav' }];
  expect(refusal(() => parseFields(CallAnswerRequest, { content }))).toMatchObject({ 1: 'content.0.data' });
});

describe('an image of a message', () => {
  it.each([
    [GIF, 'image/png', 'must be image/gif, as the first bytes of the image say'],
    [PNG, 'image/jpeg', 'must be image/png, as the first bytes of the image say'],
  ])('is refused if its type is another one: %s as %s', (base64, mimeType, issue) => {
    const message = { message: 'look', imageData: { base64, mimeType } };
    expect(refusal(() => parseFields(MessageSyncRequest, message))).toEqual([
      ...['INVALID_REQUEST', 'imageData.mimeType', issue],
    ]);
  });
});
