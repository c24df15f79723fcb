import { describe, expect, it } from 'vitest';
import { sessionPages } from '../../../src/console/service/session-pages.ts';
import { shownSessions } from '../../../src/console/service/shown-sessions.ts';
import type { SessionListItem } from '../../../src/core/session/session-view.ts';

/** The last used has the last id. */
function session(number: number): SessionListItem {
  const time = new Date(number * 1_000).toISOString();
  const sessionId = `s${String(number).padStart(5, '0')}`;
  return { sessionId, status: 'idle', head: 1, createdAt: time, updatedAt: time };
}

/** A service with so many sessions, and what it was asked. */
function service(howMany: number) {
  const all = Array.from({ length: howMany }, (_, number) => session(number));
  const asked: URLSearchParams[] = [];
  const ask = async (path: string) => {
    const parameters = new URL(path, 'http://service').searchParams;
    asked.push(parameters);
    const after = parameters.get('after') ?? '';
    const rest = all.filter(({ sessionId }) => sessionId > after);
    return { sessions: rest.slice(0, Number(parameters.get('limit'))) };
  };
  return { ask, asked };
}

const ids = (sessions: readonly SessionListItem[]) => sessions.map(({ sessionId }) => sessionId);

describe('the sessions of the list', () => {
  it('are loaded page by page, and the last used come first', async () => {
    const { ask, asked } = service(2_300);
    const { sessions, isWhole, requests } = await sessionPages('text', ask);
    expect(sessions).toHaveLength(2_300);
    expect(ids(sessions).slice(0, 2)).toEqual(['s02299', 's02298']);
    expect({ isWhole, requests }).toEqual({ isWhole: true, requests: 3 });
    expect(asked.map((each) => each.get('after'))).toEqual([null, 's00999', 's01999']);
    expect(asked.map((each) => each.get('query'))).toEqual(['text', 'text', 'text']);
  });

  it('take one request where one page has them all', async () => {
    const { ask, asked } = service(999);
    expect(await sessionPages('', ask)).toMatchObject({ isWhole: true, requests: 1 });
    expect(asked.map(String)).toEqual(['limit=1000']);
  });

  it('take a few requests, however many there are', async () => {
    const { ask, asked } = service(7_000);
    const { sessions, isWhole } = await sessionPages('', ask);
    expect(sessions).toHaveLength(5_000);
    expect(isWhole).toBe(false);
    expect(asked).toHaveLength(5);
  });
});

describe('the list of sessions', () => {
  const pagesOf = (howMany: number) => sessionPages('', service(howMany).ask);

  it('shows a few hundred, and says that there are more', async () => {
    expect(shownSessions(await pagesOf(500), null, 's00000').rest).toBeNull();
    const { sessions, rest } = shownSessions(await pagesOf(1_200), null, 's01000');
    expect(sessions).toHaveLength(500);
    expect(rest).toBe('500 of 1,200 sessions. Search for the others.');
    expect(shownSessions(await pagesOf(6_000), null, 's04999').rest).toBe(
      '500 of more than 5,000 sessions. Search for the others.',
    );
  });

  it('has the open session, however long ago it was used', async () => {
    const { sessions } = shownSessions(await pagesOf(1_200), null, 's00003');
    expect(sessions).toHaveLength(501);
    expect(ids(sessions).at(-1)).toBe('s00003');
  });

  it('has the open session also if no page has it', async () => {
    const { sessions } = shownSessions(await pagesOf(6_000), session(5_500), 's05500');
    expect(ids(sessions).slice(0, 2)).toEqual(['s05500', 's04999']);
  });
});
