import { contentHash } from '../core/content-hash.ts';
import type { SessionId } from '../core/ids.ts';
import type { SessionEventOf } from '../core/log/events.ts';
import type { ClientTool } from '../core/tool-call/client-tool.ts';
import type { ToolOutcome } from '../core/tool-call/tool.ts';
import type { RequestedCall } from '../core/tool-call/tool-call-commands.ts';
import type { OutputFormat } from '../core/turn/output-format.ts';
import type { QuestionSettings, ToolOffer, TurnTools } from '../ports/turn-tools.ts';

/** Takes the place of the recorded tools. Each call waits until the replay settles it with the recorded outcome. */
export class ReplayTools implements TurnTools {
  readonly #offered: Pick<TurnTools, 'forModel' | 'outputIssue'> | undefined;
  readonly #waiting = new Map<string, (outcome: ToolOutcome) => void>();
  #recorded: readonly RequestedCall[] = [];
  #outputIssue: string | undefined;

  /** @param offered the tools that a live model is offered; undefined if the replies are recorded. */
  constructor(offered: Pick<TurnTools, 'forModel' | 'outputIssue'> | undefined) {
    this.#offered = offered;
  }

  /**
   * Call it before the model answers.
   * @param calls the recorded calls of that answer.
   * @param outputIssue what was recorded to be wrong with it.
   */
  expect(calls: readonly RequestedCall[], outputIssue?: string): void {
    this.#recorded = calls;
    this.#outputIssue = outputIssue;
  }

  outputIssue(format: OutputFormat, reply: string, sessionId: SessionId): Promise<string | undefined> {
    return this.#offered?.outputIssue(format, reply, sessionId) ?? Promise.resolve(this.#outputIssue);
  }

  isRunning(callId: string): boolean {
    return this.#waiting.has(callId);
  }

  settle(callId: string, outcome: ToolOutcome): void {
    this.#waiting.get(callId)?.(outcome);
    this.#waiting.delete(callId);
  }

  ready(): null {
    return null;
  }

  forModel(clientTools?: readonly ClientTool[]): ToolOffer {
    const offer = this.#offered?.forModel(clientTools);
    if (!offer) return { tools: [], resolve: () => this.#recordedCalls() };
    const resolve: ToolOffer['resolve'] = async (...asked) =>
      this.#withRecordedIds(await offer.resolve(...asked));
    return { tools: offer.tools, resolve };
  }

  /** No tool is called, so nobody asks. */
  questionsOf(): QuestionSettings {
    return { roots: [] };
  }

  call({ callId }: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<ToolOutcome> {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    this.#waiting.set(callId, resolve);
    signal.addEventListener('abort', () => this.#waiting.delete(callId), { once: true });
    return promise;
  }

  /** The calls as they were resolved. The recording has the hash of some only, so all are computed. */
  #recordedCalls(): Promise<RequestedCall[]> {
    return Promise.all(
      this.#recorded.map(async (call) => ({ ...call, argumentsHash: await contentHash(call.arguments) })),
    );
  }

  /** Providers choose new ids each time, so only the calls and their order are compared. */
  #withRecordedIds(calls: readonly RequestedCall[]): RequestedCall[] {
    return calls.map((call, index) => ({ ...call, callId: this.#recorded[index]?.callId ?? call.callId }));
  }
}
