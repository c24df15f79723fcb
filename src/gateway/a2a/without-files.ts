import { imageBytes } from '../../core/conversation/image.ts';
import { sizeText } from '../../core/size-limits.ts';
import type { Part, Task } from './a2a-objects.ts';

/**
 * The task as streams and push notifications have it: its history describes the files, instead of their bytes. Clients refuse
 * events that are larger than some megabytes, and they can get the files with the task.
 */
export function withoutFiles(task: Task): Task {
  if (!task.history) return task;
  return {
    ...task,
    history: task.history.map((message) => ({ ...message, parts: message.parts.map(described) })),
  };
}

function described(part: Part): Part {
  const { raw, mediaType = 'file' } = part;
  if (raw === undefined) return part;
  return { text: `[${mediaType}, ${sizeText(imageBytes({ base64: raw }))}]`, mediaType: 'text/plain' };
}
