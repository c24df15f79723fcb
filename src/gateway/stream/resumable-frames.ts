import { describeImage } from '../../core/conversation/image.ts';
import type { ServiceError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { isoTime } from '../../core/session/view-session.ts';
import { callIdsOf, reasoningText, spokenText } from '../../core/turn/step-parts.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { FramePlace, ResumableFrame } from '../../wire/frames.ts';
import { endOf } from '../turns/turn-end.ts';
import { encodeChunk, faultFrame, plainFrame, thinkingFrame } from './server-frames.ts';

/** The frame of a durable event for a client that can resume. Every durable event has one, with its place. */
export function resumableFrame(envelope: Envelope): ResumableFrame {
  return { ...ownFrame(envelope), ...placeOf(envelope) };
}

/** The same with the time of the event. */
export function timedFrame(envelope: Envelope): ResumableFrame & { readonly time: string } {
  return { ...resumableFrame(envelope), time: isoTime(envelope.time) };
}

/** For a client that asked for times. */
export function encodeTimed(signal: SessionSignal): string {
  return 'event' in signal ? JSON.stringify(timedFrame(signal)) : encodeResumable(signal);
}

export function encodeResumable(signal: SessionSignal): string {
  if ('event' in signal) return JSON.stringify(resumableFrame(signal));
  switch (signal.type) {
    case 'reply.chunk': {
      const { content, turnId, step, offset } = signal;
      return encodeChunk(content, `},"turnId":${JSON.stringify(turnId)},"step":${step},"offset":${offset}}`);
    }
    case 'reply.reasoning': {
      const { turnId, step, offset } = signal;
      return JSON.stringify({
        ...thinkingFrame(signal.content),
        turnId,
        step,
        offset,
      } satisfies ResumableFrame);
    }
    case 'session.fault':
      return JSON.stringify(faultFrame(signal));
    default:
      return signal satisfies never;
  }
}

function stepData(event: SessionEventOf<'step.completed'>) {
  const { separator, parts, step, source, finishReason, usage } = event;
  const reasoning = reasoningText(parts);
  return {
    content: separator + spokenText(parts),
    step,
    callIds: callIdsOf(parts),
    ...(reasoning !== '' && { reasoning }),
    ...(finishReason && { finishReason }),
    ...(source && { model: `${source.provider} ${source.model}` }),
    ...(usage && { usage }),
  };
}

function sampledData(event: SessionEventOf<'sampling.completed'>) {
  const { callId, toolName, serverId, source, finishReason, usage } = event;
  return {
    callId,
    toolName,
    serverId,
    ...(source && { model: `${source.provider} ${source.model}` }),
    ...(finishReason && { finishReason }),
    ...(usage && { usage }),
  };
}

export function encodeResumed(after: number, head: number): string {
  return JSON.stringify({ event: 'resumed', data: { after, head } } satisfies ResumableFrame);
}

/** Tells a client that the service already had its message, as this turn. */
export function encodeAccepted(clientMessageId: string, turnId: TurnId, outcome?: TurnOutcome): string {
  const data = { clientMessageId, ...(outcome && endOf(outcome)) };
  return JSON.stringify({ event: 'accepted', data, turnId } satisfies ResumableFrame);
}

/** Tells a client that its command was done. */
export function encodeDone(commandId: string): string {
  return JSON.stringify({ event: 'done', data: { commandId } } satisfies ResumableFrame);
}

/** The id that a client gave a frame. */
export type FrameId = Pick<FramePlace, 'clientMessageId' | 'commandId'>;

/** Tells a client that its message or its command was refused. */
export function encodeRefusal({ body: data }: ServiceError, id: FrameId): string {
  return JSON.stringify({ event: 'error', data, ...id } satisfies ResumableFrame);
}

function placeOf({ seq, event, meta }: Envelope): FramePlace {
  return {
    seq,
    ...('turnId' in event && { turnId: event.turnId }),
    ...(meta && { actor: meta.actor }),
    ...('cause' in event && event.cause.kind !== 'unrecorded' && { cause: event.cause }),
  };
}

function ownFrame({ event, time }: Envelope): ResumableFrame {
  switch (event.type) {
    case 'turn.requested': {
      const { text: content, image, key } = event;
      const data = {
        content,
        ...(image && { image: describeImage(image) }),
        ...(key && { clientMessageId: key.id }),
      };
      return { event: 'message', data };
    }
    case 'turn.resumed':
      return { event: 'turnResumed', data: { attempt: event.attempt } };
    case 'step.completed': {
      return { event: 'stepCompleted', data: stepData(event) };
    }
    case 'output.rejected':
      return { event: 'outputRejected', data: { step: event.step, issue: event.issue } };
    case 'approval.granted': {
      const { callId, toolName, serverId, argumentsHash } = event;
      return { event: 'toolApproved', data: { callId, toolName, serverId, argumentsHash } };
    }
    case 'input.answered': {
      const { callId, toolName, serverId, inputId, action, content } = event;
      const data = { callId, toolName, serverId, inputId, action, ...(content && { content }) };
      return { event: 'inputAnswered', data };
    }
    case 'sampling.completed':
      return { event: 'sampled', data: sampledData(event) };
    case 'session.reset':
      return { event: 'reset', data: {} };
    case 'session.renamed':
      return { event: 'renamed', data: { title: event.title } };
    case 'session.described':
      return { event: 'described', data: { metadata: event.metadata } };
    case 'session.extended':
      return {
        event: 'extended',
        data: { messages: event.given.map(({ role, text: content }) => ({ role, content })) },
      };
    case 'session.forked':
      return { event: 'forked', data: { from: event.from, at: event.at } };
    case 'session.deleted':
      return { event: 'deleted', data: {} };
    default:
      return plainFrame(event, time);
  }
}
