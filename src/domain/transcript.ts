import type { SessionEvent } from '../contract/events.ts';
import type { ModelMessage, ModelToolCall } from '../contract/model-message.ts';
import { toolResultText } from './tool-result-text.ts';

/** The conversation as the model will read it. Only `evolveTranscript` writes to it. */
export type Transcript = ModelMessage[];

/**
 * Folds one event into the transcript, in place: a conversation of a hundred thousand events must not be
 * copied for each. Tool calls are always paired, because the decider settles each call before its turn ends.
 */
export function evolveTranscript(transcript: Transcript, event: SessionEvent, turn: TurnText): void {
  switch (event.type) {
    case 'turn.started':
      transcript.push({ role: 'user', text: turn.text, ...(turn.image && { image: turn.image }) });
      return;
    case 'step.completed':
      if (event.text !== '' || event.callIds.length > 0) {
        transcript.push({ role: 'assistant', text: event.text, toolCalls: [] });
      }
      return;
    case 'tool-call.requested':
      addToolCall(transcript, { callId: event.callId, name: event.name, arguments: event.arguments });
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
export type TurnText = Pick<Extract<ModelMessage, { role: 'user' }>, 'text' | 'image'>;

function addToolCall(transcript: Transcript, call: ModelToolCall): void {
  const last = transcript.at(-1);
  if (last?.role !== 'assistant') throw new Error(`tool call ${call.callId} follows no step`);
  transcript[transcript.length - 1] = { ...last, toolCalls: [...last.toolCalls, call] };
}

function addToolResult(transcript: Transcript, callId: string, text: string): void {
  transcript.push({ role: 'tool', callId, name: nameOfCall(transcript, callId), text });
}

function nameOfCall(transcript: Transcript, callId: string): string {
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.role !== 'assistant') continue;
    const call = message.toolCalls.find((candidate) => candidate.callId === callId);
    if (call) return call.name;
  }
  throw new Error(`result of tool call ${callId} follows no such call`);
}

function addPartial(transcript: Transcript, partial: string, cut: 'cancelled' | 'failed'): void {
  if (partial !== '') transcript.push({ role: 'assistant', text: partial, toolCalls: [], cut });
}
