import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';
import { SCRIPTED } from '../support/service/running-service.ts';
import { withAskingTools } from '../support/tools/asking-tools.ts';

const AGENT = `${SCRIPTED}
server: {drainTimeoutMs: 0}
limits: {requestsPerMinute: false}
mcpServers: {asking: {command: none}}
`;

async function openChat(at = '#/chat/default') {
  const model = new DirectedModel();
  const adapters = { model, connector: withAskingTools() };
  const opened = await ConsolePage.open(at, { yaml: AGENT, adapters });
  return { ...opened, model, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

describe('what a tool server asks', () => {
  it('is answered with the form of its question', async () => {
    await using chat = await openChat();
    const { page, service, model, errors } = chat;
    await service.post('/api/message', { message: 'tea, please' });
    (await model.call(0)).askFor({ name: 'order_tea', callId: 'c-1', arguments: {} });
    const form = page.getByRole('group', { name: 'The tool server asks: Which tea?' });
    await form.waitFor();
    await page.getByText('needs an answer').waitFor();
    await page.getByText('Waiting for your answer…').waitFor();
    await expectAccessible(page);

    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText(/required/).waitFor();
    await form.getByLabel(/size/).selectOption('large');
    await form.getByRole('button', { name: 'Send' }).click();
    const { messages } = (await model.call(1)).request;
    expect(messages.at(-1)).toMatchObject({ role: 'tool', text: expect.stringContaining('large') });
    await form.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  it('is no click on its turn when a choice is opened', async () => {
    await using chat = await openChat('#/chat/default?beside=timeline');
    const { page, service, model } = chat;
    await service.post('/api/message', { message: 'tea, please' });
    (await model.call(0)).askFor({ name: 'order_tea', callId: 'c-1', arguments: {} });
    const form = page.getByRole('group', { name: 'The tool server asks: Which tea?' });
    await form.getByLabel(/size/).click();
    await form.getByText('size', { exact: false }).first().click();
    expect(page.url()).not.toContain('turn=');
    await form.locator('legend').first().click();
    await expect.poll(() => page.url()).toContain('turn=');
  });

  it('is declined with a click', async () => {
    await using chat = await openChat();
    const { page, service, model } = chat;
    await service.post('/api/message', { message: 'tea, please' });
    (await model.call(0)).askFor({ name: 'order_tea', callId: 'c-1', arguments: {} });
    await page.getByRole('button', { name: 'Decline' }).click();
    const { messages } = (await model.call(1)).request;
    expect(messages.at(-1)).toMatchObject({ role: 'tool', text: expect.stringContaining('decline') });
  });
});

describe('a call of a tool that a client has lent', () => {
  const clientTools = [{ name: 'pick_colour', description: 'Asks for a colour.', inputSchema: {} }];

  it('is answered in the place of the client, by who cannot wait for it', async () => {
    await using chat = await openChat();
    const { page, service, model, errors } = chat;
    await service.post('/api/message', { message: 'paint the door', clientTools });
    const calls = ['c-1', 'c-2'].map((callId) => ({ name: 'pick_colour', callId, arguments: {} }));
    (await model.call(0)).askFor(...calls);
    const forms = page.getByRole('group', { name: /The client that lent this tool runs it/ });
    await forms.nth(1).waitFor();
    await page.getByText('Waiting for your answer…').waitFor();
    await expectAccessible(page);

    await forms.first().getByLabel('Result of the call').fill('green');
    await forms.first().getByRole('button', { name: 'Send result' }).click();
    await expect.poll(() => forms.count()).toBe(1);
    await forms.getByLabel('Result of the call').fill('no colour is left');
    await forms.getByRole('button', { name: 'Send as error' }).click();
    const { messages } = (await model.call(1)).request;
    expect(messages.slice(-2)).toMatchObject([
      { role: 'tool', text: 'green' },
      { role: 'tool', text: expect.stringContaining('no colour is left') },
    ]);
    (await model.call(1)).answer('Half of it is green.');
    await page.getByText('Half of it is green.').waitFor();
    await page.getByText('failed', { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });

  it('goes away when its client answers', async () => {
    await using chat = await openChat();
    const { page, service, model } = chat;
    await service.post('/api/message', { message: 'paint the door', clientTools });
    (await model.call(0)).askFor({ name: 'pick_colour', callId: 'c-1', arguments: {} });
    const form = page.getByRole('group', { name: /The client that lent this tool runs it/ });
    await form.waitFor();
    await service.post('/api/sessions/default/calls/c-1', { content: 'blue' });
    await form.waitFor({ state: 'detached' });
    (await model.call(1)).answer('Blue it is.');
    await page.getByText('Blue it is.').waitFor();
  });
});
