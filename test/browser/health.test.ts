import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/accessibility.ts';
import { ConsolePage } from '../support/console-page.ts';

describe('the health panel', () => {
  it('shows what the service does, as it goes on', async () => {
    await using opened = await ConsolePage.open('#/health/default');
    const { page, service, errors } = opened;
    await page.getByText('healthy').waitFor();
    const turns = page.getByRole('main').locator('dl > div').filter({ hasText: 'Turns' });
    await turns.getByText('0 running, 0 failed').waitFor();
    await service.post('/api/message-sync', { message: 'hello' });
    await turns.locator('dd', { hasText: /^1/ }).waitFor();
    await page.getByRole('img', { name: /^Memory: \d+ MB, peak \d+ MB$/ }).waitFor();
    await page.getByRole('img', { name: /^Chunks streamed: [\d.]+\/s/ }).waitFor();
    expect(errors).toEqual([]);
  });

  it('says when the service does not answer', async () => {
    await using opened = await ConsolePage.open('#/health/default');
    await opened.page.getByText('healthy').waitFor();
    await opened.service.close();
    await opened.page.getByText('not answering').waitFor();
    await opened.page.getByText('The service does not answer').first().waitFor();
  });

  it.each(['light', 'dark'] as const)('has no serious accessibility issue, %s', async (colorScheme) => {
    const context = { colorScheme, viewport: { width: 390, height: 800 } };
    await using opened = await ConsolePage.open('#/health/default', {}, context);
    await opened.page.getByRole('img', { name: /^Memory: \d+ MB/ }).waitFor();
    await expectAccessible(opened.page);
  });
});
