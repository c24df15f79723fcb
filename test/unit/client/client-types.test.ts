import { expect, expectTypeOf, it } from 'vitest';
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
import type { ToolResult } from '../../../src/core/tool-call/tool.ts';
import type { ResumableFrame } from '../../../src/wire/frames.ts';

type ToolResultData = Extract<StreamEvent, { event: 'toolResult' }>['data'];

/** What a program writes: neither `in` nor a cast. */
function describeResult(data: ToolResultData): string {
  if (data.error !== undefined) {
    expectTypeOf(data.error).toEqualTypeOf<string>();
    expectTypeOf(data.result).toEqualTypeOf<undefined>();
    return data.error;
  }
  expectTypeOf(data.error).toEqualTypeOf<undefined>();
  expectTypeOf(data.result).toEqualTypeOf<z.infer<typeof ToolResult>>();
  return data.result.content.map(({ type }) => type).join();
}

it('the data of a tool result narrow by their error', () => {
  const call = { callId: 'c', toolName: 't', serverId: null };
  expect(describeResult({ ...call, error: 'it broke' })).toBe('it broke');
  expect(describeResult({ ...call, result: { content: [{ type: 'text', text: 'done' }] } })).toBe('text');
  // @ts-expect-error It has either a result or an error.
  expectTypeOf({ ...call, result: { content: [] }, error: 'it broke' }).toExtend<ToolResultData>();
});

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
