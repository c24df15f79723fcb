import type { Transcript } from '../conversation/transcript.ts';
import type { CallId } from '../ids.ts';
import type { Envelope } from '../log/envelope.ts';
import { turnIdOf } from '../log/events.ts';
import type { KeyedRequest, OpenTurn, SessionState } from './session-state.ts';
import { type EventMark, SNAPSHOT_VERSION, SnapshotHead, SnapshotPage } from './snapshot-part.ts';

/** Approximate length of a part. The event loop runs between two parts. */
const PART_CHARACTERS = 256 * 1024;

/**
 * Encodes the state in parts. The parts are made later, one by one, from the state at the time of the call.
 * @param last the last event that was folded into the state.
 */
export function encodeSnapshot(state: SessionState, last: Envelope): Iterable<string> {
  const { transcript, keys, open, ...rest } = state;
  const head = JSON.stringify({
    version: SNAPSHOT_VERSION,
    after: markOf(last),
    state: { ...rest, open: open && withLists(open) },
  });
  return inParts(head, { transcript: [...transcript], keys: [...keys.values()] });
}

/** The turn with lists instead of maps, because JSON has no maps. */
export function withLists(open: OpenTurn): NonNullable<SnapshotHead['state']['open']> {
  const { unsettled, awaiting, delegated, asked, ...turn } = open;
  return {
    ...turn,
    unsettled: [...unsettled.values()],
    awaiting: [...awaiting.values()],
    ...(delegated.size > 0 && { delegated: [...delegated.values()] }),
    ...(asked && { asked: [...asked.values()] }),
  };
}

function withMaps(open: NonNullable<SnapshotHead['state']['open']>): OpenTurn {
  const { unsettled, awaiting, delegated = [], asked, ...turn } = open;
  return {
    ...turn,
    unsettled: byCallId(unsettled),
    awaiting: byCallId(awaiting),
    delegated: byCallId(delegated),
    ...(asked && { asked: new Map(asked.map((one) => [one.inputId, one])) }),
  };
}

function byCallId<T extends { readonly callId: CallId }>(events: readonly T[]): Map<CallId, T> {
  return new Map(events.map((event) => [event.callId, event]));
}

type Lists = Readonly<Record<string, readonly object[]>>;

function* inParts(head: string, lists: Lists): Generator<string, void, void> {
  yield head;
  for (const [name, items] of Object.entries(lists)) {
    let texts: string[] = [];
    let characters = 0;
    for (const item of items) {
      const text = JSON.stringify(item);
      texts.push(text);
      characters += text.length;
      if (characters < PART_CHARACTERS) continue;
      yield `{"${name}":[${texts.join()}]}`;
      texts = [];
      characters = 0;
    }
    if (texts.length > 0) yield `{"${name}":[${texts.join()}]}`;
  }
}

/** Restores a state from its parts. */
export class SnapshotDecoder {
  #head: SnapshotHead | undefined;
  readonly #transcript: Transcript = [];
  readonly #keys = new Map<string, KeyedRequest>();

  /** Takes the next part. Returns false if its version or shape is unknown; the snapshot is then useless. */
  take(part: string): boolean {
    const json: unknown = JSON.parse(part);
    if (this.#head === undefined) {
      this.#head = SnapshotHead.safeParse(json).data;
      return this.#head !== undefined;
    }
    const page = SnapshotPage.safeParse(json).data;
    if (page === undefined) return false;
    if ('transcript' in page) for (const message of page.transcript) this.#transcript.push(message);
    else for (const key of page.keys) this.#keys.set(key.id, key);
    return true;
  }

  /** Whether the snapshot was taken after this event. Call it after the first part. */
  isAfter(envelope: Envelope): boolean {
    const mark = markOf(envelope);
    const after = this.#head?.after;
    return (
      after?.seq === mark.seq &&
      after.time === mark.time &&
      after.type === mark.type &&
      after.turnId === mark.turnId
    );
  }

  /** Undefined before the first part. */
  get state(): SessionState | undefined {
    if (this.#head === undefined) return undefined;
    const { open, ...rest } = this.#head.state;
    return {
      ...rest,
      open: open && withMaps(open),
      transcript: this.#transcript,
      keys: this.#keys,
    };
  }
}

function markOf({ seq, time, event }: Envelope): EventMark {
  return { seq, time, type: event.type, turnId: turnIdOf(event) ?? null };
}
