/** Beyond this, those that ended first are forgotten. */
const MOST = 10_000;

/** MCP sessions that their clients have ended. They are not there any more, not even for streams that could go on. */
export class EndedSessions {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MOST && oldest !== undefined) this.#ids.delete(oldest);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
