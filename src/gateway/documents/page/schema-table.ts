import type { JsonSchema } from '../json-schema.ts';
import { type Html, html, prose } from './html.ts';
import { type Field, formsOf } from './schema-fields.ts';

/** The fields of a schema, with one table for each form. */
export function schemaTables(schema: JsonSchema, caption: string): Html {
  const forms = formsOf(schema).filter(({ fields }) => fields.length > 0);
  return html`${forms.map(({ label, fields }) =>
    fieldTable(fields, label === '' || forms.length === 1 ? caption : `${caption}, ${label}`),
  )}`;
}

/** @param caption names the owner of the fields. */
export function fieldTable(fields: readonly Field[], caption: string): Html {
  return html`<div class="table" role="group" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${fields.map(fieldRow)}</tbody></table></div>`;
}

function fieldRow({ name, type, reference, required, description }: Field): Html {
  const mark = required ? undefined : html` <span class="optional">optional</span>`;
  return html`<tr><th scope="row"><code>${name}</code>${mark}</th><td>${
    reference === undefined ? type : html`<a href="#schema-${reference}">${type}</a>`
  }</td><td>${prose(description)}</td></tr>`;
}
