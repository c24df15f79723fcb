import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

export interface PatientAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Posts without a body, and waits as long as the answer takes: `fetch` gives up after five minutes. Rejects if the
 * connection fails.
 */
export async function patientPost(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<PatientAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PatientAnswer>();
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, { method: 'POST', headers: { ...headers, 'content-length': 0 }, agent: false });
  request.once('error', reject);
  request.once('response', (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
  });
  request.end();
  return await promise;
}
