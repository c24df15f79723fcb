import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { post } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { type ConnectionFields, connectionOf, emptyConnection } from './connection-config.ts';
import { Field } from './field.tsx';
import style from './servers.module.css';

interface ConnectFormProps {
  readonly onConnected: (id: string) => void;
  readonly onCancel: () => void;
}

/** Connects a tool server at run time: a command on the machine of the service, or a URL. */
export function ConnectForm({ onConnected, onCancel }: ConnectFormProps) {
  const [fields, setFields] = useState(emptyConnection);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The form is above the list, which may be scrolled.
    form.current?.scrollIntoView({ block: 'center' });
    form.current?.querySelector<HTMLInputElement>('input:not([type=radio])')?.focus();
  }, []);
  const field = (name: keyof ConnectionFields) => ({
    value: fields[name],
    onChange: (value: string) => setFields({ ...fields, [name]: value }),
  });
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const { server } = await post<{ server: McpServerRecord }>('/api/connect-server', connectionOf(fields));
      onConnected(server.id);
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      className={style.connect}
      onSubmit={(event) => void submit(event)}
      aria-label="Connect a server"
    >
      <fieldset className={style.types}>
        <legend>Where it is</legend>
        {(['stdio', 'http'] as const).map((type) => (
          <label key={type}>
            <input
              type="radio"
              name="type"
              checked={fields.type === type}
              onChange={() => setFields({ ...fields, type })}
            />
            {type === 'stdio' ? 'A command on the machine of the service' : 'A URL'}
          </label>
        ))}
      </fieldset>
      <Field label="Name" required {...field('name')} />
      {fields.type === 'stdio' ? (
        <>
          <Field label="Command" required placeholder="npx" {...field('command')} />
          <Field label="Arguments, one a line" lines={3} {...field('args')} />
          <Field label="Environment, NAME=value a line" lines={2} {...field('env')} />
        </>
      ) : (
        <>
          <Field label="URL" required placeholder="http://127.0.0.1:3002/mcp" {...field('baseUrl')} />
          <Field label="Headers, Name: value a line" lines={2} {...field('headers')} />
        </>
      )}
      <Field label="Description" {...field('description')} />
      {problem !== null && (
        <p role="alert" className={style.error}>
          {problem}
        </p>
      )}
      <div className={style.actions}>
        <Button kind="primary" type="submit" disabled={isBusy}>
          {isBusy ? 'Connecting…' : 'Connect'}
        </Button>
        <Button onClick={onCancel}>Close</Button>
      </div>
    </form>
  );
}
