import type { BrowserContextOptions, Page } from 'playwright-core';
import { RunningService, type ServiceOptions } from '../service/running-service.ts';
import { sharedChromium } from './shared-chromium.ts';

/** A real browser with the page of a running service open in it. */
export class ConsolePage implements AsyncDisposable {
  readonly service: RunningService;
  readonly page: Page;
  /** What the browser's console called an error, thrown errors and refused requests of the page included. */
  readonly errors: string[] = [];

  private constructor(service: RunningService, page: Page) {
    this.service = service;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.errors.push(String(error.stack ?? error)));
  }

  /** @param at such as `#/servers/default`. */
  static async open(
    at: string,
    options: ServiceOptions = {},
    context: BrowserContextOptions = {},
  ): Promise<ConsolePage> {
    const service = await RunningService.start(options);
    return ConsolePage.visit(service, `${service.url}/${at}`, context);
  }

  /** Opens a URL that leads to the service, and closes the service with the page. */
  static async visit(
    service: RunningService,
    url: string,
    context: BrowserContextOptions = {},
  ): Promise<ConsolePage> {
    const browser = await sharedChromium();
    const opened = await browser.newContext(context);
    const made = new ConsolePage(service, await opened.newPage());
    await made.page.goto(url);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
    await this.service.close();
  }
}
