import { z } from 'zod';
import { Refused, reasonOf } from './refused.ts';
import type { Tally } from './tally.ts';

const Health = z.object({ version: z.string(), agent: z.object({ status: z.string() }) });
const Page = z.object({
  events: z.array(z.looseObject({ event: z.string(), data: z.looseObject({}), seq: z.int() })),
});
const NOT_FOUND = 404;

export type LoggedEvent = z.infer<typeof Page>['events'][number];

/** The REST interface of the service under load. */
export class Instance {
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #tally: Pick<Tally, 'waitForLimit'>;

  constructor(url: URL, timeoutMs: number, tally: Pick<Tally, 'waitForLimit'>) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    this.#tally = tally;
  }

  async requireHealthy(): Promise<void> {
    try {
      // Not a path under /api, because the service limits the rate of those.
      const response = await this.#request('/healthz');
      if (!Health.safeParse(await response.json().catch(() => null)).success)
        throw new Error('something else answers /healthz');
    } catch (cause) {
      throw new Error(`there is no agent-service at ${this.#url.origin}: ${reasonOf(cause)}`, { cause });
    }
  }

  /** All events of a session, as the frames that a resuming client gets. Empty when the session does not exist. */
  async log(session: string): Promise<LoggedEvent[]> {
    const all: LoggedEvent[] = [];
    for (;;) {
      const after = all.at(-1)?.seq ?? 0;
      const path = `/api/sessions/${session}/events?after=${after}&limit=1000`;
      const response = await this.#request(path, { allowed: NOT_FOUND });
      if (response.status === NOT_FOUND) return all;
      const { events } = Page.parse(await response.json());
      if (events.length === 0) return all;
      // Remove the fields that only this endpoint adds.
      all.push(...events.map(({ time: _, partial: __, ...frame }) => frame));
    }
  }

  /** Cancels the running turn, so that the log is complete. */
  async cancel(session: string): Promise<void> {
    await this.#request(`/api/sessions/${session}/cancel`, { method: 'POST', allowed: NOT_FOUND });
  }

  async forget(session: string): Promise<void> {
    await this.#request(`/api/sessions/${session}`, { method: 'DELETE', allowed: NOT_FOUND });
  }

  async #request(path: string, { method = 'GET', allowed = 200 } = {}): Promise<Response> {
    for (;;) {
      const signal = AbortSignal.timeout(this.#timeoutMs);
      const response = await fetch(new URL(path, this.#url), { method, signal });
      if (response.ok || response.status === allowed) return response;
      const refused = Refused.byResponse(response.status, await response.text());
      if (refused.limitMs === null) throw refused;
      await this.#tally.waitForLimit(refused.limitMs);
    }
  }
}
