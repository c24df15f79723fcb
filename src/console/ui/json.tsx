import { visible } from '../../core/visible.ts';
import style from './json.module.css';

/** A value as indented JSON. Characters that are not seen are escaped. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <pre className={style.json} tabIndex={0}>
      {visible(JSON.stringify(value, null, 2) ?? '')}
    </pre>
  );
}
