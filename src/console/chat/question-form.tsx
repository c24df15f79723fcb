import type { ReactNode } from 'react';
import type { InputForm } from '../../core/tool-call/input-form.ts';
import { Button } from '../ui/button.tsx';
import { SchemaForm } from '../ui/schema-form.tsx';
import type { QuestionReply } from './question-reply.ts';

interface QuestionFormProps {
  readonly schema: InputForm;
  readonly idPrefix: string;
  readonly isSent: boolean;
  readonly onReply: (reply: QuestionReply) => void;
  /** Stands beside the button that sends the form. */
  readonly children: ReactNode;
}

/** The form for the answer to what a tool server asks. */
export function QuestionForm({ schema, idPrefix, isSent, onReply, children }: QuestionFormProps) {
  return (
    <SchemaForm
      schema={schema}
      idPrefix={idPrefix}
      onSubmit={(content) => onReply({ action: 'accept', content })}
    >
      <Button kind="primary" type="submit" disabled={isSent}>
        Send
      </Button>
      {children}
    </SchemaForm>
  );
}
