import { describe, expect, it } from 'vitest';
import { ConsolePage } from '../support/console/console-page.ts';
import { SCRIPTED } from '../support/service/running-service.ts';

const OLD = new Date(0).toISOString();

/** As the service lists a session. */
function listed(number: number) {
  const sessionId = `old-${String(number).padStart(4, '0')}`;
  return { sessionId, title: sessionId, status: 'idle', head: 1, createdAt: OLD, updatedAt: OLD };
}

describe('the list of more sessions than the service lists at once', () => {
  it('has a new conversation with its title and its actions, and says that there are more', async () => {
    await using opened = await ConsolePage.open('', { yaml: SCRIPTED });
    const { page, service } = opened;
    await page.route(/api\/sessions\?/, async (route) => {
      const isFirst = !new URL(route.request().url()).searchParams.has('after');
      if (!isFirst) return route.continue();
      return route.fulfill({
        json: { sessions: Array.from({ length: 1_000 }, (_, number) => listed(number)) },
      });
    });
    await service.post('/api/message-sync', { sessionId: 'today', message: 'What is new?' });
    await page.goto(`${service.url}/?many#/chat/today`);

    const sessions = page.getByRole('region', { name: 'Sessions' });
    await sessions.getByRole('link', { name: 'What is new?' }).waitFor();
    await sessions.getByRole('button', { name: 'Rename' }).waitFor();
    expect(await sessions.getByRole('link').first().textContent()).toBe('What is new?');
    await sessions.getByText('500 of 1,001 sessions. Search for the others.').waitFor();

    await page.goto(`${service.url}/?many#/chat/old-0999`);
    await sessions.getByRole('link', { name: 'old-0999' }).and(page.locator('[aria-current]')).waitFor();
    await sessions.getByRole('button', { name: 'Rename' }).waitFor();
    await sessions.getByRole('link', { name: 'What is new?' }).waitFor();
  });
});
