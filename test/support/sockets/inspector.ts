import { EventEmitter, once } from 'node:events';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';

/** The receiver that Stately's own inspector is built on. */
export class Inspector {
  readonly events: StatelyInspectionEvent[] = [];
  readonly #arrivals = new EventEmitter();

  constructor(url: string) {
    createWebSocketReceiver({ server: url }).subscribe((event) => {
      this.events.push(event);
      this.#arrivals.emit('event');
    });
  }

  async until(isIt: (event: StatelyInspectionEvent) => boolean): Promise<StatelyInspectionEvent> {
    for (;;) {
      const found = this.events.find(isIt);
      if (found) return found;
      await once(this.#arrivals, 'event');
    }
  }
}
