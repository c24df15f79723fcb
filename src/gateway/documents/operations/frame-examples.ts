import type { FramePlace, MachineFrame, ResumableFrame, ServerFrame } from '../../../wire/frames.ts';
import type { ClientFrame } from '../../websocket/client-frames.ts';
import { toolServerMachine } from './machine-example.ts';
import { askedForTea as asked, EXAMPLE_TIME } from './operation.ts';

type DataOf<E extends ResumableFrame['event']> = Extract<ResumableFrame, { event: E }>['data'];

/** An example of a frame: its data, and its place for a client that resumes. */
export interface FrameExample<Data = unknown> {
  readonly data: Data;
  readonly place: FramePlace;
}

type FrameExamples = { readonly [E in ResumableFrame['event']]: readonly FrameExample<DataOf<E>>[] };

const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
const otherTurnId = '9c2f4a52-2b0d-4a3c-8f0e-5b8f3f6f1d11';
const call = { callId: 'call_1_1', toolName: 'get-sum', serverId: 'everything' };
const args = { a: 19, b: 23 };
const argumentsHash = 'b99d7dd9d2bafdffa5b99eec90d283107d93d22a4581e7482364fcafea1e4422';

const order = { callId: 'call_1_1', toolName: 'order_tea', serverId: 'asking' };
const client = { kind: 'client' } as const;
const agent = { kind: 'agent' } as const;
const service = { kind: 'service' } as const;

export const frameExamples: FrameExamples = {
  thinking: [
    { data: { message: 'The agent is working on a reply.' }, place: { seq: 2, turnId, actor: client } },
  ],
  chunk: [{ data: { content: ' calling' }, place: { turnId, step: 1, offset: 4 } }],
  toolCall: [{ data: { ...call, arguments: args }, place: { seq: 4, turnId, actor: agent } }],
  toolApproval: [
    { data: { ...call, arguments: args, argumentsHash }, place: { seq: 5, turnId, actor: agent } },
  ],
  clientToolCall: [
    {
      data: {
        callId: 'call_1_1',
        toolName: 'pick_colour',
        arguments: { of: 'the door' },
        expiresAt: '2026-11-21T06:51:26.421Z',
      },
      place: { seq: 6, turnId, actor: agent },
    },
  ],
  inputRequired: [
    {
      data: { ...order, ...asked, expiresAt: '2026-11-21T06:51:26.421Z' },
      place: { seq: 5, turnId, actor: agent },
    },
  ],
  toolResult: [
    {
      data: { ...call, result: { content: [{ type: 'text', text: 'The sum of 19 and 23 is 42.' }] } },
      place: { seq: 7, turnId, actor: agent },
    },
    {
      data: { ...call, error: 'it was denied: not today' },
      place: { seq: 7, turnId, actor: client, cause: { kind: 'denied', note: 'not today' } },
    },
  ],
  queued: [
    {
      data: {
        message:
          'The message waits behind a turn that needs approval. get-sum (call call_1_1) waits: approve or deny it in the console, or with POST /api/sessions/denied/approvals/call_1_1.',
        approvals: [{ turnId: otherTurnId, ...call, arguments: args, argumentsHash, since: EXAMPLE_TIME }],
      },
      place: { turnId },
    },
  ],
  response: [
    {
      data: { content: 'I am calling `get-sum`.\n\nget-sum answered:\nThe sum of 19 and 23 is 42.' },
      place: { seq: 9, turnId, actor: agent },
    },
  ],
  error: [
    {
      data: {
        code: 'TURN_CANCELLED',
        message: 'The turn was cancelled before it was answered.',
        details: { reason: 'the client cancelled it' },
      },
      place: { seq: 12, turnId, actor: client, cause: { kind: 'cancelled' } },
    },
  ],
  resumed: [{ data: { after: 0, head: 9 }, place: {} }],
  message: [
    { data: { content: 'use get-sum {"a": 19, "b": 23}' }, place: { seq: 1, turnId, actor: client } },
    {
      data: {
        content: 'What is this?',
        image: { mimeType: 'image/png', bytes: 70 },
        clientMessageId: 'm-17',
      },
      place: { seq: 1, turnId, actor: client },
    },
  ],
  accepted: [{ data: { clientMessageId: 'm-17', content: 'What a nice picture.' }, place: { turnId } }],
  done: [{ data: { commandId: 'c-4' }, place: {} }],
  toolApproved: [{ data: { ...call, argumentsHash }, place: { seq: 6, turnId, actor: client } }],
  inputAnswered: [
    {
      data: { ...order, inputId: asked.inputId, action: 'accept', content: { size: 'large', hot: true } },
      place: { seq: 6, turnId, actor: client, cause: { kind: 'answered' } },
    },
  ],
  sampled: [
    {
      data: {
        ...order,
        toolName: 'name_tea',
        model: 'scripted offline',
        usage: { inputTokens: 9, outputTokens: 2 },
      },
      place: { seq: 7, turnId, actor: agent },
    },
  ],
  turnResumed: [{ data: { attempt: 2 }, place: { seq: 6, turnId, actor: service } }],
  stepCompleted: [
    {
      data: {
        content: 'I am calling `get-sum`.',
        step: 1,
        callIds: ['call_1_1'],
        model: 'scripted offline',
        usage: { inputTokens: 12, outputTokens: 9 },
      },
      place: { seq: 3, turnId, actor: agent },
    },
  ],
  outputRejected: [{ data: { step: 1, issue: 'it is not JSON' }, place: { seq: 4, turnId, actor: agent } }],
  reset: [{ data: {}, place: { seq: 10, actor: client } }],
  renamed: [{ data: { title: 'Sums' }, place: { seq: 11, actor: client } }],
  described: [{ data: { metadata: { topic: 'sums' } }, place: { seq: 12, actor: client } }],
  extended: [
    {
      data: { messages: [{ role: 'user', content: 'My name is Ann.' }] },
      place: { seq: 13, actor: client },
    },
  ],
  forked: [{ data: { from: 'default', at: 4 }, place: { seq: 5, actor: client } }],
  deleted: [{ data: {}, place: { seq: 14, actor: client } }],
};

export const machineFrameExamples: { readonly [F in MachineFrame as F['event']]: F['data'] } = {
  machines: { machines: [toolServerMachine] },
  machine: {
    ...toolServerMachine,
    value: 'disconnected',
    context: { ...toolServerMachine.context, toolCount: 0 },
    event: 'DISCONNECT',
  },
};

/** An error that answers a refused frame. It ends no turn. */
export const refusalExample: ServerFrame = {
  event: 'error',
  data: {
    code: 'INVALID_MESSAGE_TYPE',
    message: 'The frame has an unsupported type.',
    details: {
      field: 'type',
      issue: 'it is "hello"',
      supported: ['message', 'cancel', 'approve', 'deny', 'toolResult', 'reset'],
    },
  },
};

export const clientFrameExamples: {
  readonly [T in ClientFrame['type']]: readonly Extract<ClientFrame, { type: T }>[];
} = {
  message: [
    { type: 'message', content: 'use get-sum {"a": 19, "b": 23}' },
    {
      type: 'message',
      content: 'What is this?',
      imageData: {
        base64:
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        mimeType: 'image/png',
      },
      whenBusy: 'enqueue',
      clientMessageId: 'm-17',
    },
    {
      type: 'message',
      content: 'use pick_colour {"of": "the door"}',
      clientTools: [
        {
          name: 'pick_colour',
          description: 'Asks the person for a colour.',
          inputSchema: { type: 'object' },
        },
      ],
    },
  ],
  cancel: [{ type: 'cancel' }, { type: 'cancel', commandId: 'c-4' }],
  approve: [{ type: 'approve', callId: 'call_1_1', argumentsHash }],
  deny: [{ type: 'deny', callId: 'call_1_1', reason: 'not today' }],
  toolResult: [{ type: 'toolResult', callId: 'call_1_1', content: 'green', commandId: 'c-5' }],
  inputAnswer: [
    {
      type: 'inputAnswer',
      inputId: 'call_1_1.1.1',
      action: 'accept',
      content: { size: 'large' },
      commandId: 'c-6',
    },
  ],
  reset: [{ type: 'reset' }],
  auth: [{ type: 'auth', token: 'eyJhbGciOiJFUzI1NiJ9…' }],
};
