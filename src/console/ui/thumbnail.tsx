import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import style from './thumbnail.module.css';

/** A small picture that a click enlarges. */
export function Thumbnail({ src, alt }: { readonly src: string; readonly alt: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={style.thumbnail} onClick={() => setOpen(true)}>
        <img src={src} alt={`${alt}: enlarge`} loading="lazy" />
      </button>
      {isOpen && (
        <Dialog title={alt} onClose={() => setOpen(false)}>
          <img className={style.large} src={src} alt={alt} />
        </Dialog>
      )}
    </>
  );
}
