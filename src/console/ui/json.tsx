import style from './json.module.css';

/** A value as indented JSON. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <pre className={style.json} tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
