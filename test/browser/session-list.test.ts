import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { SCRIPTED } from '../support/service/running-service.ts';

const YAML = `${SCRIPTED}limits: {requestsPerMinute: false}\n`;

/** The list, with these sessions and their first messages. */
async function openList(
  messages: Record<string, string>,
  context: Parameters<typeof ConsolePage.open>[2] = {},
) {
  const opened = await ConsolePage.open('', { yaml: YAML }, context);
  const { page, service, errors } = opened;
  for (const [sessionId, message] of Object.entries(messages))
    await service.post('/api/message-sync', { sessionId, message });
  const [first = ''] = Object.keys(messages);
  await page.goto(`${service.url}/#/chat/${first}`);
  return {
    page,
    service,
    errors,
    link: (name: string) =>
      page.getByRole('region', { name: 'Sessions' }).getByRole('link', { name, exact: true }),
    search: page.getByRole('searchbox', { name: 'Search sessions' }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

describe('the list of sessions', () => {
  it('shows the titles, and renames in place with the keyboard', async () => {
    await using list = await openList({ one: 'How do I sum?', two: 'hello' });
    const { page, link } = list;
    await link('How do I sum?').waitFor();
    await link('hello').waitFor();
    const rename = page.getByRole('button', { name: 'Rename' });
    // The message box takes the focus when the chat has loaded.
    await page.locator('textarea:focus').waitFor();
    await rename.focus();
    await page.keyboard.press('Enter');
    const field = page.getByRole('textbox', { name: 'Title of one' });
    expect(await field.inputValue()).toBe('How do I sum?');
    await page.keyboard.type('Sums');
    await page.keyboard.press('Enter');
    await link('Sums').waitFor();
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Sums');

    await rename.click();
    await page.keyboard.type('not this');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await link('Sums').waitFor();

    await rename.click();
    await field.fill('');
    await page.keyboard.press('Tab');
    await link('How do I sum?').waitFor();
    expect(list.errors).toEqual([]);
  });

  it('finds sessions by title and id', async () => {
    await using list = await openList({ one: 'How do I sum?', two: 'hello', 'sum-3': 'hi' });
    const { link, search, page } = list;
    await link('hello').waitFor();
    await search.fill('SUM');
    await link('hello').waitFor({ state: 'detached' });
    await link('How do I sum?').waitFor();
    await link('hi').waitFor();
    await search.fill('nothing of it');
    await page.getByText('No session is found.').waitFor();
    await search.fill('');
    await link('hello').waitFor();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('is accessible while a title is edited: %s, %d px', async (colorScheme, width) => {
    const context = { colorScheme, viewport: { width, height: 844 } };
    await using list = await openList(
      { one: 'How do I sum up a very long list of numbers?', two: 'hello' },
      context,
    );
    const { page, link } = list;
    await link('hello').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title of one' }).waitFor();
    await expectAccessible(page);
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBe(0);
  });

  it.each([
    ['a window that is enlarged to 150 %', 853, 480],
    ['a window that is enlarged to 200 %', 640, 360],
    ['a telephone on its side', 568, 320],
  ])('is reached in %s, as is the conversation', async (_, width, height) => {
    const messages = Object.fromEntries([0, 1, 2, 3, 4].map((n) => [`s${n}`, `hello ${n}`]));
    await using list = await openList(messages, { viewport: { width, height } });
    const { page, link } = list;
    const log = page.getByRole('log');
    await log.getByText('hello 0').first().waitFor();
    expect((await log.boundingBox())?.height).toBeGreaterThan(100);
    await page.getByRole('button', { name: 'Copy the reply' }).click({ trial: true });
    await link('hello 4').click();
    await page.getByRole('heading', { level: 1, name: 's4' }).waitFor();
    await log.getByText('hello 4').first().waitFor();
    await page.getByRole('link', { name: 'Health' }).click({ trial: true });
    expect(list.errors).toEqual([]);
  });
});
