import { useId } from 'react';
import style from './servers.module.css';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly required?: boolean;
  readonly placeholder?: string;
  /** Height of a multi-line field. Absent for a field of one line. */
  readonly lines?: number;
}

export function Field({ label, value, onChange, lines, ...props }: FieldProps) {
  const id = useId();
  return (
    <div className={style.field}>
      <label htmlFor={id}>{label}</label>
      {lines === undefined ? (
        <input id={id} value={value} onChange={(event) => onChange(event.target.value)} {...props} />
      ) : (
        <textarea id={id} rows={lines} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </div>
  );
}
