import type { Image } from '../../core/conversation/image.ts';
import { get } from './api.ts';
import { sessionPath } from './paths.ts';

/** The image of the message that was recorded with this seq. */
export async function imageOf(sessionId: string, seq: number, signal?: AbortSignal): Promise<Image> {
  return (await get<{ image: Image }>(`${sessionPath(sessionId)}/images/${seq}`, signal)).image;
}
