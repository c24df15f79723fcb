import type { SessionListItem } from '../../core/session/session-view.ts';

/** The most that the service lists at once. */
const PAGE = 1_000;
/** The service limits the rate of requests. */
const MAX_REQUESTS = 5;

export interface SessionPages {
  /** The last used first. */
  readonly sessions: readonly SessionListItem[];
  /** There are no others. */
  readonly isWhole: boolean;
  /** How many requests it took. */
  readonly requests: number;
}

type AskPage = (path: string) => Promise<{ readonly sessions: readonly SessionListItem[] }>;

/** Loads the sessions, or those that the query finds. They come by id, so the last used may be in any page. */
export async function sessionPages(query: string, ask: AskPage): Promise<SessionPages> {
  const sessions: SessionListItem[] = [];
  for (let requests = 1; ; requests += 1) {
    const after = sessions.at(-1)?.sessionId;
    const parameters = new URLSearchParams({
      limit: String(PAGE),
      ...(query !== '' && { query }),
      ...(after !== undefined && { after }),
    });
    const page = await ask(`/api/sessions?${parameters}`);
    sessions.push(...page.sessions);
    const isWhole = page.sessions.length < PAGE;
    if (isWhole || requests === MAX_REQUESTS)
      return { sessions: sessions.sort(byLastUse), isWhole, requests };
  }
}

function byLastUse(one: SessionListItem, other: SessionListItem): number {
  return one.updatedAt < other.updatedAt ? 1 : -1;
}
