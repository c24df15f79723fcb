/** The console that the service has now: the one of this page, another one, or none, because it does not answer. */
export type ServedVersion = 'same' | 'other' | 'none';

const ENTRY = /assets\/index-[^"]+\.js/;

/** Asks the service for its page. The name of the page's script contains a hash of the whole console. */
export async function servedVersion(): Promise<ServedVersion> {
  try {
    const response = await fetch('/', { headers: { Accept: 'text/html' }, cache: 'no-store' });
    if (!response.ok) return 'none';
    const served = ENTRY.exec(await response.text())?.[0];
    return served === ENTRY.exec(document.documentElement.outerHTML)?.[0] ? 'same' : 'other';
  } catch {
    return 'none'; // `fetch` rejects when there is no connection.
  }
}
