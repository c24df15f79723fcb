interface Killable {
  kill(): void;
}

/**
 * The server processes that run. Each leads a group of its own, which does not end with this process: whatever ends it,
 * also a second signal, kills them at the last moment.
 */
export class RunningServers {
  readonly #running = new Set<Killable>();
  readonly #killAll = (): void => {
    for (const server of this.#running) server.kill();
  };

  add(server: Killable): void {
    if (this.#running.size === 0) this.#watchExit();
    this.#running.add(server);
  }

  delete(server: Killable): void {
    if (this.#running.delete(server) && this.#running.size === 0) this.#ignoreExit();
  }

  /** Each agent has such a listener, so Node must not take many of them for a leak. */
  #watchExit(): void {
    process.setMaxListeners(process.getMaxListeners() + 1);
    process.on('exit', this.#killAll);
  }

  #ignoreExit(): void {
    process.off('exit', this.#killAll);
    process.setMaxListeners(process.getMaxListeners() - 1);
  }
}
