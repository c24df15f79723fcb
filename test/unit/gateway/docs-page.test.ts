import { describe, expect, it } from 'vitest';
import { asyncApiDocument } from '../../../src/gateway/documents/async-api.ts';
import type { JsonSchema } from '../../../src/gateway/documents/json-schema.ts';
import { openApiDocument } from '../../../src/gateway/documents/open-api.ts';
import { html } from '../../../src/gateway/documents/page/html.ts';
import { docsPage } from '../../../src/gateway/documents/page/page.ts';
import { typeOf } from '../../../src/gateway/documents/page/schema-fields.ts';

const openApi = openApiDocument('0.0.0');
const render = docsPage({ openApi, asyncApi: asyncApiDocument('0.0.0') });
const page = render('127.0.0.1:4711');

const attributes = (name: string): string[] =>
  [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

describe('the page of the interface', () => {
  it('has each id once, and every link inside leads to one', () => {
    const ids = attributes('id');
    const links = attributes('href').filter((href) => href.startsWith('#'));
    expect(new Set(ids).size).toBe(ids.length);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((link) => !ids.includes(link.slice(1)))).toEqual([]);
  });

  it('asks no other host for anything, and runs no script', () => {
    const elsewhere = [...attributes('href'), ...attributes('src')].filter(
      (url) => !/^[#/]|^data:,$/.test(url),
    );
    expect(elsewhere).toEqual([]);
    expect(page).not.toMatch(/<script|<style| style=| on\w+=/);
  });

  it('shows each operation, and each request as a line for the shell with the host of the reader', () => {
    for (const operation of Object.values(openApi.paths).flatMap((methods) => Object.values(methods)))
      expect(page).toContain(`<h4 id="${operation.operationId}">`);
    expect(page).toContain(
      'curl -s 127.0.0.1:4711/api/message-sync -H &#39;Content-Type: application/json&#39; -d &#39;{&quot;message&quot;:',
    );
    expect(page).toContain('curl -s -X DELETE 127.0.0.1:4711/api/sessions/old');
    expect(page).toContain('curl -s &#39;127.0.0.1:4711/api/sessions/demo?at=1&#39;');
    expect(page).not.toContain('agent-service.invalid');
  });

  it('escapes what comes from outside', () => {
    expect(render('"><script>')).not.toContain('<script>');
    expect(html`<a title="${'"&<\'>'}">${['<', html`<b>${1}</b>`, undefined]}</a>`.markup).toBe(
      '<a title="&quot;&amp;&lt;&#39;&gt;">&lt;<b>1</b></a>',
    );
  });
});

describe('the type of a field in words', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer', minimum: 1, maximum: 9, default: 5 }, 'integer ≥ 1 ≤ 9, default 5'],
    [{ enum: ['a', 'b'] }, '"a" | "b"'],
    [{ const: 'x' }, '"x"'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'array', items: { $ref: '#/components/schemas/Tool' } }, 'Tool[]'],
    [{ not: {} }, 'not accepted'],
    [{ type: 'string', format: 'uri' }, 'string (uri)'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{}, 'any'],
  ])('%j is %s', (schema, words) => {
    expect(typeOf(schema)).toBe(words);
  });
});
