const ITEM = 'agent-service.key';

/** The key of whoever is signed in. It stays in this tab until the tab is closed, and other tabs do not have it. */
export function keptKey(): string | null {
  try {
    return sessionStorage.getItem(ITEM);
  } catch {
    return null; // The browser was told to store nothing.
  }
}

/** Throws if the browser stores nothing. */
export function keepKey(key: string): void {
  sessionStorage.setItem(ITEM, key);
}

export function forgetKey(): void {
  if (keptKey() !== null) sessionStorage.removeItem(ITEM);
}

/** The headers that show the key to the service. */
export function headersOf(key: string | null | undefined): Readonly<Record<string, string>> {
  return key ? { Authorization: `Bearer ${key}` } : {};
}
