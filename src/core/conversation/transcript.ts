import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import { toolResultText } from '../tool-call/tool-result-text.ts';
import type { StepPart } from '../turn/reply-parts.ts';
import type { Image } from './image.ts';
import type { AssistantMessage, AssistantPart, ModelMessage, UserMessage } from './model-message.ts';

/** The conversation as the log tells it. Only `evolveTranscript` and `leaveOutRefused` write to it. */
export type Transcript = ModelMessage[];

/**
 * Folds one event into the transcript, in place: a conversation of a hundred thousand events must not be
 * copied for each. Tool calls are always paired, because the decider settles each call before its turn ends.
 */
export function evolveTranscript(transcript: Transcript, event: SessionEvent, turn: TurnText): void {
  switch (event.type) {
    case 'turn.started':
      transcript.push({ role: 'user', text: turn.text, ...(turn.image && { images: [turn.image] }) });
      return;
    case 'step.completed':
      addStep(transcript, event);
      return;
    case 'tool-call.requested':
      addToolCall(transcript, event);
      return;
    case 'tool-call.succeeded':
      addToolResult(transcript, event.callId, toolResultText(event.result));
      return;
    case 'tool-call.failed':
      addToolResult(transcript, event.callId, `The tool failed: ${event.reason}`);
      return;
    case 'tool-call.interrupted':
      addToolResult(
        transcript,
        event.callId,
        `The call was interrupted (${event.reason}). It may or may not have taken effect.`,
      );
      return;
    case 'turn.cancelled':
      addPartial(transcript, event.partial, 'cancelled');
      return;
    case 'turn.failed':
      addPartial(transcript, event.partial, 'failed');
      return;
    case 'session.reset':
      transcript.length = 0;
      return;
    case 'turn.requested':
    case 'turn.resumed':
    case 'approval.requested':
    case 'approval.granted':
    case 'turn.completed':
    case 'session.forked':
    case 'session.deleted':
      return;
    default:
      event satisfies never;
  }
}

/** What the user said; known only at `turn.requested`, needed when the turn starts. */
export interface TurnText {
  readonly text: string;
  readonly image?: Image;
}

/** A step that said nothing, as a model that thought and then answered with no word, is no message. */
function addStep(transcript: Transcript, { parts, source }: SessionEventOf<'step.completed'>): void {
  if (parts.length === 0) return;
  const isOpaque = parts.some((part) => part.type === 'opaque' || ('opaque' in part && part.opaque));
  transcript.push({
    role: 'assistant',
    parts: parts.map(messagePart),
    ...(isOpaque && source && { source }),
  });
}

function messagePart(part: StepPart): AssistantPart {
  return part.type === 'toolCall' ? { ...part, name: '', arguments: {} } : part;
}

/** Fills in the call's place in its step. */
function addToolCall(transcript: Transcript, call: SessionEventOf<'tool-call.requested'>): void {
  const { callId, name, arguments: args } = call;
  const step = transcript.at(-1);
  const index = step?.role === 'assistant' ? indexOfCall(step, callId) : -1;
  if (step?.role !== 'assistant' || index === -1) throw new Error(`tool call ${callId} follows no step`);
  const parts = step.parts.with(index, {
    ...partAt(step, index),
    type: 'toolCall',
    callId,
    name,
    arguments: args,
  });
  transcript[transcript.length - 1] = { ...step, parts };
}

function partAt({ parts }: AssistantMessage, index: number): object {
  return parts[index] ?? {};
}

function indexOfCall({ parts }: AssistantMessage, callId: string): number {
  return parts.findIndex((part) => part.type === 'toolCall' && part.callId === callId);
}

function addToolResult(transcript: Transcript, callId: string, text: string): void {
  transcript.push({ role: 'tool', callId, name: nameOfCall(transcript, callId), text });
}

function nameOfCall(transcript: Transcript, callId: string): string {
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.role !== 'assistant') continue;
    const call = message.parts.find((part) => part.type === 'toolCall' && part.callId === callId);
    if (call?.type === 'toolCall') return call.name;
  }
  throw new Error(`result of tool call ${callId} follows no such call`);
}

function addPartial(transcript: Transcript, partial: string, cut: 'cancelled' | 'failed'): void {
  if (partial === '') return;
  transcript.push({ role: 'assistant', parts: [{ type: 'text', text: partial }], cut });
}

/** Index of the message that the newest turn began with; -1 before the first. */
export function beginOfTurn(transcript: readonly ModelMessage[]): number {
  return transcript.findLastIndex(({ role }) => role === 'user');
}

/** Marks messages that the model is not to be shown any more; the log and the session's view keep them. */
export function leaveOut(transcript: Transcript, from: number, to: number): void {
  for (let index = Math.max(0, from); index < to; index += 1) {
    const message = transcript[index];
    if (message && !message.leftOut) transcript[index] = { ...message, leftOut: true };
  }
}

/** The same for images alone: the words around them stay. */
export function leaveOutImages(transcript: Transcript): void {
  for (const [index, message] of transcript.entries()) {
    if (message.role === 'user' && message.images) transcript[index] = withoutImages(message);
  }
}

function withoutImages(message: UserMessage): UserMessage {
  return { ...message, imagesLeftOut: true };
}
