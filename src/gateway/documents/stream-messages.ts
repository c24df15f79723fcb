import type { z } from 'zod';
import type { Scope } from '../../core/access/scopes.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import {
  FramePlace,
  MachineFrame,
  type ResumableFrame,
  ResumableOnlyFrame,
  ServerFrame,
} from '../../wire/frames.ts';
import {
  ApproveFrame,
  AuthFrame,
  CancelFrame,
  DenyFrame,
  InputAnswerFrame,
  MessageFrame,
  ResetFrame,
  ToolResultFrame,
} from '../../wire/requests.ts';
import {
  clientFrameExamples,
  type FrameExample,
  frameExamples,
  machineFrameExamples,
  refusalExample,
} from './operations/frame-examples.ts';

/** One frame of the WebSocket interface. */
export interface StreamMessage {
  /** The `type` or `event` of the frame. */
  readonly name: string;
  readonly summary: string;
  readonly schema: z.ZodType;
  readonly examples: readonly object[];
  /** The scope that a client needs to send the frame, where clients are authenticated. Null: any credential. */
  readonly scope?: Scope | null;
}

/** Frames that a client sends. */
export const clientMessages: readonly StreamMessage[] = [
  {
    name: 'message',
    scope: scopeOf('turn.start'),
    summary: 'Sends a message to the agent.',
    schema: MessageFrame,
    examples: clientFrameExamples.message,
  },
  {
    name: 'cancel',
    scope: scopeOf('turn.cancel'),
    summary: 'Cancels the running turn.',
    schema: CancelFrame,
    examples: clientFrameExamples.cancel,
  },
  {
    name: 'approve',
    scope: scopeOf('approval.answer'),
    summary: 'Approves a waiting tool call.',
    schema: ApproveFrame,
    examples: clientFrameExamples.approve,
  },
  {
    name: 'deny',
    scope: scopeOf('approval.answer'),
    summary: 'Denies a waiting tool call.',
    schema: DenyFrame,
    examples: clientFrameExamples.deny,
  },
  {
    name: 'toolResult',
    scope: scopeOf('tool-call.answer'),
    summary: 'Says what came of a call of a tool that the client has lent.',
    schema: ToolResultFrame,
    examples: clientFrameExamples.toolResult,
  },
  {
    name: 'inputAnswer',
    scope: scopeOf('input.answer'),
    summary: 'Answers what a tool server asks while it works on a call.',
    schema: InputAnswerFrame,
    examples: clientFrameExamples.inputAnswer,
  },
  {
    name: 'reset',
    scope: scopeOf('session.reset'),
    summary: 'Clears the conversation and cancels its turns.',
    schema: ResetFrame,
    examples: clientFrameExamples.reset,
  },
  {
    name: 'auth',
    scope: null,
    summary: 'Goes on with another token of the same principal. Only where clients are authenticated.',
    schema: AuthFrame,
    examples: clientFrameExamples.auth,
  },
];

/** Frames that a client receives if it does not resume. */
export const serverMessages: readonly StreamMessage[] = ServerFrame.options.map((schema) => {
  const event = eventOf(schema);
  const examples: readonly object[] = examplesOf(event).map(({ data }) => ({ event, data }));
  return {
    name: event,
    summary: schema.description ?? '',
    schema,
    examples: event === 'error' ? [...examples, refusalExample] : examples,
  };
});

/** Frames that a client receives if it asked for `?after=`. */
export const resumableMessages: readonly StreamMessage[] = [
  ...[...ResumableOnlyFrame.options, ...ServerFrame.options].map((schema) => {
    const event = eventOf(schema);
    return {
      name: event,
      summary: schema.description ?? '',
      schema: schema.extend(FramePlace.shape),
      examples: examplesOf(event).map(({ data, place }) => ({ event, data, ...place })),
    };
  }),
  ...MachineFrame.options.map((schema) => {
    const event = schema.shape.event.value;
    const data = machineFrameExamples[event];
    return { name: event, summary: schema.description ?? '', schema, examples: [{ event, data }] };
  }),
];

function eventOf(schema: {
  shape: { event: z.ZodLiteral<ResumableFrame['event']> };
}): ResumableFrame['event'] {
  return schema.shape.event.value;
}

function examplesOf(event: ResumableFrame['event']): readonly FrameExample[] {
  return frameExamples[event];
}
