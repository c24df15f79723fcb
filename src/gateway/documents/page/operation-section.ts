import type { JsonSchema } from '../json-schema.ts';
import type { OpenApiDocument } from '../open-api.ts';
import type { ExampleObject, ParameterObject, ResponseObject } from '../open-api-operation.ts';
import { JSON_TYPE } from '../operations/operation.ts';
import { curlLine } from './curl-line.ts';
import type { Endpoint } from './endpoint.ts';
import { type Html, html, prose } from './html.ts';
import { nameIn, typeOf } from './schema-fields.ts';
import { fieldTable, schemaTables } from './schema-table.ts';

type Schemas = OpenApiDocument['components']['schemas'];

/** @param host under which the reader reaches the service. */
export function operationSection(endpoint: Endpoint, schemas: Schemas, host: string): Html {
  const { method, path, operation } = endpoint;
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const body = requestBody?.content[JSON_TYPE]?.schema;
  return html`<section class="operation" aria-labelledby="${operationId}">
<h4 id="${operationId}"><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></a></h4>
<p class="summary">${summary}</p>
${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
${parameters.length === 0 ? undefined : fieldTable(parameters.map(parameterField), 'Parameters')}
${body && schemaTables(resolved(body, schemas), requestBody.required ? 'Body' : 'Body (optional)')}
${Object.entries(responses).map(([status, response]) => responseSection(status, response, schemas))}
${Object.entries(responses['200']?.content ?? {}).flatMap(([mediaType, { examples = {} }]) =>
  Object.entries(examples).map(([name, example]) =>
    exampleSection(example, curlLine(endpoint, { name, mediaType, host })),
  ),
)}
</section>`;
}

function parameterField({ name, in: place, required, description = '', schema }: ParameterObject) {
  return { name, type: `${typeOf(schema)} (${place})`, required, description };
}

function responseSection(status: string, { description, content }: ResponseObject, schemas: Schemas): Html {
  if (status !== '200')
    return html`<p class="failure"><span class="status">${status}</span> ${prose(description)}</p>`;
  return html`${Object.entries(content).map(([mediaType, { schema }]) =>
    schemaTables(resolved(schema, schemas), `Answer 200, ${mediaType}`),
  )}`;
}

function exampleSection(example: ExampleObject, curl: string): Html {
  if (!('value' in example)) return html``;
  const { summary = '', value } = example;
  const answer = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<details><summary>${summary}</summary>
<pre tabindex="0" aria-label="Request"><code>${curl}</code></pre>
<pre tabindex="0" aria-label="Answer"><code>${answer}</code></pre></details>`;
}

function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  return (schema.$ref !== undefined && schemas[nameIn(schema.$ref)]) || schema;
}
