import { levelOfFailure, ServiceError } from '../../core/errors.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { PushConfig, ShownPushConfig } from '../../core/push/push-config.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { requestOrigin } from '../../core/request/request-origin.ts';
import { PushAddressError } from '../../ports/push-sender.ts';
import type { PublicKey } from '../../ports/push-signer.ts';
import { SealedError } from '../../ports/secret-box.ts';
import type { RequestOf } from '../../ports/service-requests.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import { SerialQueue } from '../../timing/serial-queue.ts';
import { pushStream, type StoredPush } from './push-book.ts';
import { type DeliveryDeps, PushDelivery } from './push-delivery.ts';
import type { PushDuty } from './push-duty.ts';
import type { PushKey } from './push-key.ts';

/** Most configs of one turn, and of all turns of one principal. */
const MAX_OF_TURN = 10;
const MAX_OF_PRINCIPAL = 1_000;

export interface DeliveriesDeps extends Omit<DeliveryDeps, 'signer'> {
  readonly duty: PushDuty;
  readonly key: PushKey;
}

interface Running {
  readonly stored: StoredPush;
  readonly delivery: PushDelivery;
  readonly ended: Promise<unknown>;
}

const STILL_FORMER_KEY = 'a secret of push notifications is still encrypted with a former key';

type Registration = RequestOf<'push.register'>;

/** The configs for push notifications of an agent, and what sends the notifications of each. */
export class PushDeliveries implements AsyncDisposable {
  readonly #deps: DeliveriesDeps;
  readonly #running = new Map<StreamId, Running>();
  readonly #stopHearing: () => void;
  readonly #work = new SerialQueue();
  #isStopped = false;
  /** How often in a row something that the log has, or may have, could not be taken over. */
  #failures = 0;
  /** Set until that is tried again. */
  #again: unknown = null;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    this.#stopHearing = deps.duty.onLeft(() => void this.takeOver());
  }

  /** Goes on with all configs that no other process cares for, if need be after some time. Never rejects. */
  takeOver(): Promise<void> {
    return this.#work.run(async () => {
      this.#forgetRetry();
      if (await this.#takeOverAll()) this.#failures = 0;
      else this.#takeOverLater();
    });
  }

  /** Resolves when the config would survive a crash. */
  async register(
    { sessionId, turnId, afterSeq, config, hasBegun }: Registration,
    context: RequestContext,
  ): Promise<ShownPushConfig> {
    const { bus, sender, book, duty, key } = this.#deps;
    await sender.check(config.url).catch((error: unknown) => refuseAddress(error));
    return this.#work.run(async () => {
      const stream = pushStream({ sessionId, turnId }, config.id);
      // So the receiver finds the key before the first notification, and a key that is lost is noticed now.
      await key.signer();
      this.#requireCapacity(stream, { sessionId, turnId }, context);
      const { head } = await bus.send('session.position', { sessionId }, context);
      // The look-up of the address takes time.
      if (hasBegun && head === 0) throw deletedMeanwhile(sessionId);
      const { principal, tenant, agent } = context;
      const client = { principal, tenant, agent };
      const pushId = crypto.randomUUID();
      const push = { config, pushId, client, sessionId, turnId, afterSeq, head };
      try {
        await this.#end(stream);
        await duty.claim(stream);
        this.#start(await book.keep(push, requestOrigin(context)), hasBegun);
      } catch (error) {
        // The log may have the config nevertheless, or still the one before, and no other process cares for it.
        this.#takeOverLater();
        throw error;
      }
      return shown(config);
    });
  }

  async list(turn: { readonly sessionId: SessionId; readonly turnId: TurnId }): Promise<ShownPushConfig[]> {
    const { book } = this.#deps;
    const stored = await Promise.all((await book.streamsOf(turn)).map((stream) => book.read(stream)));
    return stored.flatMap((one) => (one ? [shown(one.push.config)] : []));
  }

  /** Resolves when nothing more is sent by this process. */
  end(turn: { readonly sessionId: SessionId; readonly turnId: TurnId }, configId: string): Promise<void> {
    return this.#work.run(() => this.#end(pushStream(turn, configId)));
  }

  keys(): Promise<readonly PublicKey[]> {
    return this.#deps.key.published();
  }

  /** The configs stay in the log. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#forgetRetry();
    this.#stopHearing();
    await this.#work.settled();
    for (const { delivery } of this.#running.values()) delivery.stop();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #takeOverLater(): void {
    if (this.#isStopped || this.#again !== null) return;
    this.#failures += 1;
    this.#again = this.#deps.clock.setTimeout(() => void this.takeOver(), retryDelayMs(this.#failures));
  }

  #forgetRetry(): void {
    this.#deps.clock.clearTimeout(this.#again);
    this.#again = null;
  }

  /** @returns whether nothing is left that may succeed later. */
  async #takeOverAll(): Promise<boolean> {
    const { book, log } = this.#deps;
    await book.sealKeyAnew().catch((err: unknown) => log.warn({ err }, STILL_FORMER_KEY));
    let isWhole = true;
    try {
      const streams = await book.allStreams();
      for (const stream of streams.filter((id) => !this.#running.has(id)))
        if (!(await this.#resume(stream))) isWhole = false;
    } catch (err) {
      log[levelOfFailure(err)]({ err }, 'configs for push notifications could not be read');
      isWhole = false;
    }
    return isWhole;
  }

  /** @returns whether the config goes on, at whatever process, or never can. */
  async #resume(stream: StreamId): Promise<boolean> {
    const { book, duty, log } = this.#deps;
    if (this.#isStopped) return true;
    try {
      if (!(await duty.claim(stream))) return true;
      const kept = await book.read(stream);
      const stored =
        kept &&
        (await book.sealedAnew(kept).catch((err: unknown) => {
          log.warn({ stream, err }, STILL_FORMER_KEY);
          return book.read(stream);
        }));
      if (stored) this.#start(stored, true);
      return true;
    } catch (err) {
      log[levelOfFailure(err)]({ stream, err }, 'a config for push notifications cannot be used');
      // The key that it is encrypted with comes back with a start, if at all.
      return err instanceof SealedError;
    }
  }

  #start(stored: StoredPush, hasBegun: boolean): void {
    const { key, duty, ...deps } = this.#deps;
    const delivery = new PushDelivery(stored, { ...deps, signer: () => key.signer() });
    const { stream } = stored;
    const running = {
      stored,
      delivery,
      ended: delivery.run(hasBegun).then(() => {
        if (this.#running.get(stream) === running) this.#running.delete(stream);
        duty.release(stream);
      }),
    };
    this.#running.set(stream, running);
  }

  async #end(stream: StreamId): Promise<void> {
    const running = this.#running.get(stream);
    running?.delivery.stop();
    await running?.ended;
    await this.#deps.book.erase(stream);
  }

  #requireCapacity(
    stream: StreamId,
    { sessionId, turnId }: Pick<Registration, 'sessionId' | 'turnId'>,
    { principal, tenant }: RequestContext,
  ): void {
    const others = [...this.#running].filter(([id]) => id !== stream).map(([, { stored }]) => stored.push);
    const ofTurn = others.filter((one) => one.sessionId === sessionId && one.turnId === turnId);
    if (ofTurn.length >= MAX_OF_TURN) throw tooMany('task', MAX_OF_TURN);
    const own = others.filter(({ client }) => client.principal === principal && client.tenant === tenant);
    if (own.length >= MAX_OF_PRINCIPAL) throw tooMany('principal', MAX_OF_PRINCIPAL);
  }
}

function shown({ id, url, authentication }: PushConfig): ShownPushConfig {
  return { id, url, ...(authentication && { scheme: authentication.scheme }) };
}

function refuseAddress(error: unknown): never {
  if (!(error instanceof PushAddressError)) throw error;
  throw new ServiceError('INVALID_REQUEST', 'The service sends no notifications to this address.', {
    field: 'url',
    issue: error.message,
  });
}

function deletedMeanwhile(sessionId: SessionId): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', 'The session was deleted.', { sessionId });
}

function tooMany(of: 'task' | 'principal', most: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'There are too many configs for push notifications.', {
    of,
    issue: `a ${of} has at most ${most}`,
    suggestion: 'Delete one, or wait until a task has ended.',
  });
}
