import { vi } from 'vitest';

/** What `sessionStorage` keeps from now on, until `vi.unstubAllGlobals`. */
export function stubTabStorage(): Map<string, string> {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => stored.set(name, text),
    removeItem: (name: string) => stored.delete(name),
  });
  return stored;
}
