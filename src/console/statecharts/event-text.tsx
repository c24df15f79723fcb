import { meaningOf } from './event-meanings.ts';

/** An event of a machine and what it means. */
export function EventText({ label }: { readonly label: string }) {
  const meaning = meaningOf(label);
  return (
    <>
      <code>{label}</code>
      {meaning && <span> {meaning}</span>}
    </>
  );
}
