import { describe, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';
import { ConsolePage } from '../support/console/console-page.ts';

describe('a panel that throws', () => {
  it('leaves the other panels usable and offers to show it again', async () => {
    await using opened = await ConsolePage.open('#/chat/demo');
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    const body = "export const TimelinePanel = () => { throw new Error('an event has no time'); };";
    await page.route(/\/assets\/timeline-panel/, (route) =>
      route.fulfill({ contentType: 'text/javascript', body }),
    );
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('an event has no time').waitFor();
    await page.getByRole('button', { name: 'Show it again' }).click();
    await page.getByRole('alert').getByText('an event has no time').waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
  });
});

describe('a panel whose files cannot be loaded', () => {
  it('says so beside the other panels, and opens by itself when the service is back', async () => {
    await using chat = await openChat();
    const { page, link } = chat;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await link.sever();
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('The service does not answer').waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('The service does not answer').waitFor();
    await link.restore();
    await page.getByRole('heading', { level: 1, name: 'Timeline' }).waitFor();
  });

  it('offers to reload the page when the service has another version of the console', async () => {
    await using opened = await ConsolePage.open('#/chat/demo');
    const { page, service } = opened;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    const html = await (await service.fetch('/', { headers: { Accept: 'text/html' } })).text();
    const upgraded = html.replace(/assets\/index-[^"]+\.js/, 'assets/index-upgraded.js');
    await page.route(/\/assets\/timeline-panel/, (route) => route.fulfill({ status: 404 }));
    await page.route(`${service.url}/`, (route) =>
      route.request().isNavigationRequest()
        ? route.fallback()
        : route.fulfill({ contentType: 'text/html', body: upgraded }),
    );
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('has been updated').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Timeline' }).waitFor();
  });
});
