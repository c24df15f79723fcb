// The index of the package would load a validator that compiles code, which the page's policy forbids.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import { type ReactNode, useState } from 'react';
import { schemaValidator } from './schema-validator.ts';

const uiSchema: UiSchema = { 'ui:submitButtonOptions': { norender: true }, 'ui:title': '' };

interface SchemaFormProps {
  readonly schema: RJSFSchema;
  readonly idPrefix: string;
  /** Gets the values when they fit the schema. */
  readonly onSubmit: (values: unknown) => void;
  /** The values do not fit. The form shows the errors beside its fields. */
  readonly onError?: () => void;
  /** The buttons. */
  readonly children: ReactNode;
}

/** A form that is generated from its schema. It is large: load it where it is needed. */
export function SchemaForm({ schema, idPrefix, onSubmit, onError, children }: SchemaFormProps) {
  const [values, setValues] = useState<unknown>({});
  return (
    <Form
      schema={schema}
      uiSchema={uiSchema}
      validator={schemaValidator}
      formData={values}
      idPrefix={idPrefix}
      onChange={({ formData }) => setValues(formData ?? {})}
      onSubmit={() => onSubmit(values)}
      // Without this, the form would log the errors, too.
      onError={() => onError?.()}
      showErrorList={false}
      noHtml5Validate
    >
      {children}
    </Form>
  );
}
