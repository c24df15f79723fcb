import style from './json.module.css';

/** A value as indented JSON. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <pre className={style.json} tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
