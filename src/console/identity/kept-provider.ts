import { ofTab } from '../service/storage.ts';
import type { Provider } from './provider.ts';

const ITEM = 'agent-service.provider';
const PLACE = 'agent-service.place';

/** The provider of whoever is signed in; null for an API key. */
export function keptProvider(): Provider | null {
  const kept = ofTab.get(ITEM);
  return kept === null ? null : JSON.parse(kept);
}

/** Throws if the browser stores nothing. */
export function keepProvider(provider: Provider): void {
  sessionStorage.setItem(ITEM, JSON.stringify(provider));
}

export function forgetProvider(): void {
  ofTab.set(ITEM, null);
}

/** Remembers what the page shows, for when the provider sends the reader back. */
export function keepPlace(): void {
  const { pathname, hash } = window.location;
  sessionStorage.setItem(PLACE, `${pathname}${hash}`);
}

/** The place that was kept, once. */
export function takePlace(): string {
  const place = ofTab.get(PLACE) ?? '/';
  ofTab.set(PLACE, null);
  return place;
}
