import { PUSH_PREFIX } from '../../core/log/streams.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Membership } from '../../ports/membership.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { LocalBus } from '../../runtime/bus/local-bus.ts';
import type { PushDeliveries } from '../../runtime/push/push-deliveries.ts';
import { answerForPushes } from '../../runtime/push/push-requests.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';

export interface PushDeps {
  /** Where the sessions of the agent are heard. */
  readonly bus: Bus;
  /** Has the handlers. */
  readonly local: LocalBus;
  readonly store: EventStore;
  readonly secrets: SecretBox;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock | undefined;
  readonly allowPrivateAddresses: boolean;
  /** The nodes that share the notifications. Undefined where there is one. */
  readonly nodes: { readonly membership: Membership; readonly prefix: string } | undefined;
}

/** The push notifications of an agent. Nothing of them is loaded before somebody wants some, or has wanted some before the start. */
export class AgentPushes implements AsyncDisposable {
  readonly #deps: PushDeps;
  #opened: Promise<PushDeliveries> | null = null;

  constructor(deps: PushDeps) {
    this.#deps = deps;
    answerForPushes(deps.local, () => this.#open());
  }

  /** Goes on with what the log has. Other nodes may leave configs behind, so each node of a cluster looks for them. */
  async resume(): Promise<void> {
    const [first] = await this.#deps.store.streamIds(PUSH_PREFIX, 1);
    const isUsed = first?.startsWith(PUSH_PREFIX) ?? false;
    if (isUsed || this.#deps.nodes) await (await this.#open()).takeOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opened)?.[Symbol.asyncDispose]();
  }

  #open(): Promise<PushDeliveries> {
    this.#opened ??= openPushes(this.#deps);
    return this.#opened;
  }
}

async function openPushes({
  bus,
  store,
  secrets,
  log,
  metrics,
  clock = systemClock,
  allowPrivateAddresses,
  nodes,
}: PushDeps): Promise<PushDeliveries> {
  const [runtime, { PushBook }, { PushKey }, { allPushes, sharedPushes }, adapters, measured, keys, a2a] =
    await Promise.all([
      import('../../runtime/push/push-deliveries.ts'),
      import('../../runtime/push/push-book.ts'),
      import('../../runtime/push/push-key.ts'),
      import('../../runtime/push/push-duty.ts'),
      import('../../adapters/push/http-push-sender.ts'),
      import('../metrics/measured-pushes.ts'),
      import('../../adapters/push/ed25519-keys.ts'),
      import('../../gateway/a2a/pushed-task.ts'),
    ]);
  const book = new PushBook(store, secrets);
  return new runtime.PushDeliveries({
    bus,
    book,
    log,
    clock,
    now: Date.now,
    sender: measured.measuredPushes(adapters.httpPushSender({ allowPrivateAddresses }), metrics),
    key: new PushKey(book, keys.ed25519Keys),
    duty: nodes ? sharedPushes(nodes.membership, nodes.prefix) : allPushes,
    report: a2a.reportTask,
    contentType: a2a.PUSH_TYPE,
  });
}
