import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';

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

  it('tells cached tokens as a part of those in, and reasoning of those out', async () => {
    const model = new DirectedModel();
    await using opened = await ConsolePage.open('#/health/default', { adapters: { model } });
    const { page, service, errors } = opened;
    const tokens = page.getByRole('main').locator('dl > div').filter({ hasText: 'Tokens' });
    await tokens.getByText('0 in (0 cached), 0 out (0 reasoning)').waitFor();
    await service.post('/api/message', { message: 'hello' });
    const usage = { inputTokens: 1_204, outputTokens: 350, cachedTokens: 1_024, reasoningTokens: 210 };
    (await model.call(0)).answerWithUsage(usage, 'Hello');
    await tokens.getByText('1,204 in (1,024 cached), 350 out (210 reasoning)').waitFor();
    await tokens.locator('dd', { hasText: /^1,554/ }).waitFor();
    // Two samples, two seconds apart: 602 in and 175 out a second, or less where the machine was slow.
    const peakOf = async (title: string): Promise<number> => {
      const chart = page.getByRole('img', { name: new RegExp(`^${title}: .*, peak [1-9]`) });
      await chart.waitFor();
      return Number(
        /peak ([\d,.]+)/.exec((await chart.getAttribute('aria-label')) ?? '')?.[1]?.replace(',', ''),
      );
    };
    expect((await peakOf('Tokens in')) / (await peakOf('Tokens out'))).toBeCloseTo(1_204 / 350, 1);
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
