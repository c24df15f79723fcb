import { expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type {
  ConnectOptions,
  ReasoningPosition,
  SendOptions,
  StreamEvent,
  StreamPosition,
} from '../../../src/client/session-client.ts';
import type { Image } from '../../../src/core/conversation/image.ts';
import type { WhenBusy } from '../../../src/core/session/when-busy.ts';
import type { ResumableFrame } from '../../../src/wire/frames.ts';

/** `tsc` checks these, the run of the tests does not. */
it('the types that the client publishes are those of the contract', () => {
  type Frame = z.infer<typeof ResumableFrame>;
  expectTypeOf<StreamEvent>().toEqualTypeOf<Exclude<Frame, { event: 'resumed' | 'accepted' | 'done' }>>();
  expectTypeOf<Extract<StreamEvent, { event: 'chunk' }>['data']>().toEqualTypeOf<{ content: string }>();
  expectTypeOf<Extract<StreamEvent, { event: 'thinking' }>['data']['reasoning']>().toEqualTypeOf<
    string | undefined
  >();
  expectTypeOf<StreamPosition['reasoning']>().toEqualTypeOf<ReasoningPosition | undefined>();
  expectTypeOf<ConnectOptions['reasoning']>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<SendOptions['imageData']>().toEqualTypeOf<z.infer<typeof Image> | undefined>();
  expectTypeOf<SendOptions['whenBusy']>().toEqualTypeOf<z.infer<typeof WhenBusy> | undefined>();
  // @ts-expect-error A frame that the contract does not have is none of the client's.
  expectTypeOf<Extract<StreamEvent, { event: 'nothing' }>>().toEqualTypeOf<StreamEvent>();
});
