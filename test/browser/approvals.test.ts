import { describe, expect, it } from 'vitest';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';
import { SCRIPTED } from '../support/service/running-service.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';

const AGENT = `${SCRIPTED}
server: {drainTimeoutMs: 0}
limits: {requestsPerMinute: false}
approval: {default: ask, expiresAfterMs: 3600000}
mcpServers: {bank: {type: stdio, command: none}}
`;

type Context = Parameters<typeof ConsolePage.open>[2];

/** The inbox, in front of a model and tools that the test directs. */
async function openInbox(context: Context = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  const opened = await ConsolePage.open(
    '#/approvals/default',
    { yaml: AGENT, adapters: { model, connector: tools } },
    context,
  );
  const { page, service, errors } = opened;
  const ask = async (sessionId: string, to = 'Ann'): Promise<void> => {
    await service.post('/api/message', { message: `pay in ${sessionId}`, sessionId });
    (await model.callFor(`pay in ${sessionId}`)).askFor({
      name: 'pay',
      callId: `c-${sessionId}`,
      arguments: { to, account: 'DE89 3704 0044 0532 0130 00'.repeat(8) },
    });
  };
  return {
    model,
    tools,
    page,
    service,
    errors,
    ask,
    card: (sessionId: string) => page.getByRole('article', { name: `pay in ${sessionId}` }),
    link: page.getByRole('link', { name: /^Approvals/ }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

describe('the inbox of approvals', () => {
  it('shows the calls of all sessions as they come, and what a click decides', async () => {
    await using inbox = await openInbox();
    const { page, tools, ask, card, link } = inbox;
    await page.getByText('No tool call waits for approval.').waitFor();
    expect(await link.textContent()).toBe('Approvals');
    await ask('a');
    await card('a').getByText('"Ann"').waitFor();
    await ask('b');
    await card('b').waitFor();
    await link.getByText('2 waiting').waitFor();
    await page.getByText('needs approval').nth(1).waitFor();

    await card('a').getByRole('button', { name: 'Approve' }).click();
    await card('a').waitFor({ state: 'detached' });
    await page.getByRole('status').getByText('Approved: pay in a').waitFor();
    (await tools.call(0)).answer('paid');
    await link.getByText('1 waiting').waitFor();
    await card('b').getByRole('button', { name: 'Deny' }).click();
    await page.getByText('No tool call waits for approval.').waitFor();
    await expect.poll(() => link.textContent()).toBe('Approvals');
    expect(tools.calls).toHaveLength(1);
    expect(inbox.errors).toEqual([]);
  });

  it('shows what nobody would see in the arguments', async () => {
    await using inbox = await openInbox();
    await inbox.ask('a', 'Ann\u202E\u200B');
    await inbox.card('a').getByText(String.raw`"Ann\u202e\u200b"`).waitFor();
  });

  it('tells the agent why a call was denied', async () => {
    await using inbox = await openInbox();
    await inbox.ask('a');
    await inbox.card('a').getByLabel('Reason of a denial').fill('Ann has her money already');
    await inbox.card('a').getByRole('button', { name: 'Deny' }).click();
    await inbox.card('a').waitFor({ state: 'detached' });
    const { messages } = (await inbox.model.call(1)).request;
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      text: expect.stringContaining('Ann has her money already'),
    });
    expect(inbox.errors).toEqual([]);
  });

  it('forgets a call that somebody else has answered', async () => {
    await using inbox = await openInbox();
    await inbox.ask('a');
    await inbox.card('a').waitFor();
    await inbox.service.post('/api/sessions/a/approvals/c-a', { decision: 'deny' });
    await inbox.page.getByText('No tool call waits for approval.').waitFor();
  });

  it('is used with the keyboard alone', async () => {
    await using inbox = await openInbox();
    const { page, ask, card, tools } = inbox;
    await ask('a');
    await ask('b');
    await card('b').waitFor();
    await card('a').getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    await card('a').waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    const passed: (string | null)[] = [];
    for (const _ of ['the session', 'the arguments', 'approve', 'deny']) {
      passed.push(await page.locator(':focus').textContent());
      await page.keyboard.press('Tab');
    }
    expect(passed).toEqual(['b', expect.stringContaining('Ann'), 'Approve', 'Deny']);
    (await tools.call(0)).answer('paid');
  });

  it.each([1280, 390])('can be answered when the call is long: a window of %d px', async (width) => {
    await using inbox = await openInbox({ viewport: { width, height: 844 } });
    const { ask, card, link } = inbox;
    await ask('a');
    await card('a').waitFor();
    await link.getByText('1 waiting').waitFor();
    await card('a').getByRole('button', { name: 'Approve' }).click({ trial: true });
  });
});
