import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { ConsolePage } from './console-page.ts';
import { closeChromium } from './shared-chromium.ts';

/* Takes the pictures of the documents anew: npm run screenshots */

const AGENT = {
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      {
        when: 'what is (\\d+) and (\\d+)',
        reply: 'I will ask the **calculator**.',
        toolCalls: [{ tool: 'get-sum', arguments: { a: 19, b: 23 } }],
        afterTools: '19 and 23 are **42**.',
      },
      {
        when: 'environment',
        reply: 'I can look, if you let me.',
        toolCalls: [{ tool: 'get-env', arguments: {} }],
      },
    ],
  },
  mcpServers: { everything: { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] } },
  approval: { rules: [{ tool: 'get-env', policy: 'ask' }] },
};

const folder = fileURLToPath(new URL('../../../docs/', import.meta.url));

async function picture(
  name: string,
  at: string,
  colorScheme: 'light' | 'dark',
  arrange: (page: Page) => Promise<void>,
): Promise<void> {
  const context = { colorScheme, viewport: { width: 1280, height: 800 } };
  const opened = await ConsolePage.open('', { yaml: JSON.stringify(AGENT) }, context);
  const { page, service } = opened;
  try {
    const sessionId = 'demo';
    await service.post('/api/message-sync', { message: 'What is 19 and 23?', sessionId });
    await service.post('/api/message', { message: 'What is in your environment?', sessionId });
    await page.goto(`${service.url}/${at}`);
    await arrange(page);
    await page.screenshot({ path: `${folder}${name}.png` });
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

await picture('console-chat', '#/chat/demo', 'light', async (page) => {
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.getByText('busy').first().waitFor();
});
await picture('console-statechart', '#/statecharts/demo', 'dark', async (page) => {
  await page.getByText('awaitingApproval').first().waitFor();
});
await closeChromium();
