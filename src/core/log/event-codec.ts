import { z } from 'zod';
import { type Actor, EventMetadata } from './event-metadata.ts';
import { LoggedEvent, turnIdOf } from './events.ts';
import type { RecordedEvent } from './recorded-event.ts';
import { type Upcasters, upcasters } from './upcasters.ts';

/** What is stored beside an event: the version of the event's type, and its metadata. */
const StoredMetadata = z.object({ version: z.int().min(1), ...EventMetadata.partial().shape });
export type StoredMetadata = z.infer<typeof StoredMetadata>;

/** Issues of metadata have paths that begin with `meta`; those of an event do not. */
const BesideEvent = z.object({ meta: StoredMetadata });
const RecordedMetadata = z.object({ meta: EventMetadata });

/** Writes events as JSON and reads them back. Events of older versions are read as events of the current version. */
export interface EventCodec {
  /** Throws a `ZodError` if an event that a client has shaped could not be read again. */
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

/** The fields that formats 2 and 3 add to those of the event. The schemas of the events drop them again. */
const AddedFields = z.object({ v: z.int().min(1).default(1), meta: z.unknown().optional() });

export function eventCodec(known: Upcasters): EventCodec {
  const upcastersByType = new Map(Object.entries(known));
  const stepsOf = (type: string) => upcastersByType.get(type) ?? [];
  const versionOf = (type: string) => stepsOf(type).length + 1;

  function upcast(event: unknown, version: (type: string) => number): LoggedEvent {
    const type = typeOf(event);
    // Without a type there is nothing to upcast: the schema says what is wrong.
    if (type === undefined) return LoggedEvent.parse(event);
    const written = version(type);
    const current = versionOf(type);
    if (written > current) throw new NewerEventError(`${type} events`, written, current);
    if (written === current) return LoggedEvent.parse(event);
    const steps = stepsOf(type).slice(written - 1);
    return LoggedEvent.parse(steps.reduce((json, step) => step(json), EventOfAnyVersion.parse(event)));
  }

  function parse(event: unknown, meta: unknown, format: number): RecordedEvent {
    if (format > LOG_FORMAT) throw new NewerEventError('events', format, LOG_FORMAT);
    if (format < 3) return { event: upcast(event, (type) => versionInFormat(format, type)), meta: null };
    const stored = BesideEvent.parse({ meta }).meta;
    const upcasted = upcast(event, () => stored.version);
    return { event: upcasted, meta: metadataIn(stored, turnIdOf(upcasted)) };
  }

  const stored: EventCodec['stored'] = ({ event, meta }) => ({ version: versionOf(event.type), ...meta });

  return {
    parse,
    stored,
    encode({ event, meta }) {
      const beside = `{"v":${LOG_FORMAT},"meta":{"version":${versionOf(event.type)}${encodeMetadata(event, meta)}}`;
      const text = `${beside},${JSON.stringify(event).slice(1)}`;
      if (isShapedByClient(event)) LoggedEvent.parse(JSON.parse(text));
      return text;
    },
    decode(text) {
      const event: unknown = JSON.parse(text);
      const { v, meta } = AddedFields.parse(event);
      return parse(event, meta, v);
    },
  };
}

/**
 * Whether much of the event is as a client has sent it. An event that cannot be read is refused here, because in the log it
 * would make its whole stream unreadable. The events that each turn has are spared the time.
 */
function isShapedByClient(event: LoggedEvent): boolean {
  if (event.type === 'turn.requested') return event.given !== undefined || event.options !== undefined;
  return SHAPED_BY_CLIENTS.has(event.type);
}

const SHAPED_BY_CLIENTS: ReadonlySet<LoggedEvent['type']> = new Set([
  ...(['session.extended', 'session.described', 'session.renamed', 'session.forked'] as const),
  ...(['session.shared', 'api-key.created', 'mcp-server.registered', 'push.registered'] as const),
  'input.answered',
]);

const EventOfAnyVersion = z.record(z.string(), z.unknown());

function typeOf(event: unknown): string | undefined {
  const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
  return typeof type === 'string' ? type : undefined;
}

/**
 * The metadata as JSON, to follow the version. Ids that are the turn's id are left out, and the text is put together by
 * hand: each event has it, and its length is most of what the metadata cost.
 */
function encodeMetadata(event: LoggedEvent, meta: EventMetadata | null): string {
  if (meta === null) return '';
  const { id, actor, causationId, correlationId } = meta;
  const turnId = turnIdOf(event);
  const causation = causationId === turnId ? '' : `,"causationId":${JSON.stringify(causationId)}`;
  const correlation = correlationId === turnId ? '' : `,"correlationId":${JSON.stringify(correlationId)}`;
  return `,"id":${JSON.stringify(id)},"actor":${actorText(actor)}${causation}${correlation}`;
}

/** Each event of a client has the same actor. */
const actorTexts = new WeakMap<Actor, string>();

function actorText(actor: Actor): string {
  const known = actorTexts.get(actor);
  if (known !== undefined) return known;
  const text = JSON.stringify(actor);
  actorTexts.set(actor, text);
  return text;
}

/** Null for an event that has none. Throws a `ZodError` when only a part of it is there. */
function metadataIn(stored: StoredMetadata, turnId: string | undefined): EventMetadata | null {
  const { id, actor, causationId = turnId, correlationId = turnId } = stored;
  if (id === undefined) return null;
  if (actor !== undefined && causationId !== undefined && correlationId !== undefined)
    return { id, actor, causationId, correlationId };
  return RecordedMetadata.parse({ meta: stored }).meta;
}

/** In formats 1 and 2, all types had the version of the format. Only `step.completed` changed between the two. */
function versionInFormat(format: number, type: string): number {
  return type === 'step.completed' ? format : 1;
}

/** The codec of this release. */
export const currentEvents: EventCodec = eventCodec(upcasters);
