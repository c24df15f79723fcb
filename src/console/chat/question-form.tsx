// The index of the package would load a validator that compiles code, which the page's policy forbids.
import Form from '@rjsf/core/lib/components/Form.js';
import type { UiSchema } from '@rjsf/utils';
import { type ReactNode, useState } from 'react';
import type { InputForm } from '../../core/tool-call/input-form.ts';
import { schemaValidator } from '../servers/schema-validator.ts';
import { Button } from '../ui/button.tsx';
import type { QuestionReply } from './question-reply.ts';

const uiSchema: UiSchema = { 'ui:submitButtonOptions': { norender: true }, 'ui:title': '' };

interface QuestionFormProps {
  readonly schema: InputForm;
  readonly idPrefix: string;
  readonly isSent: boolean;
  readonly onReply: (reply: QuestionReply) => void;
  /** Stands beside the button that sends the form. */
  readonly children: ReactNode;
}

/** The form is generated from its schema. */
export function QuestionForm({ schema, idPrefix, isSent, onReply, children }: QuestionFormProps) {
  const [values, setValues] = useState<unknown>({});
  return (
    <Form
      schema={schema}
      uiSchema={uiSchema}
      validator={schemaValidator}
      formData={values}
      idPrefix={idPrefix}
      onChange={({ formData }) => setValues(formData ?? {})}
      onSubmit={() => onReply({ action: 'accept', content: values })}
      // The form shows the errors beside its fields; without this it would log them, too.
      onError={() => undefined}
      showErrorList={false}
      noHtml5Validate
    >
      <Button kind="primary" type="submit" disabled={isSent}>
        Send
      </Button>
      {children}
    </Form>
  );
}
