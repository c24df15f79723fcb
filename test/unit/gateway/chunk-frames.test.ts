import { expect, test } from 'vitest';
import type { ReplyChunk } from '../../../src/core/session/session-signal.ts';
import { encodeResumable } from '../../../src/gateway/stream/resumable-frames.ts';
import { encodeSignal } from '../../../src/gateway/stream/server-frames.ts';
import { ResumableFrame, ServerFrame } from '../../../src/wire/frames.ts';

// They are put together by hand.
test.each(['', ' word', '"}}\\', '\n\u2028\u0000', '{"event":"x"}', '\ud83d', '🙂'])(
  'the frames of a chunk are those of the interface, whatever it says: %j',
  (content) => {
    const place = { turnId: 't"1', step: 2, offset: 30 };
    const chunk: ReplyChunk = { type: 'reply.chunk', sessionId: 's', content, ...place };
    const frame = { event: 'chunk', data: { content } };
    expect(ServerFrame.parse(JSON.parse(encodeSignal(chunk) ?? ''))).toStrictEqual(frame);
    expect(ResumableFrame.parse(JSON.parse(encodeResumable(chunk)))).toStrictEqual({ ...frame, ...place });
  },
);
