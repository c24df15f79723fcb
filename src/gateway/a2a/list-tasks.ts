import { ServiceError } from '../../core/errors.ts';
import { SessionId } from '../../core/ids.ts';
import { MEGABYTE } from '../../core/size-limits.ts';
import type { A2aCall } from './a2a-call.ts';
import type { Task } from './a2a-objects.ts';
import { ANY_STATE, type ListTasksRequest, type ListTasksResponse } from './a2a-requests.ts';
import { contextTasks } from './context-tasks.ts';
import { withHistory } from './recorded-task.ts';

const PAGE_SIZE = 50;
/** A page ends with the task that goes beyond this. To write hundreds of megabytes at once holds up everybody for seconds. */
const PAGE_CHARACTERS = 8 * MEGABYTE;
const PAGE_SESSIONS = 200;
/** Further contexts are read only as far as the page needs them, and their tasks do not count in the total. */
const COUNTED_CONTEXTS = 200;

/** A context, and when its last event was. */
interface Context {
  readonly sessionId: SessionId;
  readonly updatedAt: string;
}

/** A task without what was said, so that all of them fit into memory. */
interface ListedTask extends Pick<Task, 'id' | 'contextId'> {
  readonly status: Pick<Task['status'], 'state' | 'timestamp'>;
}

/** The tasks of a context or of all, those first that have changed last. */
export async function listTasks(call: A2aCall, asked: ListTasksRequest): Promise<ListTasksResponse> {
  const { pageSize = PAGE_SIZE, pageToken = '', historyLength } = asked;
  const includeArtifacts = String(asked.includeArtifacts) === 'true';
  const isLater = pageToken === '' ? () => true : behind(pageToken);
  const contexts = await contextsOf(call, asked.contextId);
  const tasks: ListedTask[] = [];
  for (const [index, { sessionId, updatedAt }] of contexts.entries()) {
    if (index >= COUNTED_CONTEXTS && hasAll(tasks.filter(isLater), pageSize, updatedAt)) break;
    const all = await contextTasks(call, sessionId);
    tasks.push(...all.filter((task) => isWanted(task, asked)).map(listed));
  }
  const rest = tasks.filter(isLater).sort(newestFirst);
  const wanted = rest.slice(0, pageSize);
  const whole = await readAgain(call, wanted);
  const page = firstOf(whole.map((task) => shown(withHistory(task, historyLength), includeArtifacts)));
  // A task that has gone meanwhile is behind us all the same.
  const last = page.length < whole.length ? page.at(-1) : wanted.at(-1);
  return {
    tasks: page,
    nextPageToken: last && last.id !== rest.at(-1)?.id ? tokenOf(last) : '',
    pageSize,
    totalSize: tasks.length,
  };
}

/** Contexts that have changed last come first. */
async function contextsOf({ bus, context }: A2aCall, contextId = ''): Promise<Context[]> {
  if (contextId !== '') {
    const { data: sessionId } = SessionId.safeParse(contextId);
    // No session has an id of another form.
    return sessionId === undefined ? [] : [{ sessionId, updatedAt: '' }];
  }
  const contexts: Context[] = [];
  for (let after: SessionId | undefined; ; after = contexts.at(-1)?.sessionId) {
    const request = { limit: PAGE_SESSIONS, ...(after !== undefined && { after }) };
    const page = await bus.send('session.list', request, context);
    contexts.push(...page);
    if (page.length < PAGE_SESSIONS) break;
  }
  return contexts.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}

function listed({ id, contextId, status: { state, timestamp } }: Task): ListedTask {
  return { id, contextId, status: { state, timestamp } };
}

/** The whole tasks, in the same order. One that has gone meanwhile is left out. */
async function readAgain(call: A2aCall, page: readonly ListedTask[]): Promise<Task[]> {
  const whole = new Map<string, Task>();
  const wanted = new Set(page.map(({ id }) => id));
  for (const contextId of new Set(page.map((task) => task.contextId)))
    for (const task of await contextTasks(call, contextId)) if (wanted.has(task.id)) whole.set(task.id, task);
  return page.flatMap(({ id }) => whole.get(id) ?? []);
}

/** Whether the page, and one task behind it, are older than nothing that follows. */
function hasAll(tasks: ListedTask[], pageSize: number, updatedAt: string): boolean {
  const last = tasks.sort(newestFirst)[pageSize];
  return last !== undefined && last.status.timestamp > updatedAt;
}

function isWanted({ status }: Task, { status: state, statusTimestampAfter }: ListTasksRequest): boolean {
  if (state !== undefined && !ANY_STATE.includes(state) && state !== status.state) return false;
  return (
    statusTimestampAfter === undefined || Date.parse(status.timestamp) >= Date.parse(statusTimestampAfter)
  );
}

/** Times are all of the same form, so they compare as texts. */
function newestFirst(a: ListedTask, b: ListedTask): number {
  return positionOf(a) < positionOf(b) ? 1 : -1;
}

function positionOf({ id, status }: ListedTask): string {
  return `${status.timestamp} ${id}`;
}

function tokenOf(task: ListedTask): string {
  return Buffer.from(positionOf(task)).toString('base64url');
}

/** Whether a task stands behind the last one of the page that gave the token. */
function behind(token: string): (task: ListedTask) => boolean {
  const position = Buffer.from(token, 'base64url').toString();
  if (!/^\d{4}-\S+Z \S+$/.test(position))
    throw new ServiceError('INVALID_REQUEST', 'The page token is not one of this service.', {
      field: 'pageToken',
      issue: 'it cannot be read',
      suggestion: 'Send the nextPageToken of the page before.',
    });
  return (task) => positionOf(task) < position;
}

/** As many as a page may have by their sizes, one at least. */
export function firstOf(tasks: readonly Task[], maxCharacters = PAGE_CHARACTERS): Task[] {
  let characters = 0;
  const end = tasks.findIndex((task) => {
    characters += JSON.stringify(task).length;
    return characters > maxCharacters;
  });
  return tasks.slice(0, end === -1 ? tasks.length : end + 1);
}

function shown(task: Task, includeArtifacts: boolean): Task {
  const { artifacts = [], ...others } = task;
  return includeArtifacts ? { ...others, artifacts } : others;
}
