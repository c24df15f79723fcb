import { Hub } from './hub.ts';
import { randomId } from './random-id.ts';

/**
 * Connects this tab to the hub. The hub runs in a worker that all tabs share, and in the tab itself where the browser has
 * no such workers or cannot load this one.
 * @param key of whoever is signed in. Tabs share a worker only if they have the same key.
 * @param onPort gets the port at once, and another one if the worker cannot be loaded.
 */
export function openHub(key: string | null, onPort: (port: MessagePort) => void): void {
  const worker = sharedWorker(`agent-service streams${nameOf(key)}`);
  worker?.addEventListener('error', () => onPort(ownHub()));
  onPort(worker?.port ?? ownHub());
}

/** Null where the browser has no such workers, or forbids them, as it does where it may store nothing. */
function sharedWorker(name: string): SharedWorker | null {
  try {
    // Vite finds the worker only if the address stands inside of the call.
    return new SharedWorker(new URL('./hub-worker.ts', import.meta.url), { type: 'module', name });
  } catch {
    return null;
  }
}

/** The id of an API key, which is not secret. Other keys are of one tab alone. */
function nameOf(key: string | null): string {
  if (key === null) return '';
  const keyId = /^as_([0-9A-Za-z]{8})_/.exec(key)?.[1];
  return ` of ${keyId ?? randomId()}`;
}

function ownHub(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  new Hub().accept(port1);
  return port2;
}
