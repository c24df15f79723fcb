import { type Browser, chromium } from 'playwright-core';
import { findChromium } from './chromium.ts';

let launched: Promise<Browser> | undefined;

/** One browser for all pages of this process, because its start takes longer than most tests. Pages share nothing else. */
export function sharedChromium(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
  return launched;
}

/** Call it when no more pages are opened. */
export async function closeChromium(): Promise<void> {
  const browser = await launched;
  launched = undefined;
  await browser?.close();
}
