import { z } from 'zod';
import { EventMetadata } from './event-metadata.ts';
import { LoggedEvent } from './events.ts';
import type { RecordedEvent } from './recorded-event.ts';
import { type Upcasters, upcasters } from './upcasters.ts';

/** What is stored beside an event: the version of the event's type, and its metadata. */
export const StoredMetadata = z.object({ version: z.int().min(1), ...EventMetadata.partial().shape });
export type StoredMetadata = z.infer<typeof StoredMetadata>;

/** Its issues have paths that begin with `meta`, those of an event do not. */
const BesideEvent = z.object({ meta: StoredMetadata });
const RecordedMetadata = z.object({ meta: EventMetadata });

/** Writes events as JSON and reads them back. Events of older versions are read as events of the current version. */
export interface EventCodec {
  encode(recorded: RecordedEvent): string;
  /** Throws what `parse` throws. */
  decode(text: string): RecordedEvent;
  /**
   * Reads the JSON of an event. Throws a `ZodError`, or a `NewerEventError`.
   * @param meta what is stored beside the event; ignored in formats 1 and 2.
   * @param format of the log or the export that the event is from.
   */
  parse(event: unknown, meta: unknown, format: number): RecordedEvent;
  /** What an export stores beside the event. */
  stored(recorded: RecordedEvent): StoredMetadata;
}

/**
 * The format that this release writes. Formats 1 and 2 had one version for all event types, and no metadata. Raise it
 * only if a release that knows just the format before could misread the new one; that release then refuses the log.
 */
export const LOG_FORMAT = 3;

/** A later release wrote the event, so this release cannot know what it means. */
export class NewerEventError extends Error {
  override readonly name = 'NewerEventError';

  constructor(what: string, found: number, known: number) {
    super(
      `was written by a newer agent-service (${what} of version ${found}, this one knows ${known}); run that version`,
    );
  }
}

/** The fields that formats 2 and 3 add to those of the event. */
const Stored = z.looseObject({ v: z.int().min(1).default(1), meta: z.unknown().optional() });

const EventOfAnyVersion = z.looseObject({ type: z.string() });

export function eventCodec(known: Upcasters): EventCodec {
  const upcastersByType = new Map(Object.entries(known));
  const stepsOf = (type: string) => upcastersByType.get(type) ?? [];
  const versionOf = (type: string) => stepsOf(type).length + 1;

  function upcast(event: unknown, version: (type: string) => number): LoggedEvent {
    const stored = EventOfAnyVersion.parse(event);
    const written = version(stored.type);
    const current = versionOf(stored.type);
    if (written > current) throw new NewerEventError(`${stored.type} events`, written, current);
    const steps = stepsOf(stored.type).slice(written - 1);
    return LoggedEvent.parse(steps.reduce<Record<string, unknown>>((json, step) => step(json), stored));
  }

  function parse(event: unknown, meta: unknown, format: number): RecordedEvent {
    if (format > LOG_FORMAT) throw new NewerEventError('events', format, LOG_FORMAT);
    if (format < 3) return { event: upcast(event, (type) => versionInFormat(format, type)), meta: null };
    const { version, ...fields } = BesideEvent.parse({ meta }).meta;
    const recorded = fields.id === undefined ? null : RecordedMetadata.parse({ meta: fields }).meta;
    return { event: upcast(event, () => version), meta: recorded };
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

/** In formats 1 and 2, all types had the version of the format. Only `step.completed` changed between the two. */
function versionInFormat(format: number, type: string): number {
  return type === 'step.completed' ? format : 1;
}

/** The codec of this release. */
export const currentEvents: EventCodec = eventCodec(upcasters);
