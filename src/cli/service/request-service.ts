import { z } from 'zod';

const Refusal = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
});

/** An error envelope of the service. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Longest wait for the beginning of an answer. */
const PATIENCE_MS = 10_000;

/**
 * Asks a running service. Rejects with advice if no service answers, and with a `ServiceRefusal` if it refuses.
 *
 * @param base address of the service.
 * @param path of the REST interface, such as `api/sessions`.
 */
export async function requestService(base: string, path: string): Promise<Response> {
  const response = await begin(new URL(path, base.endsWith('/') ? base : `${base}/`), base);
  if (response.ok) return response;
  const { data } = Refusal.safeParse(await response.json().catch(() => undefined));
  if (!data) throw notAService(base);
  const { code, message, details } = data.error;
  const { issue, suggestion } = details;
  const more = [issue, suggestion].filter((text) => typeof text === 'string').map((text) => ` (${text})`);
  throw new ServiceRefusal(code, `${message}${more.join('')}`);
}

/** The JSON of an answer. */
export async function readAnswer<T>(base: string, path: string, schema: z.ZodType<T>): Promise<T> {
  const response = await requestService(base, path);
  const { data } = schema.safeParse(await response.json().catch(() => undefined));
  if (data === undefined) throw notAService(base);
  return data;
}

async function begin(address: URL, base: string): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), PATIENCE_MS);
  try {
    return await fetch(address, { signal: controller.signal });
  } catch (cause) {
    const advice =
      'start one with `agent-service` (in a checkout `npm start`), or say where it is with --url';
    throw new Error(`no service answers at ${base}; ${advice}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function notAService(base: string): Error {
  return new Error(`the server at ${base} is not an agent-service; name another address with --url`);
}
