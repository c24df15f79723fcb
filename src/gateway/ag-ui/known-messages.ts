import type { GivenMessage } from '../../core/conversation/given-message.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import { newestEvents } from '../turns/read-events.ts';
import type { AskedRun } from './asked-run.ts';
import type { GivenThread } from './given-thread.ts';
import { addedIds, broughtIds, imagesBefore, isMessageOf, noteOf } from './message-ids.ts';
import type { RunInput } from './run-input.ts';
import { TurnsFromEnd } from './turns-from-end.ts';

/** What the log has of the messages that a page sends. A message is the same if its id and its content are. */
export interface KnownMessages {
  readonly ids: ReadonlySet<string>;
  /**
   * The turn of another run that answers the newest message, if it is not over, or if the page has reasoning of it behind the
   * message and lacks the rest. Null if there is none, or this run has one.
   */
  readonly answeredBy: TurnId | null;
  /** The newest message is in the conversation, and no turn answers it; this run has none either. */
  readonly isUnanswered: boolean;
}

/** @param head seq of the last event of the session. */
export async function knownMessages(
  { bus, context, sessionId, input }: AskedRun,
  thread: GivenThread,
  head: number,
): Promise<KnownMessages> {
  const search = new Search(thread, input);
  for await (const envelope of newestEvents(bus, { sessionId, head }, context)) {
    search.take(envelope);
    if (search.isOver) break;
  }
  return search;
}

/** Takes the events of the session, newest first. */
class Search implements KnownMessages {
  readonly ids = new Set<string>();
  answeredBy: TurnId | null = null;
  isUnanswered = false;
  readonly #runId: string;
  readonly #replyId: string | undefined;
  readonly #newestId: string | undefined;
  /** The ids of the reasoning that the page has of the reply to the newest message. */
  readonly #reasoningIds: readonly string[];
  /** The content of each message of the page that was not found yet, by its id. */
  readonly #wanted: Map<string, string>;
  readonly #turns = new TurnsFromEnd();
  /** The completed turn that the reasoning is of. */
  #thoughtBy: TurnId | null = null;
  /** Whether the run has begun a turn already. */
  #isRepeated = false;
  #isAtBegin = false;

  /** A page sends nothing from before the last reply that it has. */
  constructor({ history, ids }: GivenThread, { runId, messages }: Pick<RunInput, 'runId' | 'messages'>) {
    this.#runId = runId;
    this.#replyId = messages.findLast(({ role }) => role === 'assistant')?.id;
    const behind = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    this.#reasoningIds = behind.flatMap(({ role, id }) => (role === 'reasoning' ? [id] : []));
    this.#newestId = ids.at(-1);
    this.#wanted = new Map(history.map((message, index) => [ids[index] ?? '', contentOf(message)]));
  }

  /**
   * A newest message from before a reply was answered. Most often it is new, and the whole log would be read for it. With
   * reasoning behind it, it is not new.
   */
  get isOver(): boolean {
    const mayLack = this.#wanted.has(this.#newestId ?? '') && this.#reasoningIds.length === 0 ? 1 : 0;
    const isLacking = this.#wanted.size > mayLack;
    return this.#isAtBegin || (this.#turns.hasReply && this.#turns.hasMessages && !isLacking);
  }

  take({ event, seq }: Envelope): void {
    this.#turns.take(event);
    switch (event.type) {
      case 'turn.requested':
        this.#takeRequested(event);
        return;
      case 'session.extended':
        if (this.#findAll(zipped(addedIds(event, seq), event.given), this.#turns.hasReply))
          this.#turns.noteReply();
        return;
      case 'session.reset':
        this.#isAtBegin = true;
        return;
      default:
    }
  }

  #takeRequested(event: SessionEventOf<'turn.requested'>): void {
    const { turnId } = event;
    const turns = this.#turns;
    if (noteOf(event)?.runId === this.#runId) this.#isRepeated = true;
    if (turns.isCompleted(turnId) && this.#reasoningIds.some((id) => isMessageOf(turnId, id)))
      this.#thoughtBy = turnId;
    if (turns.isHeard(turnId)) this.#findAll(broughtMessages(event), turns.isReplied(turnId));
    if (this.#replyId !== undefined && isMessageOf(turnId, this.#replyId)) this.#isAtBegin = true;
  }

  /** @returns whether there is a reply from after the beginning of the messages: the client may bring some, too. */
  #findAll(messages: readonly [id: string, GivenMessage][], hasReply: boolean): boolean {
    let isReplied = hasReply;
    for (const [id, message] of messages.toReversed()) {
      this.#find(id, message, isReplied);
      isReplied ||= message.role === 'assistant';
    }
    return isReplied;
  }

  #find(id: string, message: GivenMessage, hasReply: boolean): void {
    const wanted = this.#wanted.get(id);
    if (wanted === undefined || wanted !== contentOf(message)) return;
    this.#wanted.delete(id);
    this.ids.add(id);
    if (id !== this.#newestId || this.#isRepeated) return;
    if (hasReply) {
      this.answeredBy = this.#thoughtBy;
      return;
    }
    this.answeredBy = this.#turns.answering;
    this.isUnanswered = this.answeredBy === null;
  }
}

/** What a turn brings. A message with several images was split for it. */
function broughtMessages(requested: SessionEventOf<'turn.requested'>): [id: string, GivenMessage][] {
  const { given = [], text, image } = requested;
  const ids = broughtIds(requested);
  const own = ids.at(-1) ?? '';
  const images = image ? [image] : [];
  return [
    ...zipped(ids, given),
    [own, { role: 'user', text, images }],
    [own, { role: 'user', text, images: [...imagesBefore(requested), ...images] }],
  ];
}

function zipped(ids: readonly string[], messages: readonly GivenMessage[]): [id: string, GivenMessage][] {
  return messages.map((message, index) => [ids[index] ?? '', message]);
}

function contentOf(message: GivenMessage): string {
  const { role, text } = message;
  const images = (role === 'user' && message.images) || [];
  return JSON.stringify([role, text, images.map(({ mimeType, base64 }) => [mimeType, base64])]);
}
