import type { AuthInfo, JSONRPCMessage } from '@modelcontextprotocol/server';

interface OpenQuestion {
  id?: number;
  answerer?: AuthInfo | undefined;
}

/**
 * Who answers what the client of an MCP session is asked. An answer comes with a request of HTTP of its own, perhaps with
 * another token than the call that it is for. The SDK tells only what was answered.
 */
export class Answerers {
  /** By the ids of the questions. */
  readonly #open = new Map<number, OpenQuestion>();
  #asking: OpenQuestion | null = null;

  /**
   * @param send sends the question before it returns, and resolves or rejects with the answer.
   * @returns the answer, and who gave it. Nobody is known until the answer is there, and where clients are not authenticated.
   */
  ask<T>(send: () => Promise<T>): {
    readonly said: Promise<T>;
    readonly answerer: () => AuthInfo | undefined;
  } {
    const question: OpenQuestion = {};
    this.#asking = question;
    try {
      const said = send().finally(() => {
        if (question.id !== undefined) this.#open.delete(question.id);
      });
      return { said, answerer: () => question.answerer };
    } finally {
      this.#asking = null;
    }
  }

  /** The message goes to the client. */
  noteSent(message: JSONRPCMessage): void {
    if (!this.#asking || !('method' in message) || !('id' in message)) return;
    this.#asking.id = Number(message.id);
    this.#open.set(this.#asking.id, this.#asking);
  }

  /** The message came from the client. To be called before the SDK takes it. */
  noteReceived(message: JSONRPCMessage, authInfo: AuthInfo | undefined): void {
    if ('method' in message || message.id === undefined) return;
    // The SDK takes a text for a number, too.
    const question = this.#open.get(Number(message.id));
    // The first answer counts.
    if (question) question.answerer ??= authInfo;
  }
}
