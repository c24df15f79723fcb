import type { Provider } from './provider.ts';

const ITEM = 'agent-service.provider';
const PLACE = 'agent-service.place';

/** The provider of whoever is signed in; null for an API key. */
export function keptProvider(): Provider | null {
  try {
    const kept = sessionStorage.getItem(ITEM);
    return kept === null ? null : JSON.parse(kept);
  } catch {
    return null; // The browser was told to store nothing.
  }
}

/** Throws if the browser stores nothing. */
export function keepProvider(provider: Provider): void {
  sessionStorage.setItem(ITEM, JSON.stringify(provider));
}

export function forgetProvider(): void {
  if (keptProvider() !== null) sessionStorage.removeItem(ITEM);
}

/** Remembers what the page shows, for when the provider sends the reader back. */
export function keepPlace(): void {
  const { pathname, hash } = window.location;
  sessionStorage.setItem(PLACE, `${pathname}${hash}`);
}

/** The place that was kept, once. */
export function takePlace(): string {
  const place = sessionStorage.getItem(PLACE) ?? '/';
  sessionStorage.removeItem(PLACE);
  return place;
}
