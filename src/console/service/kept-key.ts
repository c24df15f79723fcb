import { ofTab } from './storage.ts';

const ITEM = 'agent-service.key';
const REPLACED = 'agent-service:key-replaced';

/**
 * The API key or access token of whoever is signed in. It stays in this tab until the tab is closed, and other tabs do not have
 * it.
 */
export function keptKey(): string | null {
  return ofTab.get(ITEM);
}

/** Throws if the browser stores nothing. */
export function keepKey(key: string): void {
  sessionStorage.setItem(ITEM, key);
}

/** Keeps another key of the same principal, and tells the page. */
export function replaceKey(key: string): void {
  keepKey(key);
  window.dispatchEvent(new Event(REPLACED));
}

/** @returns a function that unsubscribes. */
export function onKeyReplaced(listener: () => void): () => void {
  window.addEventListener(REPLACED, listener);
  return () => window.removeEventListener(REPLACED, listener);
}

export function forgetKey(): void {
  ofTab.set(ITEM, null);
}

/** The headers that show the key to the service. */
export function headersOf(key: string | null | undefined): Readonly<Record<string, string>> {
  return key ? { Authorization: `Bearer ${key}` } : {};
}
