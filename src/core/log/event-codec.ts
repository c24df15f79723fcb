import { z } from 'zod';
import { LoggedEvent } from './events.ts';
import { type Upcaster, upcasters } from './upcasters.ts';

/** Stored events as text and back. Whatever version they were written in, they are read as those of today. */
export interface EventCodec {
  /** The version it writes. */
  readonly version: number;
  encode(event: LoggedEvent): string;
  /** Throws what `parse` throws. */
  decode(text: string): LoggedEvent;
  /** Throws `NewerEventError`, or a `ZodError` whose paths begin in the event. */
  parse(json: unknown, version: number): LoggedEvent;
}

/** The event has a version that this program does not know: it cannot say what it means. */
export class NewerEventError extends Error {
  override readonly name = 'NewerEventError';

  constructor(found: number, known: number) {
    super(
      `was written by a newer agent-service (events of version ${found}, this one knows ${known}); run that version`,
    );
  }
}

/** Stands beside the fields of the event, where the version is not 1. */
const Version = z.object({ v: z.int().min(1).default(1) });

const Older = z.record(z.string(), z.unknown());

export function eventCodec(steps: readonly Upcaster[]): EventCodec {
  const version = steps.length + 1;

  function parse(json: unknown, written: number): LoggedEvent {
    if (written > version) throw new NewerEventError(written, version);
    if (written === version) return LoggedEvent.parse(json);
    return LoggedEvent.parse(
      steps.slice(written - 1).reduce((older, upcast) => upcast(older), Older.parse(json)),
    );
  }

  return {
    version,
    parse,
    encode: (event) => JSON.stringify(version === 1 ? event : { v: version, ...event }),
    decode(text) {
      const json: unknown = JSON.parse(text);
      return parse(json, Version.parse(json).v);
    },
  };
}

/** That of this program. Its version is written into exports. */
export const currentEvents: EventCodec = eventCodec(upcasters);
