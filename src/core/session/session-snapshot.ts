import type { Transcript } from '../conversation/transcript.ts';
import type { CallId } from '../ids.ts';
import type { Envelope } from '../log/envelope.ts';
import type { KeyedRequest, OpenTurn, SessionState } from './session-state.ts';
import { type EventMark, SNAPSHOT_VERSION, SnapshotHead, SnapshotPage } from './snapshot-part.ts';

/** Characters of a part, about: what is encoded or parsed before the event loop goes on. */
const PART_CHARACTERS = 256 * 1024;

/**
 * The state as it is at the call, in parts that are made one by one, later: what is folded in meanwhile is not in them.
 * @param last the event that the state ends with.
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

/** The turn as JSON can hold it. */
export function withLists(open: OpenTurn): NonNullable<SnapshotHead['state']['open']> {
  return { ...open, unsettled: [...open.unsettled.values()], awaiting: [...open.awaiting.values()] };
}

function withMaps(open: NonNullable<SnapshotHead['state']['open']>): OpenTurn {
  return { ...open, unsettled: byCallId(open.unsettled), awaiting: byCallId(open.awaiting) };
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

/** Puts a state together again, part by part. */
export class SnapshotDecoder {
  #head: SnapshotHead | undefined;
  readonly #transcript: Transcript = [];
  readonly #keys = new Map<string, KeyedRequest>();

  /** Takes the next part. False when it is of another version or shape: the snapshot is of no use then. */
  take(part: string): boolean {
    const json: unknown = JSON.parse(part);
    if (this.#head === undefined) {
      this.#head = SnapshotHead.safeParse(json).data;
      return this.#head !== undefined;
    }
    const page = SnapshotPage.safeParse(json).data;
    if (page === undefined) return false;
    if ('transcript' in page) this.#transcript.push(...page.transcript);
    else for (const key of page.keys) this.#keys.set(key.id, key);
    return true;
  }

  /** Whether this is the event that the snapshot was taken after. */
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
  return { seq, time, type: event.type, turnId: 'turnId' in event ? event.turnId : null };
}
