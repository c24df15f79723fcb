import type { Image } from '../../core/conversation/image.ts';
import { get } from './api.ts';
import { getAgain } from './get-again.ts';
import { sessionPath } from './paths.ts';

/** The image of the message that was recorded with this seq. */
export async function imageOf(sessionId: string, seq: number): Promise<Image> {
  return (await get<{ image: Image }>(pathOf(sessionId, seq))).image;
}

/** The same, asked for again while the service cannot answer for now. */
export async function imageToShow(sessionId: string, seq: number, signal: AbortSignal): Promise<Image> {
  return (await getAgain<{ image: Image }>(pathOf(sessionId, seq), signal)).image;
}

function pathOf(sessionId: string, seq: number): string {
  return `${sessionPath(sessionId)}/images/${seq}`;
}
