import type { Image } from '../../core/conversation/image.ts';

const images = new Map<string, Image>();
const listeners = new Set<() => void>();

/** The images of unsent messages. They are kept in memory, because the storage of a browser has no room for them. */
export const keptImages = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  get(key: string): Image | null {
    return images.get(key) ?? null;
  },

  set(key: string, image: Image | null): void {
    if (image) images.set(key, image);
    else images.delete(key);
    for (const listener of listeners) listener();
  },
};
