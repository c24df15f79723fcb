import { ErrorCode } from '../../../core/errors.ts';
import { errorCatalogue } from '../../../wire/error-catalogue.ts';
import type { AsyncApiDocument, MessageObject } from '../async-api.ts';
import type { OpenApiDocument } from '../open-api.ts';
import { bodiesOf, type Endpoint, endpointsOf } from './endpoint.ts';
import { type Html, html, prose } from './html.ts';
import { operationSection } from './operation-section.ts';
import { nameIn } from './schema-fields.ts';
import { schemaTables } from './schema-table.ts';

export interface Documents {
  readonly openApi: OpenApiDocument;
  readonly asyncApi: AsyncApiDocument;
}

/** Placeholder for the host under which the reader reaches the service. */
const HOST_MARK = 'agent-service.invalid';

/**
 * The page that shows both documents.
 *
 * @returns a function that inserts the host.
 */
export function docsPage(documents: Documents): (host: string) => string {
  // Built once, because building takes much longer than answering a request.
  const page = wholePage(documents, HOST_MARK);
  return (host) => page.replaceAll(HOST_MARK, html`${host}`.markup);
}

function wholePage({ openApi, asyncApi }: Documents, host: string): string {
  const endpoints = endpointsOf(openApi);
  const { title, version } = openApi.info;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} ${version}: the interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${navigation(openApi, endpoints)}
<main id="content" tabindex="-1">
${introduction(openApi, host)}
<h2 id="rest">REST</h2>
${openApi.tags.map(
  ({ name, description }) => html`<h3 id="${anchor(name)}">${name}</h3><p>${description}</p>
${endpoints
  .filter(({ operation }) => operation.tags.includes(name))
  .map((endpoint) => operationSection(endpoint, openApi.components.schemas, host))}`,
)}
${webSocketSection(asyncApi, host)}
${errorsSection()}
${schemasSection(openApi, endpoints)}
</main>
</body>
</html>
`.markup;
}

function navigation({ tags }: OpenApiDocument, endpoints: readonly Endpoint[]): Html {
  const groups = tags.map(
    ({ name }) =>
      html`<li><a href="#${anchor(name)}">${name}</a><ul>${endpoints
        .filter(({ operation }) => operation.tags.includes(name))
        .map(
          ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
        )}</ul></li>`,
  );
  return html`<nav aria-label="Contents"><ul>${groups}
<li><a href="#websocket">WebSocket</a></li><li><a href="#errors">Errors</a></li>
<li><a href="#schemas">Schemas</a></li></ul></nav>`;
}

function introduction(
  { info: { title, version, summary, description } }: OpenApiDocument,
  host: string,
): Html {
  return html`<header><h1>${title} <small>${version}</small></h1>
<p class="lead">${String(summary)}</p>
<p>${prose(String(description))}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1) and <a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0). This service answers at <code>${host}</code>.</p></header>`;
}

function webSocketSection({ channels, operations, components }: AsyncApiDocument, host: string): Html {
  const sections = Object.values(channels).map(
    ({ title, description, address, bindings }) => html`<h3>${title}</h3>
<p><code>ws://${host}${address}</code> ${prose(description)}</p>${schemaTables(bindings.ws.query, 'Parameters')}`,
  );
  const groups = Object.entries(operations)
    .filter(([id]) => id !== 'hearResuming')
    .map(
      ([, { summary, messages }]) =>
        html`<h3>${summary}</h3>${messages.map(({ $ref }) => {
          const message = components.messages[nameIn($ref)];
          return message && messageSection(nameIn($ref), message);
        })}`,
    );
  return html`<h2 id="websocket">WebSocket</h2>${sections}${groups}`;
}

function messageSection(id: string, { name, summary, payload, examples }: MessageObject): Html {
  return html`<details class="message" id="${id}"><summary><code>${name}</code> ${prose(summary)}</summary>
${schemaTables(payload, 'Fields')}
${examples.map((example) => html`<pre tabindex="0" aria-label="Example"><code>${JSON.stringify(example.payload)}</code></pre>`)}</details>`;
}

function errorsSection(): Html {
  const rows = ErrorCode.options.map((code) => {
    const { status, condition } = errorCatalogue[code];
    return html`<tr><th scope="row"><code>${code}</code></th><td>${status}</td><td>${prose(condition)}</td></tr>`;
  });
  return html`<h2 id="errors">Errors</h2>
<p>Every REST error is an <a href="#schema-ErrorResponse">ErrorResponse</a>, and those of OpenAI's interface have its form; over WebSocket its <code>error</code> is the data of an <code>error</code> frame.</p>
<div class="table" role="group" aria-label="Errors" tabindex="0"><table>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Condition</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** Schemas that other schemas refer to. The other bodies of requests and answers are shown with their operations. */
function schemasSection({ components }: OpenApiDocument, endpoints: readonly Endpoint[]): Html {
  const bodies = new Set(endpoints.flatMap(bodiesOf));
  const text = JSON.stringify(components.schemas);
  const isPart = (name: string): boolean => text.includes(`/schemas/${name}"`);
  const sections = Object.entries(components.schemas)
    .filter(([name]) => !bodies.has(name) || isPart(name))
    .map(
      ([name, schema]) => html`<section class="schema" aria-labelledby="schema-${name}">
<h3 id="schema-${name}">${name}</h3>${schemaTables(schema, 'Fields')}</section>`,
    );
  return html`<h2 id="schemas">Schemas</h2>${sections}`;
}

function anchor(tag: string): string {
  return tag.toLowerCase().replace(/\W+/g, '-');
}
