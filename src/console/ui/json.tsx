import style from './json.module.css';

/** A value as indented JSON. */
export function Json({ value }: { readonly value: unknown }) {
  return <pre className={style.json}>{JSON.stringify(value, null, 2)}</pre>;
}
