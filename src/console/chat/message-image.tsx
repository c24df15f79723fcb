import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { imageToShow } from '../service/image-of.ts';
import { Thumbnail } from '../ui/thumbnail.tsx';

/** The image that came with a message. It is loaded when it is about to be seen. */
export function MessageImage({ sessionId, seq }: { readonly sessionId: string; readonly seq: number }) {
  const place = useRef<HTMLSpanElement>(null);
  const isNear = useIsNear(place);
  const [image, setImage] = useState<Image | null>(null);
  useEffect(() => {
    if (!isNear) return undefined;
    const loading = new AbortController();
    imageToShow(sessionId, seq, loading.signal).then(setImage, () => undefined); // The badge still tells of it.
    return () => loading.abort();
  }, [isNear, sessionId, seq]);
  if (!image) return <span ref={place} />;
  return <Thumbnail src={`data:${image.mimeType};base64,${image.base64}`} alt="Image of the message" />;
}

/** Whether the element is, or was, within a screen of what the reader sees. */
function useIsNear(place: RefObject<Element | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: '100%' },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return isNear;
}
