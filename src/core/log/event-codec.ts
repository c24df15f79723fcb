import { z } from 'zod';
import { EventMetadata } from './event-metadata.ts';
import { LoggedEvent } from './events.ts';
import type { RecordedEvent } from './recorded-event.ts';
import { type Upcasters, upcasters } from './upcasters.ts';

/** What an export has beside an event: the version of the event's type, and its metadata. */
export const StoredMetadata = z.object({ version: z.int().min(1), ...EventMetadata.partial().shape });
export type StoredMetadata = z.infer<typeof StoredMetadata>;

/** Events as text and back. Whatever version they were written in, they are read as those of today. */
export interface EventCodec {
  encode(recorded: RecordedEvent): string;
  /** Throws what `parse` throws. */
  decode(text: string): RecordedEvent;
  /** The JSON of an event and what stands beside it. @param format of the log or the export that it is from. */
  parse(event: unknown, meta: unknown, format: number): RecordedEvent;
  /** As an export has it. */
  stored(recorded: RecordedEvent): StoredMetadata;
}

/**
 * How events are written, as a whole: 1 and 2 had one version for all types and no metadata. Raised only when a program
 * that knows the one before could misread what is written; it refuses the log then.
 */
export const LOG_FORMAT = 3;

/** The event was written by a later version: nobody can say here what it means. */
export class NewerEventError extends Error {
  override readonly name = 'NewerEventError';

  constructor(what: string, found: number, known: number) {
    super(
      `was written by a newer agent-service (${what} of version ${found}, this one knows ${known}); run that version`,
    );
  }
}

/** Beside the fields of the event, where the format is not 1. */
const Stored = z.looseObject({ v: z.int().min(1).default(1), meta: z.unknown().optional() });

const Older = z.looseObject({ type: z.string() });

export function eventCodec(known: Upcasters): EventCodec {
  const stepsOf = (type: string) => known[type as LoggedEvent['type']] ?? [];
  const versionOf = (type: string) => stepsOf(type).length + 1;

  function upcast(event: unknown, version: (type: string) => number): LoggedEvent {
    const older = Older.parse(event);
    const written = version(older.type);
    const today = versionOf(older.type);
    if (written > today) throw new NewerEventError(`${older.type} events`, written, today);
    const steps = stepsOf(older.type).slice(written - 1);
    return LoggedEvent.parse(steps.reduce<Record<string, unknown>>((json, step) => step(json), older));
  }

  function parse(event: unknown, meta: unknown, format: number): RecordedEvent {
    if (format > LOG_FORMAT) throw new NewerEventError('events', format, LOG_FORMAT);
    if (format < 3) return { event: upcast(event, (type) => versionInFormat(format, type)), meta: null };
    const { version, ...fields } = StoredMetadata.parse(meta);
    const { success, data } = EventMetadata.safeParse(fields);
    return { event: upcast(event, () => version), meta: success ? data : null };
  }

  const stored: EventCodec['stored'] = ({ event, meta }) => ({
    version: versionOf(event.type),
    ...meta,
  });

  return {
    parse,
    stored,
    encode: (recorded) => JSON.stringify({ v: LOG_FORMAT, meta: stored(recorded), ...recorded.event }),
    decode(text) {
      const { v, meta, ...event } = Stored.parse(JSON.parse(text));
      return parse(event, meta, v);
    },
  };
}

/** The formats 1 and 2 counted one version for all types; it was a step that changed. */
function versionInFormat(format: number, type: string): number {
  return type === 'step.completed' ? format : 1;
}

/** The codec of this version. */
export const currentEvents: EventCodec = eventCodec(upcasters);
