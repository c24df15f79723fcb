import { z } from 'zod';

const Page = z.object({
  events: z.array(z.looseObject({ event: z.string(), data: z.looseObject({}), seq: z.int() })),
});
const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The service under load, as far as a client asks it by REST. */
export class Instance {
  readonly #url: URL;

  constructor(url: URL) {
    this.#url = url;
  }

  async requireHealthy(): Promise<void> {
    // Not under /api, where requests are limited.
    await this.#request('/healthz').catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`there is no agent-service at ${this.#url.origin}: ${reason}`, { cause });
    });
  }

  /** All events of a session, as the frames that a client that resumes gets. */
  async log(session: string): Promise<z.infer<typeof Page>['events']> {
    const all: z.infer<typeof Page>['events'] = [];
    for (;;) {
      const after = all.at(-1)?.seq ?? 0;
      const response = await this.#request(`/api/sessions/${session}/events?after=${after}&limit=1000`);
      const { events } = Page.parse(await response.json());
      if (events.length === 0) return all;
      // What a page says besides.
      all.push(...events.map(({ time: _, partial: __, ...frame }) => frame));
    }
  }

  async forget(session: string): Promise<void> {
    await this.#request(`/api/sessions/${session}`, { method: 'DELETE' });
  }

  async #request(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(new URL(path, this.#url), init);
    if (response.ok) return response;
    throw new Error(refusalOf(response.status, await response.text()));
  }
}

/** What the service said, and what to do where its limits are in the way. */
export function refusalOf(status: number, body: string): string {
  const { data } = Refusal.safeParse(parse(body));
  if (!data) return `HTTP ${status}`;
  const { code, message } = data.error;
  const advice = code === 'RATE_LIMIT_EXCEEDED' ? ' Raise or switch off `limits` in its agent file.' : '';
  return `${code}: ${message}${advice}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not from the service: the status says it.
  }
}
