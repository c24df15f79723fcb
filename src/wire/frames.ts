import { z } from 'zod';
import { ImageDescription } from '../core/conversation/image.ts';
import { ErrorBody } from '../core/errors.ts';
import { Actor } from '../core/log/event-metadata.ts';
import { MachineState } from '../core/machine-state.ts';
import { Timestamp } from '../core/timestamp.ts';
import { InputAction, InputId, InputQuestion } from '../core/tool-call/input-events.ts';
import { InputContent } from '../core/tool-call/input-form.ts';
import { ToolResult } from '../core/tool-call/tool.ts';
import { FinishReason, TokenUsage } from '../core/turn/reply-parts.ts';
import { Queued } from './queued.ts';

const toolCall = {
  callId: z.string(),
  toolName: z.string(),
  serverId: z.string().nullable().describe('Null if no server offers the tool.'),
};
const args = z.record(z.string(), z.unknown());
const argumentsHash = z.string().describe("SHA-256 of the arguments' canonical JSON (RFC 8785), in hex.");
const content = z.string();
/** A field that is never there. Its type lets programs tell the members of a union apart by comparing with undefined. */
const absent = z.never().optional();
const finishReason = FinishReason.optional().describe(
  '`length` when a token limit cut the reply; else absent.',
);

function frame<E extends string, D extends z.ZodType>(event: E, description: string, data: D) {
  return z.object({ event: z.literal(event), data }).describe(description);
}

/** What the service sends over WebSocket: text frames of one JSON object each. */
export const ServerFrame = z.discriminatedUnion('event', [
  frame(
    'thinking',
    'The agent has begun to work on a message. With `?reasoning=1`, further frames have `reasoning`, a piece of the reasoning of the model.',
    z.object({ message: z.string(), reasoning: z.string().optional() }),
  ),
  frame(
    'chunk',
    'A piece of the reply. The pieces of a turn concatenate to its `response`.',
    z.object({ content }),
  ),
  frame('toolCall', 'The model calls a tool.', z.object({ ...toolCall, arguments: args })),
  frame(
    'toolApproval',
    'The call waits until a client approves or denies it.',
    z.object({
      ...toolCall,
      arguments: args,
      argumentsHash,
      expiresAt: Timestamp.optional().describe(
        'When the call is denied if nobody has answered; absent if it waits for ever.',
      ),
    }),
  ),
  frame(
    'clientToolCall',
    'The call is for the client that lent the tool with `clientTools`. The turn waits until it says what came of the call.',
    z.object({
      callId: toolCall.callId,
      toolName: toolCall.toolName,
      arguments: args,
      expiresAt: Timestamp.optional().describe('When the call fails if the client has not answered.'),
    }),
  ),
  frame(
    'inputRequired',
    'The tool server asks a person something while it works on the call. It waits until a client answers.',
    z.object({
      ...toolCall,
      inputId: InputId,
      message: z.string().describe('The question, for people.'),
      question: InputQuestion,
      expiresAt: Timestamp.optional().describe(
        'When the question ends if nobody has answered; absent if it waits for ever.',
      ),
    }),
  ),
  frame(
    'toolResult',
    'The call has ended, with a `result` or with an `error`.',
    z.union([
      z.object({ ...toolCall, result: ToolResult, error: absent }),
      z.object({ ...toolCall, error: z.string(), result: absent }),
    ]),
  ),
  frame(
    'queued',
    'Only for the client that sent the message: it waits behind a turn that waits for approval.',
    Queued,
  ),
  frame('response', 'The whole reply. Ends the turn, as `error` does.', z.object({ content, finishReason })),
  frame('error', 'Ends the turn, or answers a frame that was refused.', ErrorBody),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

/** Additional frames for a client that resumes. Each durable event has exactly one frame. */
export const ResumableOnlyFrame = z.discriminatedUnion('event', [
  frame(
    'resumed',
    'Always the first frame. `head` is the seq of the last event of the session. The events between `after` and `head` follow.',
    z.object({ after: z.int(), head: z.int() }),
  ),
  frame(
    'message',
    'A message was accepted.',
    z.object({ content, image: ImageDescription.optional(), clientMessageId: z.string().optional() }),
  ),
  frame(
    'accepted',
    'The service already had this message of the client, as this turn. If the turn has ended, its reply or its error is included.',
    z.object({
      clientMessageId: z.string(),
      content: content.optional(),
      finishReason,
      error: ErrorBody.optional(),
    }),
  ),
  frame(
    'done',
    'The service has done the command of this client that had this id: `cancel`, `approve`, `deny`, `toolResult`, `inputAnswer` or `reset`.',
    z.object({ commandId: z.string() }),
  ),
  frame(
    'toolApproved',
    'The waiting call was approved and begins.',
    z.object({ ...toolCall, argumentsHash }),
  ),
  frame(
    'inputAnswered',
    'The question has ended: somebody answered, or nobody did; `cause` says which.',
    z.object({ ...toolCall, inputId: InputId, action: InputAction, content: InputContent.optional() }),
  ),
  frame(
    'sampled',
    'The agent’s model answered the tool server of a running call. What was said is not told.',
    z.object({
      ...toolCall,
      model: z.string().optional().describe('Provider and model, such as `openai gpt-5.6`.'),
      finishReason,
      usage: TokenUsage.optional(),
    }),
  ),
  frame(
    'turnResumed',
    'The turn continues after a restart of the service. The text of the running step starts again.',
    z.object({ attempt: z.int() }),
  ),
  frame(
    'stepCompleted',
    'A model call ended. `content` is its whole text, `callIds` are its tool calls.',
    z.object({
      content,
      step: z.int(),
      callIds: z.array(z.string()),
      reasoning: z.string().optional().describe('The reasoning of the model, if `llm.keepReasoning` is set.'),
      finishReason,
      model: z.string().optional().describe('Provider and model, such as `openai gpt-5.6`.'),
      usage: TokenUsage.optional(),
    }),
  ),
  frame(
    'outputRejected',
    'The reply of the step does not fit the schema that was asked for. The model is told, and asked once more.',
    z.object({ step: z.int(), issue: z.string() }),
  ),
  frame('reset', 'The conversation starts over.', z.object({})),
  frame(
    'renamed',
    'The session got a title. Null: its title is derived from the first message again.',
    z.object({ title: z.string().nullable() }),
  ),
  frame(
    'described',
    'A client noted something about the session, in place of what was noted before.',
    z.object({ metadata: z.record(z.string(), z.string()) }),
  ),
  frame(
    'extended',
    'A client added messages to the conversation, and wants no reply to them.',
    z.object({ messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'tool']), content })) }),
  ),
  frame(
    'forked',
    'The events before this one were copied from another session.',
    z.object({ from: z.string(), at: z.int() }),
  ),
  frame('deleted', 'The session was deleted. Nothing follows.', z.object({})),
]);

/** Additional frames for a client that resumes with `?statecharts=1`. They have no place in the session. */
export const MachineFrame = z.discriminatedUnion('event', [
  frame(
    'machines',
    'With `?statecharts=1`, after `resumed`: the states of all running machines, those of other sessions and of tool servers included.',
    z.object({ machines: z.array(MachineState).readonly() }),
  ),
  frame('machine', 'With `?statecharts=1`: a machine has a new state.', MachineState),
]);
export type MachineFrame = z.infer<typeof MachineFrame>;

/** The place of a frame in its session. */
export const FramePlace = z.object({
  seq: z.int().optional().describe('Of a durable event: its position in the session, 1, 2, 3 …'),
  time: z
    .string()
    .optional()
    .describe('Of a durable event, if the client asked for it: when it was appended, in ISO 8601 UTC.'),
  turnId: z.string().optional(),
  step: z.int().optional().describe('Of a chunk or of reasoning: the model call that streams it.'),
  offset: z
    .int()
    .optional()
    .describe(
      "Of a chunk or of reasoning: where it begins in the step's text or reasoning, in UTF-16 code units.",
    ),
  actor: Actor.optional().describe(
    'Of a durable event: who caused it. Absent in events that version 0.1.0 wrote.',
  ),
  cause: z
    .looseObject({ kind: z.string() })
    .optional()
    .describe(
      'Of a turn that failed or was cancelled, of a tool call that failed or was interrupted, and of a question that has ended: the cause, for programs.',
    ),
  clientMessageId: z.string().optional().describe('Of an error: the message of this client that it answers.'),
  commandId: z.string().optional().describe('Of an error: the command of this client that it answers.'),
});

export type FramePlace = z.infer<typeof FramePlace>;

/** What the service sends to a client that asked for `?after=`. */
export const ResumableFrame = z.union([ServerFrame, ResumableOnlyFrame]).and(FramePlace);
export type ResumableFrame = z.infer<typeof ResumableFrame>;
