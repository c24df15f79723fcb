import { setTimeout as delay } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import type { Frame } from './animated-webp.ts';

export interface RecorderOptions {
  readonly framesPerSecond: number;
  /** Of WebP, from 0 to 100. */
  readonly quality: number;
}

/** Takes pictures of a page at a fixed rate until it is stopped. Equal pictures in a row become one frame. */
export class ScreenRecorder {
  readonly #session: CDPSession;
  readonly #options: RecorderOptions;
  readonly #frames: { webp: Buffer; durationMs: number }[] = [];
  #running = true;
  readonly #recording: Promise<void>;

  private constructor(session: CDPSession, options: RecorderOptions) {
    this.#session = session;
    this.#options = options;
    this.#recording = this.#record();
  }

  static async start(page: Page, options: RecorderOptions): Promise<ScreenRecorder> {
    return new ScreenRecorder(await page.context().newCDPSession(page), options);
  }

  async stop(): Promise<readonly Frame[]> {
    this.#running = false;
    await this.#recording;
    await this.#session.detach();
    return this.#frames;
  }

  async #record(): Promise<void> {
    const intervalMs = 1_000 / this.#options.framesPerSecond;
    let shownAt = performance.now();
    while (this.#running) {
      const begun = performance.now();
      const webp = await this.#picture();
      const last = this.#frames.at(-1);
      if (last) last.durationMs += Math.round(begun - shownAt);
      shownAt = begun;
      if (!last?.webp.equals(webp)) this.#frames.push({ webp, durationMs: 0 });
      await delay(Math.max(0, begun + intervalMs - performance.now()));
    }
    const last = this.#frames.at(-1);
    if (last) last.durationMs += Math.round(performance.now() - shownAt);
  }

  async #picture(): Promise<Buffer> {
    const { quality } = this.#options;
    const { data } = await this.#session.send('Page.captureScreenshot', { format: 'webp', quality });
    return Buffer.from(data, 'base64');
  }
}
