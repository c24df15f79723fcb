import { fetchInTrace } from './fetch-in-trace.ts';

/** `fetchInTrace` that says when a stream of notifications is open, unless the server repeats there what was missed. */
export function fetchNotingStreams(onStream: () => void): typeof fetchInTrace {
  return async (input, init) => {
    const response = await fetchInTrace(input, init);
    const isStream = init?.method === 'GET' && response.ok;
    if (isStream && !new Headers(init.headers).has('last-event-id')) onStream();
    return response;
  };
}
