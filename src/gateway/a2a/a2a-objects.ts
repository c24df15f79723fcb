import { z } from 'zod';
import { optional } from '../../wire/requests.ts';

/* The objects of A2A 1.0 in its JSON: enums by their names, and no field that is empty. */

/** In the JSON of proto3, an empty text is an absent one. */
export const optionalText = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), optional(schema)).optional();

const Metadata = z.record(z.string(), z.unknown());

export const Part = z.object({
  text: optional(z.string()),
  raw: optional(z.string()).describe('The content of a file, in base64.'),
  url: optional(z.string()),
  data: z.unknown().optional().describe('Any JSON value.'),
  metadata: optional(Metadata),
  filename: optional(z.string()),
  mediaType: optional(z.string()),
});
export type Part = z.infer<typeof Part>;

export const Message = z.object({
  messageId: z.string().min(1).max(200),
  contextId: optionalText(z.string()),
  taskId: optionalText(z.string()),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(Part),
  metadata: optional(Metadata),
});
export type Message = z.infer<typeof Message>;

export const TaskState = z.enum([
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
]);
export type TaskState = z.infer<typeof TaskState>;

const TaskStatus = z.object({
  state: TaskState,
  message: Message.optional(),
  timestamp: z.string().describe('When the task came into this state.'),
});

export const Artifact = z.object({ artifactId: z.string(), name: z.string(), parts: z.array(Part) });
export type Artifact = z.infer<typeof Artifact>;

export const Task = z.object({
  id: z.string(),
  contextId: z.string(),
  status: TaskStatus,
  artifacts: z.array(Artifact).optional().describe('The reply.'),
  history: z.array(Message).optional(),
  metadata: Metadata.optional().describe('`toolCalls`: the tools that were called, and what became of them.'),
});
export type Task = z.infer<typeof Task>;

const StatusUpdate = z.object({
  taskId: z.string(),
  contextId: z.string(),
  status: TaskStatus,
  metadata: Metadata.optional().describe('`toolCall`: a tool call that has begun or ended.'),
});

const ArtifactUpdate = z.object({
  taskId: z.string(),
  contextId: z.string(),
  artifact: Artifact,
  append: z.literal(true).optional().describe('Absent: in place of what came before.'),
  lastChunk: z.literal(true).optional(),
});

/** One event of a stream, and the body of a push notification. */
export const StreamResponse = z.union([
  z.object({ task: Task }),
  z.object({ statusUpdate: StatusUpdate }),
  z.object({ artifactUpdate: ArtifactUpdate }),
]);
export type StreamResponse = z.infer<typeof StreamResponse>;

export const SendMessageResponse = z.object({ task: Task });
export type SendMessageResponse = z.infer<typeof SendMessageResponse>;

const ENDED: ReadonlySet<TaskState> = new Set<TaskState>([
  ...(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'] as const),
]);

/** Nothing happens to the task any more. */
export function hasEnded({ status }: Pick<Task, 'status'>): boolean {
  return ENDED.has(status.state);
}
