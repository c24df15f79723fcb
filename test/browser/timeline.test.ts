import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';
import { SCRIPTED } from '../support/service/running-service.ts';
import { eventsOf } from '../support/sessions/session-api.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
mcpServers:
  tools: {type: stdio, command: none}
approval: {rules: [{tool: write, policy: ask}]}
`;

async function open(context: Parameters<typeof ConsolePage.open>[2] = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {}, write: {} }, (call) => {
    if (call.toolName === 'look') call.answer('It is in the drawer.');
  });
  const opened = await ConsolePage.open(
    '#/timeline/s?view=list',
    { yaml: YAML, adapters: { model, connector: tools } },
    context,
  );
  const { page, service } = opened;
  const say = (message: string) => service.post('/api/message', { message, sessionId: 's' });
  return {
    opened,
    page,
    service,
    model,
    say,
    event: (name: string) => page.getByRole('option', { name: new RegExp(`\\b${name}\\b`) }),
    detail: page.getByRole('region', { name: 'Chosen event' }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** A turn that looks, waits for approval to write, and then is still running. */
async function upToApproval({ model, say, event }: Awaited<ReturnType<typeof open>>) {
  await say('Where is it?');
  const call = await model.call(0);
  call.say('Let me look.');
  call.askFor({ name: 'look' }, { name: 'write', arguments: { path: '/note' }, callId: 'w' });
  await event('toolResult').waitFor();
}

/** A log in which the session `s` has so many events. */
async function resets(count: number): Promise<EventStore> {
  const store = memoryEventStore();
  const reset = { type: 'session.reset' } as const;
  await store.append(
    's',
    0,
    Array.from({ length: count }, () => reset),
    { open: false },
  );
  return store;
}

describe('the timeline', () => {
  it('shows events as they come, and the conversation as it was at the chosen one', async () => {
    await using setup = await open();
    const { page, event, detail, service, model, opened } = setup;
    await page.getByText('Nothing has happened in this session yet.').waitFor();
    await upToApproval(setup);
    await event('message').click();
    await detail.getByText('The model sees nothing').waitFor();
    await page.keyboard.press('ArrowDown');
    await detail.getByText('Where is it?').waitFor();
    expect(await detail.getByText('Let me look.').count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await detail.getByRole('heading', { name: 'Event 3' }).waitFor();
    await detail.getByText('Let me look.').waitFor();
    await event('toolApproval').click();
    await detail.getByText('write waited for approval').waitFor();
    await page.keyboard.press('ArrowUp');
    await detail.getByRole('heading', { name: 'Event 5' }).waitFor();
    await service.post('/api/sessions/s/approvals/w', { decision: 'deny' });
    (await model.call(1)).answer('It is in the drawer.');
    await event('response').waitFor();
    await page.keyboard.press('End');
    await detail.getByText('completed').waitFor();
    expect(opened.errors).toEqual([]);
  });

  it('tells of a step its model, its tokens and why it ended early', async () => {
    await using setup = await open();
    const { event, detail, model, opened } = setup;
    await setup.say('Tell me');
    const call = await model.call(0);
    call.say('Once upon');
    call.end({
      finishReason: 'length',
      usage: { inputTokens: 1_204, outputTokens: 350, cachedTokens: 1_024 },
    });
    await event('stepCompleted').click();
    for (const fact of [
      'directed directed',
      '1,204 tokens in (1,024 cached), 350 out',
      'finish reason: length',
    ])
      await detail.getByText(fact, { exact: true }).waitFor();
    await event('response').click();
    await detail.getByRole('heading', { name: 'Event 4' }).waitFor();
    expect(await detail.getByText('tokens in').count()).toBe(0);
    expect(opened.errors).toEqual([]);
  });

  it('shows what the service tells the model about a reply that does not fit as no message of the user', async () => {
    await using setup = await open();
    const { event, detail, service, model, opened } = setup;
    const body = { message: 'Which colour?', sessionId: 's', outputSchema: { type: 'object' } };
    const asked = service.post('/api/message-sync', body);
    (await model.call(0)).answer('Red.');
    (await model.call(1)).answer('{"colour":"red"}');
    expect((await asked).status).toBe(200);
    await event('response').click();
    const said = detail.getByRole('list', { name: 'Conversation at that moment' }).getByRole('listitem');
    await said.filter({ hasText: 'it is not JSON' }).waitFor();
    const roles = await said.evaluateAll((items) => items.map((item) => item.getAttribute('data-role')));
    expect(roles).toEqual(['user', 'assistant', 'service', 'assistant']);
    expect(opened.errors).toEqual([]);
  });

  it('filters by kind and by text', async () => {
    await using setup = await open();
    const { page, event, opened } = setup;
    await upToApproval(setup);
    for (const kind of ['messages', 'steps', 'approvals', 'control']) await page.getByLabel(kind).uncheck();
    await page.getByText('3 of 7 events').waitFor();
    expect(await page.getByRole('option').count()).toBe(3);
    await page.getByLabel('Search in events').fill('DRAWER');
    await page.getByText('1 of 7 events').waitFor();
    await event('toolResult').waitFor();
    await page.getByLabel('Search in events').fill('nowhere');
    await page.getByText('No event matches the filter.').waitFor();
    expect(opened.errors).toEqual([]);
  });

  it('shows the JSON of an event and copies it', async () => {
    await using setup = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page, event, detail, service, opened } = setup;
    await upToApproval(setup);
    await event('toolApproval').click();
    await detail.getByText('JSON', { exact: true }).click();
    await detail.getByRole('button', { name: 'Copy' }).click();
    await detail.getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const [, , , , , logged] = await eventsOf(service, 's');
    expect(JSON.parse(copied)).toEqual({ ...logged, time: expect.any(String) });
    expect(opened.errors).toEqual([]);
  });

  it('forks the session from the chosen event', async () => {
    await using setup = await open();
    const { page, event, detail, opened } = setup;
    await upToApproval(setup);
    await event('message').click();
    await detail.getByRole('button', { name: 'Fork from here' }).click();
    await page.getByRole('log', { name: 'Conversation' }).getByText('Forked from s at event 1').waitFor();
    expect(opened.errors).toEqual([]);
  });

  it('loads a session of up to a thousand events with one request', async () => {
    await using opened = await ConsolePage.open('#/timeline/s?view=list', {
      adapters: { store: await resets(1_000) },
    });
    await opened.page.getByText('1000 of 1000 events').waitFor();
    const requested = z
      .array(z.string())
      .parse(await opened.page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name)'));
    expect(requested.filter((url) => url.includes('/events?'))).toHaveLength(1);
  });

  it('holds thousands of events with few of them in the page, and loads earlier ones where it stands', async () => {
    await using opened = await ConsolePage.open('#/timeline/s?view=list', {
      adapters: { store: await resets(5_000) },
    });
    const { page, errors } = opened;
    const event = (seq: number) => page.getByRole('option', { name: new RegExp(`^${seq} reset`) });
    await page.getByText('1000 of 1000 events').waitFor();
    await event(5_000).waitFor();
    expect(await page.getByRole('option').count()).toBeLessThan(60);
    await event(5_000).click();
    await page.keyboard.press('Home');
    await event(4_001).waitFor();
    await page.getByRole('button', { name: 'Load earlier events' }).click();
    await page.getByText('2000 of 2000 events').waitFor();
    await event(4_001).waitFor();
    expect(await event(4_001).getAttribute('aria-selected')).toBe('true');
    expect(await event(3_001).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('is accessible in %s', async (colorScheme) => {
    await using setup = await open({ colorScheme });
    const { page, event, detail } = setup;
    await upToApproval(setup);
    await event('toolApproval').click();
    await detail.getByText('write waited for approval').waitFor();
    await detail.getByText('JSON', { exact: true }).click();
    await expectAccessible(page);
  });

  it('stacks its columns on a small display', async () => {
    await using setup = await open({ viewport: { width: 390, height: 844 } });
    const { page, event, detail } = setup;
    await upToApproval(setup);
    await event('toolApproval').click();
    await detail.getByText('write waited for approval').waitFor();
    const list = await page.getByRole('listbox', { name: 'Events' }).boundingBox();
    const beside = await detail.boundingBox();
    expect(beside && list && beside.y >= list.y + list.height).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
  });
});
