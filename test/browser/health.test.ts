import { describe, expect, it } from 'vitest';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

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
    // The sample of the start and the present: both rates are over the same time.
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

  it('is not empty when it is opened: it shows what was before', async () => {
    await using opened = await ConsolePage.open('#/chat/default');
    const { page, service, errors } = opened;
    await service.post('/api/message-sync', { message: 'before anybody looked' });
    await page.goto(`${service.url}/#/health/default`);
    await page.getByRole('img', { name: /^Turns: .*, peak 0\.[1-9]\/s$/ }).waitFor();
    await page.getByRole('img', { name: /^Append to the log: [\d.]+ m?s, peak/ }).waitFor();
    await page.getByRole('combobox', { name: 'Time shown' }).selectOption('Last 10 minutes');
    await page.getByRole('img', { name: /^Turns: .*, peak 0\.[1-9]\/s$/ }).waitFor();
    expect(errors).toEqual([]);
  });

  it('asks for no samples while an answer is on its way, which would be added twice', async () => {
    await using opened = await ConsolePage.open('#/chat/default');
    const { page, service } = opened;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.clock.install();
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const requests: string[] = [];
    await page.route('**/metrics/samples*', async (route) => {
      requests.push(route.request().url());
      asked.resolve();
      await held.promise;
      await route.continue();
    });
    await page.goto(`${service.url}/#/health/default`);
    await asked.promise;
    await page.clock.runFor(10_000);
    expect(requests).toHaveLength(1);
    held.resolve();
    await page.getByRole('img', { name: /^Memory: / }).waitFor();
    await page.clock.runFor(2_000);
    await expect.poll(() => requests.length).toBe(2);
  });

  it('counts with the right plural', async () => {
    await using opened = await ConsolePage.open('#/health/default');
    const { page, service } = opened;
    const streams = page.getByRole('main').locator('dl > div').filter({ hasText: 'Open streams' });
    const plurals = /^(1 WebSocket|(?!1 )\d+ WebSockets), (1 event stream|(?!1 )\d+ event streams)$/;
    await streams.getByText(plurals).waitFor();
    using _socket = await service.connect();
    await streams.getByText(/[1-9]\d* WebSockets?/).waitFor();
    await streams.getByText(plurals).waitFor();
  });

  it('shows how large the log is', async () => {
    await using directory = await tempDirectory();
    await using opened = await ConsolePage.open('#/chat/default', { dataDir: directory.path });
    const { page, service } = opened;
    await service.post('/api/message-sync', { message: 'hello' });
    await page.goto(`${service.url}/#/health/default`);
    const log = page.getByRole('main').locator('dl > div').filter({ hasText: 'Event log' });
    await log.getByText(/^[3-9] events/).waitFor();
    await log.getByText(/^\d+\.\d [kM]B$/).waitFor();
  });

  it('says when the service does not answer', async () => {
    await using opened = await ConsolePage.open('#/health/default');
    await opened.page.getByText('healthy').waitFor();
    await opened.service.close();
    await opened.page.getByText('not answering').waitFor();
    await opened.page.getByText('The service does not answer').first().waitFor();
  });
});
