import { type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { listed, ReadReply, replyOf } from '../a2a/a2a-client.ts';
import type { KilledService } from '../crash/killed-service.ts';
import { eventually } from '../project/eventually.ts';

const OVER: readonly (TaskState | undefined)[] = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
];

/** An A2A client that subscribes to each task of a context, and says nothing. */
export class TaskWatcher {
  readonly #service: KilledService;
  readonly #client: Client;
  readonly #contextId: string;
  readonly #seen = new Set<string>();

  constructor(service: KilledService, client: Client, contextId: string) {
    this.#service = service;
    this.#client = client;
    this.#contextId = contextId;
  }

  /** The task that is new in the context, as soon as there is one. */
  async newTask(): Promise<WatchedTask> {
    const id = await eventually(
      async () => (await this.tasks()).map((task) => task.id).find((one) => !this.#seen.has(one)) ?? '',
      (found) => found !== '',
    );
    this.#seen.add(id);
    return new WatchedTask(this.#service, this.#client, id);
  }

  /** All tasks of the context, oldest first. */
  async tasks(): Promise<Task[]> {
    const request = listed({ contextId: this.#contextId, includeArtifacts: true });
    const { tasks } = await this.#service.throughKills(() => this.#client.listTasks(request));
    return tasks.toReversed();
  }
}

/** What a subscriber has of a task, who comes back after each kill. */
export class WatchedTask {
  readonly states: TaskState[] = [];
  /** Resolves to the reply when the task is over. */
  readonly reply: Promise<string>;
  readonly #read = new ReadReply();
  readonly #client: Client;
  readonly #id: string;

  constructor(service: KilledService, client: Client, id: string) {
    this.#client = client;
    this.#id = id;
    this.reply = service.throughKills(() => this.#follow());
    // The test may fail before it waits for the reply.
    this.reply.catch(() => undefined);
  }

  /** Resolves when the reply begins with this text. */
  async says(text: string): Promise<void> {
    await eventually(
      async () => this.#read.text,
      (said) => said.startsWith(text),
    );
  }

  async reaches(state: TaskState): Promise<void> {
    await eventually(
      async () => this.states,
      (states) => states.includes(state),
    );
  }

  async #follow(): Promise<string> {
    const task = await this.#client.getTask({ tenant: '', id: this.#id });
    this.#note(task.status?.state);
    // A task that is over has no subscribers.
    if (OVER.includes(task.status?.state)) return replyOf(task);
    for await (const event of this.#client.resubscribeTask({ tenant: '', id: this.#id })) {
      const { payload } = event;
      this.#read.take(event);
      if (payload?.$case === 'task' || payload?.$case === 'statusUpdate')
        this.#note(payload.value.status?.state);
    }
    if (!OVER.includes(this.states.at(-1))) throw new Error(`the stream of task ${this.#id} ended before it`);
    return this.#read.text;
  }

  #note(state: TaskState | undefined): void {
    if (state !== undefined && state !== this.states.at(-1)) this.states.push(state);
  }
}
