import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  FETCH_TIMEOUT_MS,
  type Fetch,
  fetchJson,
  MAX_ANSWER_BYTES,
} from '../../../../src/adapters/jwt/provider-json.ts';

const URL_ASKED = 'https://sso.example.com/jwks';
const get = (fetch: Fetch, clock = new SimulatedClock()): Promise<unknown> =>
  fetchJson(URL_ASKED, { fetch, clock });
const redirect = (location: string): Response => new Response(null, { status: 302, headers: { location } });

describe('a document of an identity provider', () => {
  it('is parsed', async () => {
    await expect(get(async () => Response.json({ keys: [] }))).resolves.toEqual({ keys: [] });
    await expect(get(async () => new Response('"é'))).rejects.toThrow(SyntaxError);
  });

  it('is given up after a while', async () => {
    const clock = new SimulatedClock();
    const silent: Fetch = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    const answer = expect(get(silent, clock)).rejects.toThrow(`${URL_ASKED} did not answer within 5000 ms`);
    clock.increment(FETCH_TIMEOUT_MS);
    await answer;
  });

  it('has a bounded size', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    await expect(get(async () => new Response(body))).rejects.toThrow(`more than ${MAX_ANSWER_BYTES} bytes`);
    expect(sent).toBeLessThan(12);
  });

  it('may have moved within its origin', async () => {
    const asked: string[] = [];
    const moved: Fetch = async (url, { redirect: mode }) => {
      asked.push(`${mode} ${url}`);
      return url.endsWith('/moved') ? Response.json({ keys: [] }) : redirect('/moved');
    };
    await expect(get(moved)).resolves.toEqual({ keys: [] });
    expect(asked).toEqual([`manual ${URL_ASKED}`, 'manual https://sso.example.com/moved']);
  });

  it.each([
    'https://mallory.example.com/jwks',
    'http://sso.example.com/jwks',
    '//mallory.example.com',
    'file:///etc',
  ])('is not looked for at %s', async (location) => {
    const asked: string[] = [];
    const moved: Fetch = async (url) => {
      asked.push(url);
      return redirect(location);
    };
    await expect(get(moved)).rejects.toThrow('redirects to other origins are not followed');
    expect(asked).toEqual([URL_ASKED]);
  });

  it('does not move in circles', async () => {
    await expect(get(async () => redirect(URL_ASKED))).rejects.toThrow('redirects more than 3 times');
  });

  it.each([201, 204, 304, 401, 500])('is missing in an answer with status %i', async (status) => {
    await expect(get(async () => new Response(null, { status }))).rejects.toThrow(
      `answered with status ${status}`,
    );
  });
});
