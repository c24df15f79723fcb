import { z } from 'zod';
import { describeExpected } from '../../config/problems/describe-expected.ts';
import { formatPath, toPath } from '../../config/problems/path.ts';
import { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { type EventCodec, NewerEventError } from '../../core/log/event-codec.ts';
import { isSessionEvent } from '../../core/log/events.ts';

/** The latest time that a `Date` can have. */
const latestTimeMs = 8_640_000_000_000_000;

const Line = z.object({
  v: z.int().min(1),
  sessionId: SessionId,
  seq: z.int().min(1),
  time: z.int().min(0).max(latestTimeMs),
  meta: z.unknown().optional(),
  event: z.record(z.string(), z.unknown()),
});

/** Throws an error that names the field. */
export function parseLine(bytes: Uint8Array, codec: EventCodec): Envelope {
  const { v, meta: stored, event: json, ...place } = check('', () => Line.parse(parseJson(bytes)));
  const { event, meta } = check('event.', () => codec.parse(json, stored, v));
  if (!isSessionEvent(event))
    throw new Error(`event.type: found ${event.type}, which is no event of a session`);
  return { ...place, event, meta };
}

function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new Error('the line is empty; expected an event, one on each line');
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message would quote the line.
    throw new Error('is not JSON; expected an event as `agent-service export` prints it', { cause: error });
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error('is not UTF-8', { cause: error });
  }
}

function check<T>(prefix: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof NewerEventError) throw new Error(`v: the event ${error.message}`, { cause: error });
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    if (issue === undefined) throw error;
    const inEvent = issue.path[0] === 'meta' ? '' : prefix;
    const field = `${inEvent}${formatPath(toPath(issue.path))}`.replace(/\.$/, '');
    throw new Error(`${field === '' ? '' : `${field}: `}expected ${describeExpected(issue)}`, {
      cause: error,
    });
  }
}
