import { statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { animatedWebp, type Frame } from './animated-webp.ts';
import { ConsolePage } from './console-page.ts';
import { ScreenRecorder } from './screen-recorder.ts';
import { closeChromium } from './shared-chromium.ts';

/* Records the console for the documents anew: npm run recording */

/** The view that is recorded: the chat on the left, the statechart of its turn on the right. */
const VIEW = '#/chat/demo?beside=statecharts';
const FILE = fileURLToPath(new URL('../../../docs/console.webp', import.meta.url));
const SIZE = { width: 1400, height: 788 };
const RECORDER = { framesPerSecond: 10, quality: 60 };
const LARGEST_BYTES = 3_000_000;

const QUESTION = 'What is 19 and 23?';
const ANSWER = '19 and 23 are **42**.';
const AGENT = {
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      {
        when: 'what is (\\d+) and (\\d+)',
        reply: 'I will ask the **calculator**, if you let me.',
        toolCalls: [{ tool: 'get-sum', arguments: { a: 19, b: 23 } }],
        afterTools: ANSWER,
        chunks: 6,
        delayMs: 250,
      },
    ],
  },
  mcpServers: { everything: { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] } },
  approval: { rules: [{ tool: 'get-sum', policy: 'ask' }] },
};

/** What the viewer sees, with time to look at each step. */
async function act(page: Page): Promise<void> {
  await delay(700);
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.pressSequentially(QUESTION, { delay: 60 });
  await delay(300);
  await box.press('Enter');
  const approve = page.getByRole('button', { name: 'Approve' }).first();
  await approve.waitFor();
  await delay(1_500);
  await approve.hover();
  await delay(300);
  await approve.click();
  await page.getByText('19 and 23 are 42.').waitFor();
  await delay(2_000);
}

async function record(): Promise<readonly Frame[]> {
  const context = { colorScheme: 'dark' as const, viewport: SIZE };
  const opened = await ConsolePage.open('', { yaml: JSON.stringify(AGENT) }, context);
  try {
    const { page, service } = opened;
    await page.goto(`${service.url}/${VIEW}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    // The chart is loaded.
    await page.locator('[data-state]').first().waitFor();
    const recorder = await ScreenRecorder.start(page, RECORDER);
    await act(page);
    return await recorder.stop();
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

const frames = await record();
await closeChromium();
writeFileSync(FILE, animatedWebp(frames, SIZE));
const { size } = statSync(FILE);
const seconds = frames.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000;
process.stdout.write(
  `${FILE}: ${frames.length} frames, ${seconds.toFixed(1)} s, ${(size / 1e6).toFixed(2)} MB\n`,
);
if (size > LARGEST_BYTES) throw new Error(`the recording is larger than ${LARGEST_BYTES} bytes`);
