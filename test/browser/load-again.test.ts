import type { Route } from 'playwright-core';
import { describe, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';

const LIMITED = { code: 'RATE_LIMIT_EXCEEDED', message: 'Limit exceeded', details: {} };

const PATHS =
  /^\/api\/(sessions|approvals|agent|mcp\/servers|mcp\/servers\/tools\/tools|sessions\/demo\/images\/1)$/;

/** Refuses the first request for each of these paths. */
function refuseFirst() {
  const seen = new Set<string>();
  return async (route: Route): Promise<void> => {
    const { pathname } = new URL(route.request().url());
    if (!PATHS.test(pathname) || seen.has(pathname)) return route.fallback();
    seen.add(pathname);
    return route.fulfill({ status: 429, json: { success: false, error: LIMITED } });
  };
}

describe('what could not be loaded', () => {
  it('is asked for again, and then it is there', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann' } });
    await conversation.getByRole('button', { name: 'Approve' }).waitFor();

    await page.route('**/api/**', refuseFirst());
    await page.goto(`${chat.link.url}/?again#/approvals/demo`);
    await page.getByRole('region', { name: 'Sessions' }).getByRole('link', { name: 'Pay Ann' }).waitFor();
    const calls = page.getByRole('region', { name: 'Calls that wait for approval' });
    await calls.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByText('Limit exceeded').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Tool servers' }).click();
    await page.getByRole('region', { name: 'Tools of tools' }).getByText('look', { exact: true }).waitFor();
    await page.getByText('Limit exceeded').waitFor({ state: 'detached' });
  });

  it('is asked for again, also an image, and what the conversation was at an event', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    const imageData = { mimeType: 'image/gif', base64: Buffer.from('GIF89a').toString('base64') };
    const said = chat.service.post('/api/message-sync', { message: 'Look', sessionId: 'demo', imageData });
    (await chat.model.call(0)).answer('I see.');
    await said;
    await page.route('**/api/**', refuseFirst());
    await page.goto(`${chat.link.url}/?again#/chat/demo`);
    await conversation.getByRole('button', { name: 'Image of the message: enlarge' }).waitFor();
    const refuse = (route: Route): Promise<void> =>
      route.fulfill({ status: 429, json: { success: false, error: LIMITED } });
    await page.route('**/api/sessions/demo?at=4', refuse);
    await page.goto(`${chat.link.url}/#/timeline/demo?view=list&event=4`);
    const detail = page.getByRole('region', { name: 'Chosen event' });
    await detail.getByRole('alert').getByText('Limit exceeded').waitFor();
    await page.unroute('**/api/sessions/demo?at=4', refuse);
    await detail.getByText('I see.').waitFor();
  });
});
