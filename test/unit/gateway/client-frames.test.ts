import { describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { decodeFrame, frameIdOf } from '../../../src/gateway/websocket/client-frames.ts';

function supported(isAuthenticated: boolean): unknown {
  try {
    return decodeFrame('{"type":"hello"}', { isSession: () => true, maxImageBytes: false, isAuthenticated });
  } catch (error) {
    return error instanceof ServiceError ? error.details.supported : error;
  }
}

describe('the refusal of a frame that is no JSON object', () => {
  it('names the frame', () => {
    const deep = '['.repeat(201) + ']'.repeat(201);
    expect(() =>
      decodeFrame(deep, { isSession: () => true, maxImageBytes: false, isAuthenticated: false }),
    ).toThrow(expect.objectContaining({ details: expect.objectContaining({ field: 'frame' }) }));
  });

  it('quotes nothing of it, which may be a token', () => {
    const text = '{"type":"auth","token": as_secret_of_somebody}';
    const issue = "it cannot be parsed: Unexpected token 'a'";
    expect(() =>
      decodeFrame(text, { isSession: () => true, maxImageBytes: false, isAuthenticated: true }),
    ).toThrow(expect.objectContaining({ details: expect.objectContaining({ issue }) }));
  });
});

describe('the refusal of a frame of another type', () => {
  const types = ['message', 'cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset'];

  it('names the frames that the client may send, and one for a credential only where there are some', () => {
    expect(supported(false)).toEqual(types);
    expect(supported(true)).toEqual([...types, 'auth']);
  });
});

describe('an image without a type', () => {
  const decoded = (bytes: number[]): unknown => {
    const imageData = { base64: Buffer.from(bytes).toString('base64') };
    const text = JSON.stringify({ type: 'message', content: 'look', imageData });
    return decodeFrame(text, { isSession: () => true, maxImageBytes: false, isAuthenticated: false });
  };
  const codes = (text: string) => [...Buffer.from(text, 'latin1')];

  it.each([
    ['image/png', [0x89, ...codes('PNG\r\n\x1a\n')]],
    ['image/jpeg', [0xff, 0xd8, 0xff, 0xe0]],
    ['image/gif', codes('GIF89a')],
    ['image/webp', [...codes('RIFF'), 0x0a, 0x0d, 0, 0xff, ...codes('WEBPVP8 ')]],
  ])('is %s if it begins so', (mimeType, bytes) => {
    expect(decoded([...bytes, 1, 2, 3])).toMatchObject({ imageData: { mimeType } });
  });

  it('is refused if its bytes are those of none', () => {
    expect(() => decoded(codes('<svg></svg>'))).toThrow(
      'The field imageData.mimeType is required: it is needed, because the first bytes are those of no PNG',
    );
  });
});

describe('the id of a frame', () => {
  it.each([
    ['{"type":"message","clientMessageId":"a","commandId":"b"}', { clientMessageId: 'a' }],
    ['{"type":"message","commandId":"b"}', undefined],
    ['{"type":"auth","commandId":"b"}', { commandId: 'b' }],
    ['{"type":"deny","callId":7,"commandId":"b"}', { commandId: 'b' }],
    ['{"type":"deny","commandId":7}', undefined],
    ['{"type":"hello","commandId":"b"}', { commandId: 'b' }],
    ['{"type":"hello","clientMessageId":"a"}', { clientMessageId: 'a' }],
    ['{"commandId":"b"}', { commandId: 'b' }],
    ['[]', undefined],
    ['{', undefined],
  ])('of %s is %j', (text, id) => {
    expect(frameIdOf(text)).toEqual(id);
  });

  const deep = (levels: number) =>
    `{"type":"message","clientMessageId":"a","outputSchema":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

  it('is there if the frame is nested too deeply', () => {
    expect(frameIdOf(deep(250))).toEqual({ clientMessageId: 'a' });
  });

  it('is not looked for in what is also long, because that takes seconds', () => {
    const parse = vi.spyOn(JSON, 'parse');
    expect(frameIdOf(deep(30_000))).toBeUndefined();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
