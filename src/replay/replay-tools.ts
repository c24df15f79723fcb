import { contentHash } from '../core/content-hash.ts';
import type { SessionEventOf } from '../core/log/events.ts';
import type { ToolOutcome } from '../core/tool-call/tool.ts';
import type { RequestedCall } from '../core/tool-call/tool-call-commands.ts';
import type { ToolOffer, TurnTools } from '../runtime/turns/turn-tools.ts';

/** Stands for the tools that were recorded: a call of one waits until the replay gives it its recorded outcome. */
export class ReplayTools implements TurnTools {
  readonly #offered: Pick<TurnTools, 'forModel'> | undefined;
  readonly #waiting = new Map<string, (outcome: ToolOutcome) => void>();
  #recorded: readonly RequestedCall[] = [];

  /** @param offered the tools that a live model is offered, and its calls are resolved against. */
  constructor(offered: Pick<TurnTools, 'forModel'> | undefined) {
    this.#offered = offered;
  }

  /** To be called before the model answers: the calls that its answer held when it was recorded. */
  expect(calls: readonly RequestedCall[]): void {
    this.#recorded = calls;
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

  forModel(): ToolOffer {
    const offer = this.#offered?.forModel();
    if (!offer) return { tools: [], resolve: () => this.#recordedCalls() };
    const resolve: ToolOffer['resolve'] = async (raw, messages) =>
      this.#withRecordedIds(await offer.resolve(raw, messages));
    return { tools: offer.tools, resolve };
  }

  call({ callId }: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<ToolOutcome> {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    this.#waiting.set(callId, resolve);
    signal.addEventListener('abort', () => this.#waiting.delete(callId), { once: true });
    return promise;
  }

  /** As they were resolved then; the hash is computed anew, because it must be that of the arguments. */
  #recordedCalls(): Promise<RequestedCall[]> {
    return Promise.all(
      this.#recorded.map(async (call) => ({ ...call, argumentsHash: await contentHash(call.arguments) })),
    );
  }

  /** The same calls in the same order are the same behaviour, whatever the provider calls them. */
  #withRecordedIds(calls: readonly RequestedCall[]): RequestedCall[] {
    return calls.map((call, index) => ({ ...call, callId: this.#recorded[index]?.callId ?? call.callId }));
  }
}
