import type { TimedEvent } from '../../../src/console/service/timed-event.ts';
import { resumableFrame } from '../../../src/gateway/stream/resumable-frames.ts';
import type { SessionRig } from './session-rig.ts';

/** What the console reads of a session of the rig: all its events, as the page of the log has them. */
export async function eventsFor(rig: SessionRig, sessionId = 's'): Promise<TimedEvent[]> {
  const envelopes = await rig.journal.read(sessionId, 0);
  return envelopes.map((envelope) => {
    const { seq, time, event } = envelope;
    const frame = resumableFrame(envelope);
    if (frame.event === 'resumed' || frame.event === 'accepted' || frame.event === 'done')
      throw new Error(`${frame.event} is no event of a log`);
    const partial = 'partial' in event && event.partial !== '' ? event.separator + event.partial : undefined;
    return {
      ...frame,
      seq,
      time: new Date(time).toISOString(),
      ...(partial !== undefined && { partial }),
    };
  });
}
