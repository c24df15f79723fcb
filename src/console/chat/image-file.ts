import type { Image } from '../../core/conversation/image.ts';

const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** Reads an image file. Rejects types that the service does not accept. */
export async function imageOf(file: File): Promise<Image> {
  const mimeType = types.find((type) => type === file.type);
  if (!mimeType) throw new Error(`${file.type} is not accepted: choose a PNG, JPEG, GIF or WebP image.`);
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
  return { mimeType, base64: url.slice(url.indexOf(',') + 1) };
}
