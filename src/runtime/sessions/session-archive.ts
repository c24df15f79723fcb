import { isAmong, prefixOf, type SessionsOf } from '../../core/access/session-names.ts';
import { isStorageFailure, ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { isSession } from '../../core/log/streams.ts';
import type { Fork, Renamed } from '../../core/session/session-answers.ts';
import type {
  SessionListItem,
  SessionView,
  WaitingApproval,
  WaitingInput,
} from '../../core/session/session-view.ts';
import { isoTime, viewSession, waitingApprovals } from '../../core/session/view-session.ts';
import type { SessionSummary } from '../../ports/event-store.ts';
import type { ServiceRequests } from '../../ports/service-requests.ts';
import type { Journal, NewFork } from './journal.ts';
import type { SessionFold } from './session-fold.ts';
import type { SessionRegistry } from './session-registry.ts';
import { withTitles } from './session-titles.ts';
import type { StartRecovery } from './start-recovery.ts';
import { clientCalls, pendingApprovals, pendingInputs, waitingCalls } from './waiting-calls.ts';

export interface ArchiveDeps {
  readonly journal: Journal;
  readonly fold: SessionFold;
  readonly sessions: SessionRegistry;
  /** Only sessions in memory know what waits in them, so a list waits until the open sessions are loaded. */
  readonly recovery: Pick<StartRecovery, 'over'>;
}

/** Lists, shows, forks and deletes sessions. */
export class SessionArchive {
  readonly #journal: Journal;
  readonly #fold: SessionFold;
  readonly #sessions: SessionRegistry;
  readonly #recovery: Pick<StartRecovery, 'over'>;

  constructor({ journal, fold, sessions, recovery }: ArchiveDeps) {
    this.#journal = journal;
    this.#fold = fold;
    this.#sessions = sessions;
    this.#recovery = recovery;
  }

  /** Sessions in the order of their ids, after the id `after`. With a `query`, those whose id or title contains it. */
  async list(wanted: WantedList): Promise<SessionListItem[]> {
    const { after, limit, query, of } = wanted;
    const isAll = query === undefined && of === undefined;
    const streams = isAll ? await this.#page(limit, after) : await this.#search(wanted);
    if (streams.some(({ open }) => open)) await this.#recovery.over;
    return listItems(streams, this.#sessions.loaded.waitingApprovals);
  }

  async #page(limit: number, after: SessionId | undefined): Promise<SessionSummary[]> {
    const page = await this.#journal.sessions({ limit, ...(after !== undefined && { after }) });
    return withTitles(this.#journal, page);
  }

  /** Goes through the index page by page, so that other work runs in between. */
  async #search(wanted: WantedList): Promise<SessionSummary[]> {
    const { query = '', limit, after, of } = wanted;
    const text = query.toLocaleLowerCase();
    const prefix = of ? prefixOf(of) : '';
    const pageSize = query === '' && prefix !== '' ? limit : SEARCH_PAGE;
    const isWanted = (stream: SessionSummary): boolean =>
      isSession(stream.sessionId) &&
      (of === undefined || isOwn(stream.sessionId, of)) &&
      contains(stream, prefix, text);
    const found: SessionSummary[] = [];
    // `after` may be a shared session that comes before the own sessions.
    const begin = after !== undefined && after > prefix ? after : prefix;
    for (let last: SessionId | undefined = begin; found.length < limit; ) {
      const page = await this.#page(pageSize, last);
      found.push(...page.filter(isWanted));
      last = page.at(-1)?.sessionId;
      // The streams of the service come after the sessions, and ids with the same prefix stand together.
      const isEnd = page.length < pageSize || !last?.startsWith(prefix) || !isSession(last);
      if (isEnd) break;
    }
    const shared = of ? await this.#shared(wanted, of) : [];
    const all = shared.length === 0 ? found : [...shared, ...found].sort(byId);
    return all.slice(0, limit);
  }

  /** The first wanted sessions of other owners that are shared. */
  async #shared({ after = '', query = '', limit }: WantedList, of: SessionsOf): Promise<SessionSummary[]> {
    const text = query.toLocaleLowerCase();
    const ids = [...(of.also ?? [])].filter((id) => id > after && !isOwn(id, of)).toSorted();
    const found: SessionSummary[] = [];
    for (let next = 0; next < ids.length && found.length < limit; next += SHARED_AT_ONCE) {
      const page = ids.slice(next, next + SHARED_AT_ONCE);
      const streams = await Promise.all(page.map((sessionId) => this.#journal.sessions({ sessionId })));
      const titled = await withTitles(this.#journal, streams.flat());
      found.push(...titled.filter((stream) => contains(stream, '', text)));
    }
    return found;
  }

  async rename(sessionId: SessionId, title: string | null, origin: Origin): Promise<Renamed> {
    await this.#headOf(sessionId);
    const session = await this.#sessions.session(sessionId);
    return { title: await session.rename(title, origin) };
  }

  /** The tool calls of these sessions that wait for approval, oldest first. */
  async approvals({ limit, of, sessions }: ServiceRequests['approval.list']['request']): Promise<{
    approvals: WaitingApproval[];
    count: number;
  }> {
    await this.#recovery.over;
    const waiting = this.#sessions.loaded.waitingApprovals;
    const all = waiting.filter(
      ({ sessionId }) => (!sessions || sessions.has(sessionId)) && (!of || isAmong(sessionId, of)),
    );
    return { approvals: all.slice(0, limit), count: all.length };
  }

  /** What tool servers ask in these sessions, oldest first. */
  async inputs({ limit, of }: Pick<WantedList, 'limit' | 'of'>): Promise<{
    inputs: WaitingInput[];
    count: number;
  }> {
    await this.#recovery.over;
    const waiting = this.#sessions.loaded.waitingInputs;
    const all = of ? waiting.filter(({ sessionId }) => isAmong(sessionId, of)) : waiting;
    return { inputs: all.slice(0, limit), count: all.length };
  }

  /**
   * From the log alone, so that each node of a cluster can answer.
   * @param at shows the session after the event with this seq. Left out: as it is now.
   */
  async view(sessionId: SessionId, at: number | undefined): Promise<SessionView> {
    const { head } = (await this.#journal.session(sessionId)) ?? { head: 0 };
    if (head === 0) throw notFound(sessionId);
    checkMoment(at, head);
    // Fold no further than the head that was read: later events would make the view inconsistent.
    const { state, last } = await this.#fold.at(sessionId, at ?? head);
    const [first] = await this.#journal.read(sessionId, 0, 1);
    if (!first || !last) throw notFound(sessionId);
    const calls = await waitingCalls(this.#journal, sessionId, state);
    const waiting = {
      approvals: pendingApprovals(calls),
      clientCalls: clientCalls(calls),
      inputs: pendingInputs(calls),
    };
    return viewSession({ state, first, last, ...waiting }, head);
  }

  async fork(wanted: WantedFork, origin: Origin): Promise<Fork> {
    const { from, at, to = `fork-${crypto.randomUUID()}`, ephemeral } = wanted;
    const head = await this.#headOf(from);
    checkMoment(at, head);
    try {
      const fork = await this.#sessions.fork({ from, at: at ?? head, to, ephemeral }, origin);
      return { sessionId: to, at: at ?? head, head: fork.state.seq };
    } catch (error) {
      // Looking at the log would fail as well, and hide that the fork may be stored.
      if (isStorageFailure(error)) throw error;
      // If the session was deleted meanwhile, tell the client that.
      checkMoment(at ?? head, await this.#headOf(from));
      throw error;
    }
  }

  async delete(sessionId: SessionId, origin: Origin): Promise<void> {
    await this.#headOf(sessionId);
    await this.#sessions.delete(sessionId, origin);
  }

  async #headOf(sessionId: SessionId): Promise<number> {
    const { head } = await this.#sessions.position(sessionId);
    if (head === 0) throw notFound(sessionId);
    return head;
  }
}

export interface WantedList {
  readonly after?: SessionId | undefined;
  readonly limit: number;
  readonly query?: string | undefined;
  /** All sessions if absent. */
  readonly of?: SessionsOf | undefined;
}

const SEARCH_PAGE = 1_000;
/** Shared sessions can be anywhere in the index, so each is looked up by its id. */
const SHARED_AT_ONCE = 50;

/** Whether the session is listed without being shared. */
function isOwn(id: SessionId, { also: _, ...of }: SessionsOf): boolean {
  return isAmong(id, of);
}

function byId(one: SessionSummary, other: SessionSummary): number {
  return one.sessionId < other.sessionId ? -1 : 1;
}

/** @param text in lower case. @param prefix the part of the id that is not searched. */
function contains({ sessionId, title = '' }: SessionSummary, prefix: string, text: string): boolean {
  const name = sessionId.slice(prefix.length);
  return name.toLocaleLowerCase().includes(text) || title.toLocaleLowerCase().includes(text);
}

export interface WantedFork extends Pick<NewFork, 'from' | 'ephemeral'> {
  /** seq of the last event that is shared; the last of all when left out. */
  readonly at?: number | undefined;
  /** Left out: a new id is made. */
  readonly to?: SessionId | undefined;
}

/**
 * The list items of the sessions among these streams.
 * @param approvals the tool calls that wait for approval in any session, oldest first.
 */
export function listItems(
  streams: readonly SessionSummary[],
  approvals: readonly WaitingApproval[] = [],
): SessionListItem[] {
  const bySession = Map.groupBy(approvals, ({ sessionId }) => sessionId);
  return streams
    .filter(({ sessionId }) => isSession(sessionId))
    .map(({ sessionId, title, open, head, createdAt, updatedAt }) => ({
      sessionId,
      ...(title !== undefined && { title }),
      status: open ? 'busy' : 'idle',
      head,
      createdAt: isoTime(createdAt),
      updatedAt: isoTime(updatedAt),
      ...waitingApprovals(bySession.get(sessionId) ?? []),
    }));
}

function checkMoment(at: number | undefined, head: number): void {
  if (at === undefined || (at >= 1 && at <= head)) return;
  throw new ServiceError('INVALID_REQUEST', 'There is no such moment in the session.', {
    field: 'at',
    issue: `it is ${at}, and the session has the events 1 to ${head}`,
  });
}

function notFound(sessionId: SessionId): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`, { sessionId });
}
