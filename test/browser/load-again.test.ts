import type { Route } from 'playwright-core';
import { describe, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';

const LIMITED = { code: 'RATE_LIMIT_EXCEEDED', message: 'Limit exceeded', details: {} };

const PATHS = /^\/api\/(sessions|approvals|agent|mcp\/servers|mcp\/servers\/tools\/tools)$/;

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
});
