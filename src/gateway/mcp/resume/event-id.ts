/** The id of an event on a stream of the older era: where its stream goes on for a client that comes back with it. */
export interface EventId {
  /** Of a call of `chat_with_agent`, it says all that is needed to tell the call again from the log. */
  readonly stream: string;
  /** Characters of the reply that the client has. `end`: it has the result. Always 0 on streams of other requests. */
  readonly told: number | 'end';
  /** Counts the events of the stream. Absent where the event was told from the log, which has no such number. */
  readonly number?: number | undefined;
}

const ID = /^([\w.-]+)~(\d{1,15}|end)(?:~(\d{1,15}))?$/;

export function encodeEventId({ stream, told, number }: EventId): string {
  return number === undefined ? `${stream}~${told}` : `${stream}~${told}~${number}`;
}

/** Null if the service gives no such ids. */
export function decodeEventId(text: string): EventId | null {
  const [, stream, told, number] = ID.exec(text) ?? [];
  if (stream === undefined || told === undefined) return null;
  return {
    stream,
    told: told === 'end' ? told : Number(told),
    ...(number !== undefined && { number: Number(number) }),
  };
}
