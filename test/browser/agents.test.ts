import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';

const saying = (name: string): string =>
  JSON.stringify({
    name,
    llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: `${name}: $1` }] },
    limits: { requestsPerMinute: false },
  });

const agents = { support: saying('Support'), shop: saying('Shop') };

describe('the page of a service with several agents', () => {
  it('talks to the agent that it was opened at, and leads to the others', async () => {
    await using opened = await ConsolePage.open('agents/shop/', { agents });
    const { page, service, errors } = opened;
    const say = async (text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.keyboard.press('Enter');
    };
    await expect.poll(() => page.title()).toBe('Shop');
    await say('hi');
    await page.getByText('Shop: hi').waitFor();
    const nav = page.getByRole('navigation', { name: 'Agents' });
    expect(await nav.getByRole('link').allTextContents()).toEqual(['Support', 'Shop']);
    expect(await nav.getByRole('link', { name: 'Shop' }).getAttribute('aria-current')).toBe('page');
    await expectAccessible(page);

    await nav.getByRole('link', { name: 'Support' }).click();
    await expect.poll(() => page.title()).toBe('Support');
    await say('hello');
    await page.getByText('Support: hello').waitFor();
    // What is not sent yet to one agent does not stand in the box of another.
    await page.getByRole('textbox', { name: 'Message' }).fill('for Support');
    await nav.getByRole('link', { name: 'Shop' }).click();
    await expect.poll(() => page.title()).toBe('Shop');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
    await page.goBack();
    await expect.poll(() => page.title()).toBe('Support');
    await expect.poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('for Support');
    expect(await page.getByText('Shop: hi').count()).toBe(0);
    const listed = await service.fetch('/agents/support/api/sessions');
    expect(await listed.json()).toMatchObject({ sessions: [{ title: 'hello' }] });
    expect(errors).toEqual([]);
  });

  it('has room for the sessions below many agents', async () => {
    const names = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `agent-${n}`);
    const many = Object.fromEntries(names.map((name) => [name, saying(name)]));
    const context = { viewport: { width: 1280, height: 600 } };
    await using opened = await ConsolePage.open('', { agents: many }, context);
    const { page } = opened;
    await page.getByRole('link', { name: 'agent-8' }).click({ trial: true });
    const sessions = page.getByRole('region', { name: 'Sessions' });
    expect((await sessions.boundingBox())?.height).toBeGreaterThan(150);
    await page.getByRole('link', { name: 'API documentation' }).click({ trial: true });
    await page.getByRole('button', { name: 'New' }).click({ trial: true });
  });

  it('has no links to agents where there is only one', async () => {
    await using opened = await ConsolePage.open('', { yaml: agents.support });
    const { page } = opened;
    await expect.poll(() => page.title()).toBe('Support');
    expect(await page.getByRole('navigation', { name: 'Agents' }).count()).toBe(0);
  });
});
