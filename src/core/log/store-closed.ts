/**
 * The log was asked for something after it was closed: the service stops.
 * This file imports nothing, because the worker thread of the log loads what the stores do, and must load no package.
 */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError';

  constructor(options?: ErrorOptions) {
    super('the event store is closed', options);
  }
}
