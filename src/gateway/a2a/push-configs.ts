import { ServiceError } from '../../core/errors.ts';
import { type PushConfig, PushConfigId, type ShownPushConfig } from '../../core/push/push-config.ts';
import type { A2aCall } from './a2a-call.ts';
import { a2aError } from './a2a-error.ts';
import { hasEnded } from './a2a-objects.ts';
import type {
  ListPushConfigsResponse,
  PushConfigRequest,
  SentPushConfig,
  ShownTaskPushConfig,
} from './a2a-requests.ts';
import { recordedTask } from './recorded-task.ts';
import { type TaskPlace, taskId, taskPlace } from './task-id.ts';

type PushCall = Pick<A2aCall, 'bus' | 'context' | 'log'>;

/** Throws if the task has ended: nothing would come. */
export async function createPushConfig(
  { bus, context }: PushCall,
  sent: SentPushConfig & { readonly taskId: string },
): Promise<ShownTaskPushConfig> {
  const { place, turn, task } = await recordedTask(bus, taskPlace(sent.taskId, context.agent), context);
  if (hasEnded(task))
    throw a2aError('UNSUPPORTED_OPERATION', 'The task has ended, and there is nothing to notify of.', {
      taskId: sent.taskId,
      state: task.status.state,
      suggestion: 'Get the task.',
    });
  const { sessionId, turnId } = place;
  const wanted = { sessionId, turnId, afterSeq: turn.begin - 1, config: configOf(sent), hasBegun: true };
  return shownIn(place, await bus.send('push.register', wanted, context));
}

export async function getPushConfig(
  call: PushCall,
  { taskId: id, id: configId }: PushConfigRequest,
): Promise<ShownTaskPushConfig> {
  const { configs } = await listPushConfigs(call, { taskId: id });
  const found = configs.find((config) => config.id === configId);
  if (found) return found;
  throw a2aError('TASK_NOT_FOUND', `The task has no config ${configId}.`, {
    taskId: id,
    configId,
    reason: 'A config ends with its task.',
  });
}

export async function listPushConfigs(
  { bus, context }: PushCall,
  { taskId: id }: { readonly taskId: string },
): Promise<ListPushConfigsResponse> {
  const { place } = await recordedTask(bus, taskPlace(id, context.agent), context);
  const { sessionId, turnId } = place;
  const configs = await bus.send('push.list', { sessionId, turnId }, context);
  return { configs: configs.map((config) => shownIn(place, config)) };
}

/** A config that is not there is deleted already. */
export async function deletePushConfig(
  { bus, context }: PushCall,
  { taskId: id, id: sent }: PushConfigRequest,
): Promise<Record<never, never>> {
  const { place } = await recordedTask(bus, taskPlace(id, context.agent), context);
  const { sessionId, turnId } = place;
  const { data: configId } = PushConfigId.safeParse(sent);
  // No config has an id of another form.
  if (configId !== undefined) await bus.send('push.end', { sessionId, turnId, configId }, context);
  return {};
}

/** The turn that a message is about to begin, or goes on with. */
interface AwaitedTurn {
  readonly place: TaskPlace;
  readonly afterSeq: number;
  readonly hasBegun: boolean;
}

/**
 * Registers the config that came with a message before the message is taken, so that a refused config refuses the message
 * and a receiver misses nothing. One that replaces a config of the task is registered after it.
 * @param take takes the message, and says the turn that it belongs to.
 */
export async function withPushConfig<T extends Pick<AwaitedTurn, 'place'>>(
  call: PushCall,
  sent: SentPushConfig | undefined,
  { place, afterSeq, hasBegun }: AwaitedTurn,
  take: () => Promise<T>,
): Promise<T> {
  if (!sent) return take();
  const { bus, context, log } = call;
  const config = configOf(sent);
  const { sessionId, turnId } = place;
  const register = () =>
    bus
      .send('push.register', { sessionId, turnId, afterSeq, config, hasBegun }, context)
      .catch((error: unknown) => refuseInMessage(error));
  const known = hasBegun ? await bus.send('push.list', { sessionId, turnId }, context) : [];
  // Clients send the config with each message. Without an id, it would be one more each time.
  if (sent.id === undefined && known.some(({ url }) => url === sent.url)) return take();
  // A message that is refused must leave the task the receiver that it has.
  if (known.some(({ id }) => id === config.id)) {
    const taken = await take();
    await register();
    return taken;
  }
  await register();
  const drop = () => bus.send('push.end', { sessionId, turnId, configId: config.id }, context);
  let taken: T;
  try {
    taken = await take();
  } catch (error) {
    // Not thrown: the client can do something about why its message was refused.
    await drop().catch((err: unknown) =>
      log.warn({ sessionId, turnId, err }, 'a push config stays without a turn'),
    );
    throw error;
  }
  if (taken.place.turnId === turnId) return taken;
  await drop();
  await notifyOfRepeated(call, { ...sent, id: config.id }, taken.place);
  return taken;
}

/** The turn of a message that was sent before has its config, unless the message came without one. */
async function notifyOfRepeated(call: PushCall, sent: SentPushConfig, place: TaskPlace): Promise<void> {
  const { bus, context } = call;
  const { task } = await recordedTask(bus, place, context);
  if (hasEnded(task)) return;
  const { configs } = await listPushConfigs(call, { taskId: task.id });
  if (configs.some(({ id, url }) => id === sent.id || url === sent.url)) return;
  await createPushConfig(call, { ...sent, taskId: task.id });
}

/** The config is a part of the message. */
function refuseInMessage(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'INVALID_REQUEST') throw error;
  const config = 'configuration.taskPushNotificationConfig';
  const field = typeof error.details.field === 'string' ? `${config}.${error.details.field}` : config;
  throw new ServiceError(error.code, error.message, { ...error.details, field }, error);
}

function configOf({ id, url, token, authentication }: SentPushConfig): PushConfig {
  return {
    id: id ?? crypto.randomUUID(),
    url,
    ...(token !== undefined && { token }),
    ...(authentication && { authentication }),
  };
}

function shownIn(place: TaskPlace, { id, url, scheme }: ShownPushConfig): ShownTaskPushConfig {
  return { id, taskId: taskId(place), url, ...(scheme !== undefined && { authentication: { scheme } }) };
}
