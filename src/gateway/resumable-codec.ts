import type { Envelope } from '../contract/envelope.ts';
import type { ResumableFrame } from '../contract/frames.ts';
import { imageBytes } from '../contract/image.ts';
import type { SessionSignal } from '../contract/service-requests.ts';
import { frameOf } from './frame-codec.ts';

/** The frame of a signal for a client that can resume: with its place, and for every durable event. */
export function resumableFrame(signal: SessionSignal): ResumableFrame {
  if ('event' in signal) return { ...ownFrame(signal), ...placeOf(signal) };
  const frame = frameOf(signal);
  if (frame === null) throw new Error(`no frame for ${signal.type}`);
  if (signal.type !== 'reply.chunk') return frame;
  const { turnId, step, offset } = signal;
  return { ...frame, turnId, step, offset };
}

export function encodeResumable(signal: SessionSignal): string {
  return JSON.stringify(resumableFrame(signal));
}

export function encodeResumed(after: number, head: number): string {
  return JSON.stringify({ event: 'resumed', data: { after, head } } satisfies ResumableFrame);
}

function placeOf({ seq, event }: Envelope): Pick<ResumableFrame, 'seq' | 'turnId'> {
  return 'turnId' in event ? { seq, turnId: event.turnId } : { seq };
}

function ownFrame(envelope: Envelope): ResumableFrame {
  const { event } = envelope;
  switch (event.type) {
    case 'turn.requested': {
      const { text: content, image } = event;
      const about = image && { mimeType: image.mimeType, bytes: imageBytes(image) };
      return { event: 'message', data: { content, ...(about && { image: about }) } };
    }
    case 'turn.resumed':
      return { event: 'turnResumed', data: { attempt: event.attempt } };
    case 'step.completed':
      return { event: 'stepCompleted', data: { content: event.separator + event.text } };
    case 'session.reset':
      return { event: 'reset', data: {} };
    case 'session.forked':
      return { event: 'forked', data: { from: event.from, at: event.at } };
    case 'session.deleted':
      return { event: 'deleted', data: {} };
    default: {
      const frame = frameOf(envelope);
      if (frame === null) throw new Error(`no frame for ${event.type}`);
      return frame;
    }
  }
}
