import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import { toolResultText } from '../tool-call/tool-result-text.ts';
import { outputCorrection } from '../turn/output-format.ts';
import type { StepPart } from '../turn/reply-parts.ts';
import { type GivenMessage, transcribed } from './given-message.ts';
import type { Image } from './image.ts';
import type { AssistantMessage, AssistantPart, ModelMessage, UserMessage } from './model-message.ts';

/**
 * The messages since the last reset. Only `evolveTranscript` and `evolveRefusals` change them: in place at the end, and
 * everywhere else in a new list. So what was counted of a list stays true.
 */
export type Transcript = ModelMessage[];

/**
 * Folds one event into the transcript. It adds in place, because copying a long conversation for each event would be
 * too slow. Each call gets a result, because the decider settles all calls of a turn before the turn ends.
 * @param turn the message of the turn, needed for `turn.started` only.
 */
export function evolveTranscript(transcript: Transcript, event: SessionEvent, turn: TurnText): Transcript {
  if (event.type === 'session.reset') return [];
  extendTranscript(transcript, event, turn);
  return transcript;
}

function extendTranscript(
  transcript: Transcript,
  event: Exclude<SessionEvent, SessionEventOf<'session.reset'>>,
  turn: TurnText,
): void {
  switch (event.type) {
    case 'turn.started':
      for (const given of turn.given ?? []) transcript.push(transcribed(given));
      if (hasMessage(turn)) transcript.push(userMessage(turn));
      return;
    case 'step.completed':
      addStep(transcript, event);
      return;
    case 'output.rejected':
      transcript.push({ role: 'user', text: outputCorrection(event.issue), correction: true });
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
    case 'session.extended':
      for (const given of event.given) transcript.push(transcribed(given));
      return;
    case 'turn.requested':
    case 'turn.resumed':
    case 'approval.requested':
    case 'approval.granted':
    case 'tool-call.delegated':
    case 'input.requested':
    case 'input.answered':
    case 'sampling.completed':
    case 'turn.completed':
    case 'session.renamed':
    case 'session.described':
    case 'session.forked':
    case 'session.deleted':
      return;
    default:
      event satisfies never;
  }
}

/** The user's message. `turn.requested` has it, and it joins the transcript at `turn.started`. */
export interface TurnText {
  readonly text: string;
  readonly image?: Image;
  /** What comes before it. */
  readonly given?: readonly GivenMessage[];
}

/**
 * A turn has no message of its own if the conversation that its client brings ends with the result of a tool, or if what
 * it answers is in the transcript already. Then it has `given`, which may be empty.
 */
export function hasMessage({
  text,
  image,
  given,
}: Pick<SessionEventOf<'turn.requested'>, 'text' | 'image' | 'given'> | TurnText): boolean {
  return text !== '' || image !== undefined || given === undefined;
}

export function userMessage({
  text,
  image,
}: Pick<SessionEventOf<'turn.requested'>, 'text' | 'image'>): UserMessage {
  return { role: 'user', text, ...(image && { images: [image] }) };
}

/** A step without parts adds no message. */
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

/** Adds name and arguments to the part that stands for the call in its step. */
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

/** Index of the message with which the newest turn began; -1 before the first turn. */
export function beginOfTurn(transcript: readonly ModelMessage[]): number {
  return transcript.findLastIndex(isUsersOwn);
}

/** Whether a turn may begin with this message: with a correction none does. */
export function isUsersOwn(message: ModelMessage | undefined): boolean {
  return message?.role === 'user' && message.correction === undefined;
}

/** Marks messages that the model is no longer shown. They stay in the log and in the view of the session. */
export function leaveOut(transcript: Transcript, from: number, to: number): Transcript {
  return transcript.map((message, index) =>
    index < from || index >= to || message.leftOut ? message : { ...message, leftOut: true },
  );
}

/** The same for all images. The texts of their messages stay. */
export function leaveOutImages(transcript: Transcript): Transcript {
  return transcript.map((message) =>
    message.role === 'user' && message.images ? { ...message, imagesLeftOut: true } : message,
  );
}
