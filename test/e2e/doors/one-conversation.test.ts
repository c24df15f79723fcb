import { TaskState } from '@a2a-js/sdk';
import { describe, expect } from 'vitest';
import { replyOf } from '../../support/a2a/a2a-client.ts';
import { type DoorsRig, startDoors } from '../../support/doors/doors-rig.ts';
import { SESSION, SHARED_SESSION } from '../../support/doors/five-doors.ts';
import { endOfText, endWithCall, type HeldReply } from '../../support/doors/held-model.ts';
import { TaskWatcher, type WatchedTask } from '../../support/doors/task-watcher.ts';
import { readBy, toldStory } from '../../support/doors/told-story.ts';
import { eventually } from '../../support/project/eventually.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

/** Where the service is killed, in the order of the story. */
const MOMENTS = [
  'before the first message',
  'while the model answers the WebSocket',
  'before the response',
  'while the model answers the response',
  'before the chat completion',
  'while the model answers the chat completion',
  'before the call over MCP',
  'while the model answers the call over MCP',
  'while the MCP client is asked for approval',
  'while the tool runs',
  'while the model reads the result of the tool',
  'before the doors are compared',
] as const;
type Moment = (typeof MOMENTS)[number];

/** What each of these may do with the session of the client by WebSocket. */
const GRANTS = [
  { principal: 'key:openai', access: 'talk' },
  { principal: 'key:a2a', access: 'read' },
  { principal: 'key:mcp', access: 'talk' },
  { principal: 'key:mcp', access: 'approve' },
  { principal: 'key:ag-ui', access: 'read' },
];

/** Message and reply of each turn. */
const TURNS = [
  ['I am Ann.', 'Hello Ann.'],
  ['Where to?', 'To Rome.'],
  ['How?', 'By train.'],
  ['Pay the ticket.', 'I pay.\n\nIt is paid.'],
] as const;
const TEXTS = TURNS.flatMap(([said, reply]) => [said, ...reply.split('\n\n')]);

const INTERRUPTED =
  'The call was interrupted (the service stopped while it ran). It may or may not have taken effect.';

/** The whole log. */
function storyOf(killed: Moment | undefined): string[] {
  const at = (moment: Moment): string[] => (killed === moment ? ['service: turn.resumed'] : []);
  return [
    'key:websocket: turn.requested "I am Ann."',
    'key:websocket: turn.started',
    ...at('while the model answers the WebSocket'),
    'agent: step.completed "Hello Ann."',
    'agent: turn.completed "Hello Ann."',
    'key:openai: turn.requested "Where to?"',
    'key:openai: turn.started',
    ...at('while the model answers the response'),
    'agent: step.completed "To Rome."',
    'agent: turn.completed "To Rome."',
    'key:openai: turn.requested "How?"',
    'key:openai: turn.started',
    ...at('while the model answers the chat completion'),
    'agent: step.completed "By train."',
    'agent: turn.completed "By train."',
    'key:mcp: turn.requested "Pay the ticket."',
    'key:mcp: turn.started',
    ...at('while the model answers the call over MCP'),
    'agent: step.completed "I pay."',
    'agent: tool-call.requested',
    'agent: approval.requested',
    ...at('while the MCP client is asked for approval'),
    'key:mcp: approval.granted',
    ...(killed === 'while the tool runs'
      ? ['service: turn.resumed', 'service: tool-call.interrupted']
      : ['agent: tool-call.succeeded "paid"']),
    ...at('while the model reads the result of the tool'),
    'agent: step.completed "It is paid."',
    'agent: turn.completed "I pay.\n\nIt is paid."',
  ];
}

/** Tells the story at the doors, up to its end. */
class Storyteller {
  readonly replies: HeldReply[] = [];
  readonly watched: WatchedTask[] = [];
  readonly watcher: TaskWatcher;
  /** How often the MCP client was asked for approval. */
  asked = 0;
  readonly #rig: DoorsRig;
  readonly #killed: Moment | undefined;

  private constructor(rig: DoorsRig, watcher: TaskWatcher, killed: Moment | undefined) {
    this.#rig = rig;
    this.watcher = watcher;
    this.#killed = killed;
  }

  static async tell(rig: DoorsRig, killed: Moment | undefined): Promise<Storyteller> {
    const watcher = new TaskWatcher(rig.service, await rig.doors.a2a(), SHARED_SESSION);
    const teller = new Storyteller(rig, watcher, killed);
    await teller.#begin();
    await teller.#respond();
    await teller.#complete();
    await teller.#pay();
    await teller.#reach('before the doors are compared');
    return teller;
  }

  async #begin(): Promise<void> {
    const { doors } = this.#rig;
    await doors.websocket.ready();
    await this.#reach('before the first message');
    const reply = this.#next('Hello', ...endOfText(' Ann.'));
    const asking = doors.websocket.ask('I am Ann.');
    await called(reply);
    for (const grant of GRANTS) {
      const init = { method: 'POST', body: JSON.stringify(grant) };
      expect((await doors.fetch(`/api/sessions/${SESSION}/grants`, init)).status).toBe(200);
    }
    await this.#watch('Hello');
    await this.#reach('while the model answers the WebSocket');
    reply.release();
    expect(await asking).toBe('Hello Ann.');
  }

  async #respond(): Promise<void> {
    await this.#reach('before the response');
    const reply = this.#next('To', ...endOfText(' Rome.'));
    const asking = this.#rig.doors.respond('Where to?');
    await this.#watch('To');
    await this.#reach('while the model answers the response');
    reply.release();
    expect((await asking).output_text).toBe('To Rome.');
  }

  async #complete(): Promise<void> {
    await this.#reach('before the chat completion');
    const reply = this.#next('By', ...endOfText(' train.'));
    const asking = this.#rig.doors.complete('How?');
    await this.#watch('By');
    await this.#reach('while the model answers the chat completion');
    reply.release();
    expect(await asking).toBe('By train.');
  }

  async #pay(): Promise<void> {
    const { doors, tools } = this.#rig;
    await this.#reach('before the call over MCP');
    const first = this.#next('I pay.', ...endWithCall('c1', 'pay'));
    const asking = doors.callAgent('Pay the ticket.', () => this.#waitForApproval());
    await this.#watch('I pay.');
    await this.#reach('while the model answers the call over MCP');
    first.release();
    const call = await tools.call('pay');
    const second = this.#next('It', ...endOfText(' is paid.'));
    await this.#reach('while the tool runs');
    call.answer('paid');
    await called(second);
    await this.#reach('while the model reads the result of the tool');
    second.release();
    expect(await asking).toBe('I pay.\n\nIt is paid.');
  }

  /** The approval is shown at other doors, too, while the MCP client is asked for it. */
  async #waitForApproval(): Promise<void> {
    this.asked += 1;
    await this.watched.at(-1)?.reaches(TaskState.TASK_STATE_INPUT_REQUIRED);
    const page = this.#rig.doors.page();
    await page.run();
    expect(page.agent.pendingInterrupts).toMatchObject([{ toolCallId: 'c1', metadata: { toolName: 'pay' } }]);
    await this.#reach('while the MCP client is asked for approval');
  }

  #next(...reply: Parameters<DoorsRig['model']['next']>): HeldReply {
    const next = this.#rig.model.next(...reply);
    this.replies.push(next);
    return next;
  }

  async #watch(half: string): Promise<void> {
    const task = await this.watcher.newTask();
    this.watched.push(task);
    await task.says(half);
  }

  async #reach(moment: Moment): Promise<void> {
    if (moment !== this.#killed) return;
    await this.#rig.service.kill();
    await this.#rig.service.start();
  }
}

/** Resolves when the model is called for the reply. */
async function called({ calls }: HeldReply): Promise<void> {
  await eventually(
    async () => calls.length,
    (count) => count > 0,
  );
}

async function checkStory(killed: Moment | undefined): Promise<void> {
  await using rig = await startDoors();
  const teller = await Storyteller.tell(rig, killed);
  const { doors } = rig;
  // Each client repeats what it has said, as if it had heard no answer.
  expect((await doors.respond('Where to?')).output_text).toBe('To Rome.');
  expect(await doors.complete('How?')).toBe('By train.');
  expect(await doors.callAgent('Pay the ticket.', async () => expect.unreachable())).toBe(TURNS[3][1]);
  const exported = await doors.fetch(`/api/sessions/${SESSION}/export`);
  expect(toldStory(await exported.text())).toEqual(storyOf(killed));
  expect(teller.asked).toBe(1);
  expect(rig.tools.calls).toHaveLength(1);
  checkModel(teller, killed);
  await checkDoors(rig, teller, killed);
}

/** The model was shown each message once, and was called again only where a kill had cut it off. */
function checkModel({ replies }: Storyteller, killed: Moment | undefined): void {
  const result = killed === 'while the tool runs' ? INTERRUPTED : 'paid';
  const shown = [...TEXTS.slice(0, -1), result];
  const isCut = [
    killed === 'while the model answers the WebSocket',
    killed === 'while the model answers the response',
    killed === 'while the model answers the chat completion',
    killed === 'while the model answers the call over MCP',
    killed === 'while the model reads the result of the tool',
  ];
  const counts = [1, 3, 5, 7, 9];
  expect(
    replies.map(({ calls }) => calls.map((messages) => messages.slice(1).map(({ content }) => content))),
  ).toEqual(
    counts.map((count, index) => Array.from({ length: isCut[index] ? 2 : 1 }, () => shown.slice(0, count))),
  );
}

async function checkDoors({ doors }: DoorsRig, teller: Storyteller, killed: Moment | undefined) {
  const result = killed === 'while the tool runs' ? INTERRUPTED : 'paid';
  expect(await readBy(doors.websocket, TURNS.length), 'the client by WebSocket').toEqual(TEXTS);
  using later = doors.openSocket();
  expect(await readBy(later, TURNS.length), 'a later client by WebSocket').toEqual(TEXTS);
  const { history } = await viewOf(doors, SESSION);
  expect(history.map(({ content }) => content.trim())).toEqual(TEXTS.toSpliced(-1, 0, result));

  const items: string[] = [];
  for await (const item of doors.conversations.items.list(SHARED_SESSION, { order: 'asc' })) {
    if (item.type === 'mcp_call') items.push(item.output ?? String(Object(item.error).content[0].text));
    if (item.type === 'message') items.push(...item.content.map((part) => ('text' in part ? part.text : '')));
  }
  const failure = killed === 'while the tool runs' ? 'the service stopped while it ran' : 'paid';
  expect(items, 'a client of OpenAI’s').toEqual(TEXTS.toSpliced(-1, 0, failure));

  const tasks = await teller.watcher.tasks();
  const said = tasks.map(({ history: messages }) => messages[0]?.parts[0]?.content?.value);
  expect(tasks.map((task, index) => [said[index], replyOf(task)])).toEqual(TURNS);
  expect(await Promise.all(teller.watched.map(({ reply }) => reply))).toEqual(
    TURNS.map(([, reply]) => reply),
  );
  const { TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_COMPLETED } = TaskState;
  expect(teller.watched.map(({ states }) => states)).toEqual([
    ...TURNS.slice(1).map(() => [TASK_STATE_WORKING, TASK_STATE_COMPLETED]),
    [TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_WORKING, TASK_STATE_COMPLETED],
  ]);

  const page = doors.page();
  await page.run();
  expect(page.agent.messages.map(({ content }) => content)).toEqual(TEXTS.toSpliced(-1, 0, result));
}

describe('one conversation at five doors', () => {
  verifies('doors.one', () => checkStory(undefined));

  for (const moment of MOMENTS) verifies('doors.killed', moment, () => checkStory(moment), 60_000);
});
