import { Hub } from './hub.ts';

/**
 * Connects this tab to the hub. The hub runs in a worker that all tabs share, and in the tab itself where the browser has
 * no such workers or cannot load this one.
 * @param onPort gets the port at once, and another one if the worker cannot be loaded.
 */
export function openHub(onPort: (port: MessagePort) => void): void {
  if (typeof SharedWorker === 'undefined') {
    onPort(ownHub());
    return;
  }
  // Vite finds the worker only if the address stands inside of the call.
  const worker = new SharedWorker(new URL('./hub-worker.ts', import.meta.url), {
    type: 'module',
    name: 'agent-service streams',
  });
  worker.addEventListener('error', () => onPort(ownHub()));
  onPort(worker.port);
}

function ownHub(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  new Hub().accept(port1);
  return port2;
}
