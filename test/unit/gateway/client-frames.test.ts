import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { decodeFrame, frameIdOf } from '../../../src/gateway/websocket/client-frames.ts';

function supported(isAuthenticated: boolean): unknown {
  try {
    return decodeFrame('{"type":"hello"}', { maxImageBytes: false, isAuthenticated });
  } catch (error) {
    return error instanceof ServiceError ? error.details.supported : error;
  }
}

describe('the refusal of a frame of another type', () => {
  const types = ['message', 'cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset'];

  it('names the frames that the client may send, and one for a credential only where there are some', () => {
    expect(supported(false)).toEqual(types);
    expect(supported(true)).toEqual([...types, 'auth']);
  });
});

describe('the id of a frame', () => {
  it.each([
    ['{"type":"message","clientMessageId":"a","commandId":"b"}', { clientMessageId: 'a' }],
    ['{"type":"message","commandId":"b"}', undefined],
    ['{"type":"auth","commandId":"b"}', { commandId: 'b' }],
    ['{"type":"deny","callId":7,"commandId":"b"}', { commandId: 'b' }],
    ['{"type":"deny","commandId":7}', undefined],
    ['{"type":"hello","commandId":"b"}', undefined],
    ['[]', undefined],
    ['{', undefined],
  ])('of %s is %j', (text, id) => {
    expect(frameIdOf(text)).toEqual(id);
  });
});
