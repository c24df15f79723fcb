import { ServiceError } from '../../core/errors.ts';
import { SessionId } from '../../core/ids.ts';
import type { A2aCall } from './a2a-call.ts';
import type { Task } from './a2a-objects.ts';
import type { ListTasksRequest, ListTasksResponse } from './a2a-requests.ts';
import { contextTasks } from './context-tasks.ts';
import { withHistory } from './recorded-task.ts';

const PAGE_SIZE = 50;
const PAGE_SESSIONS = 200;
/** Further contexts are read only as far as the page needs them, and their tasks do not count in the total. */
const COUNTED_CONTEXTS = 200;

/** A context, and when its last event was. */
interface Context {
  readonly sessionId: SessionId;
  readonly updatedAt: string;
}

/** The tasks of a context or of all, those first that have changed last. */
export async function listTasks(call: A2aCall, asked: ListTasksRequest): Promise<ListTasksResponse> {
  const { pageSize = PAGE_SIZE, pageToken = '', historyLength } = asked;
  const includeArtifacts = String(asked.includeArtifacts) === 'true';
  const isLater = pageToken === '' ? () => true : behind(pageToken);
  const contexts = await contextsOf(call, asked.contextId);
  const tasks: Task[] = [];
  for (const [index, { sessionId, updatedAt }] of contexts.entries()) {
    if (index >= COUNTED_CONTEXTS && hasAll(tasks.filter(isLater), pageSize, updatedAt)) break;
    tasks.push(...(await contextTasks(call, sessionId)).filter((task) => isWanted(task, asked)));
  }
  const rest = tasks.filter(isLater).sort(newestFirst);
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tasks: page.map((task) => shown(withHistory(task, historyLength), includeArtifacts)),
    nextPageToken: last && rest.length > page.length ? tokenOf(last) : '',
    pageSize,
    totalSize: tasks.length,
  };
}

/** Those that have changed last come first. */
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

/** Whether the page, and one task behind it, are older than nothing that follows. */
function hasAll(tasks: Task[], pageSize: number, updatedAt: string): boolean {
  const last = tasks.sort(newestFirst)[pageSize];
  return last !== undefined && last.status.timestamp > updatedAt;
}

function isWanted({ status }: Task, { status: state, statusTimestampAfter }: ListTasksRequest): boolean {
  if (state !== undefined && state !== 'TASK_STATE_UNSPECIFIED' && state !== status.state) return false;
  return (
    statusTimestampAfter === undefined || Date.parse(status.timestamp) >= Date.parse(statusTimestampAfter)
  );
}

/** Times are all of the same form, so they compare as texts. */
function newestFirst(a: Task, b: Task): number {
  return positionOf(a) < positionOf(b) ? 1 : -1;
}

function positionOf({ id, status }: Task): string {
  return `${status.timestamp} ${id}`;
}

function tokenOf(task: Task): string {
  return Buffer.from(positionOf(task)).toString('base64url');
}

/** Whether a task stands behind the last one of the page that gave the token. */
function behind(token: string): (task: Task) => boolean {
  const position = Buffer.from(token, 'base64url').toString();
  if (!/^\d{4}-\S+Z \S+$/.test(position))
    throw new ServiceError('INVALID_REQUEST', 'The page token is not one of this service.', {
      field: 'pageToken',
      issue: 'it cannot be read',
      suggestion: 'Send the nextPageToken of the page before.',
    });
  return (task) => positionOf(task) < position;
}

function shown(task: Task, includeArtifacts: boolean): Task {
  const { artifacts = [], ...others } = task;
  return includeArtifacts ? { ...others, artifacts } : others;
}
