import { Hub } from './hub.ts';

const hub = new Hub();

/** A tab connects. */
self.addEventListener('connect', (event) => {
  if (!(event instanceof MessageEvent)) return;
  const [port] = event.ports;
  if (port) hub.accept(port);
});
