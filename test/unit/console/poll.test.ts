import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(new URL('../../../src/console/service/poll.ts', import.meta.url));

const page = { visibilityState: 'visible' };

beforeEach(() => {
  vi.useFakeTimers();
  page.visibilityState = 'visible';
  vi.stubGlobal('document', page);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Reads every second; each read waits for its answer. */
async function start() {
  const { poll } = await import(MODULE);
  const reads: { readonly signal: AbortSignal; readonly answer: () => void }[] = [];
  const stop: () => void = poll(1_000, (signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    reads.push({ signal, answer: resolve });
    return promise;
  });
  return { reads, stop };
}

it('reads at once, and again when the answer has come', async () => {
  const { reads, stop } = await start();
  expect(reads).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reads).toHaveLength(1);
  reads[0]?.answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reads).toHaveLength(2);
  stop();
});

it('reads nothing while the page is hidden', async () => {
  const { reads, stop } = await start();
  reads[0]?.answer();
  page.visibilityState = 'hidden';
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reads).toHaveLength(1);
  page.visibilityState = 'visible';
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reads).toHaveLength(2);
  stop();
});

it('aborts the read that runs when it ends, and reads nothing more', async () => {
  const { reads, stop } = await start();
  expect(reads[0]?.signal.aborted).toBe(false);
  stop();
  expect(reads[0]?.signal.aborted).toBe(true);
  reads[0]?.answer();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reads).toHaveLength(1);
});
