import specs from '@asyncapi/specs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { prometheusMetrics } from '../../../src/adapters/prometheus/prometheus-metrics.ts';
import { MetricRing } from '../../../src/app/metrics/metric-ring.ts';
import { SampledMetrics } from '../../../src/app/metrics/sampled-metrics.ts';
import { ErrorCode } from '../../../src/core/errors.ts';
import { a2aRoutes } from '../../../src/gateway/a2a/a2a-routes.ts';
import { pushKeysRoute } from '../../../src/gateway/a2a/push-routes.ts';
import { agUiRoutes } from '../../../src/gateway/ag-ui/ag-ui-routes.ts';
import { asyncApiDocument } from '../../../src/gateway/documents/async-api.ts';
import { openApiDocument } from '../../../src/gateway/documents/open-api.ts';
import { extendedCardOperation } from '../../../src/gateway/documents/operations/a2a-operations.ts';
import { auditOperation } from '../../../src/gateway/documents/operations/audit-operation.ts';
import { errorsOf } from '../../../src/gateway/documents/operations/error-examples.ts';
import { grantOperations } from '../../../src/gateway/documents/operations/grant-operations.ts';
import { keyOperations } from '../../../src/gateway/documents/operations/key-operations.ts';
import { operations as always } from '../../../src/gateway/documents/operations/operations.ts';
import { signInOperation } from '../../../src/gateway/documents/operations/sign-in-operation.ts';
import { ticketOperations } from '../../../src/gateway/documents/operations/ticket-operations.ts';
import { whoamiOperation } from '../../../src/gateway/documents/operations/whoami-operation.ts';
import { securedAsyncApi, securedOpenApi } from '../../../src/gateway/documents/security-schemes.ts';
import type { RouteAccess } from '../../../src/gateway/http/router.ts';
import { openAiRoutes } from '../../../src/gateway/openai/openai-routes.ts';
import { apiRoutes } from '../../../src/gateway/routes/api-routes.ts';
import { auditRoute } from '../../../src/gateway/routes/audit-route.ts';
import { grantRoutes } from '../../../src/gateway/routes/grant-routes.ts';
import { healthRoutes } from '../../../src/gateway/routes/health-routes.ts';
import { keyRoutes } from '../../../src/gateway/routes/key-routes.ts';
import { metricsRoutes } from '../../../src/gateway/routes/metrics-routes.ts';
import { signInRoute } from '../../../src/gateway/routes/sign-in-route.ts';
import { ticketRoutes } from '../../../src/gateway/routes/ticket-routes.ts';
import { whoamiRoute } from '../../../src/gateway/routes/whoami-route.ts';
import { Tickets } from '../../../src/gateway/security/tickets.ts';
import { Statecharts } from '../../../src/gateway/sse/statecharts.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { ServerFrame } from '../../../src/wire/frames.ts';
import { AsyncApi, messagesOf } from '../../support/documents/async-api-messages.ts';
import { openApiCheck, payloadCheck } from '../../support/documents/json-schema-check.ts';
import { exampleValue, OpenApi, replayableExamples } from '../../support/documents/open-api-examples.ts';
import { silentLog } from '../../support/service/running-service.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';

const operations = [
  ...always,
  signInOperation,
  ...ticketOperations,
  whoamiOperation,
  auditOperation,
  extendedCardOperation,
  ...grantOperations,
  ...keyOperations,
];
const openApi = structuredClone(securedOpenApi(openApiDocument('0.0.0', operations), operations));
const asyncApi = structuredClone(securedAsyncApi(asyncApiDocument('0.0.0')));
const readOpenApi = OpenApi.parse(openApi);
const readAsyncApi = AsyncApi.parse(asyncApi);

async function openApiIsValid(document: object): Promise<unknown> {
  const { valid, errors } = await new Validator().validate({ ...document });
  return valid ? true : errors;
}

const asyncApiSchema: object = specs.schemas['3.0.0'];

function asyncApiErrors(document: object): unknown[] {
  // The schema carries the draft it is written in, which Ajv has already.
  const ajv = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false });
  const validate = ajv.compile(asyncApiSchema);
  validate(document);
  return validate.errors ?? [];
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1, as an independent validator says', async () => {
    expect(openApi.openapi).toMatch(/^3\.1\./);
    expect(await openApiIsValid(openApi)).toBe(true);
    expect(await openApiIsValid({ ...openApi, paths: { nothing: 5 } })).not.toBe(true);
  });

  it('has an operation for each route of the router, with its scope, and no other', () => {
    const bus = new LocalBus(() => undefined);
    const sampled = new SampledMetrics(prometheusMetrics());
    const routes = [
      ...apiRoutes({
        bus,
        fanOut: new SignalFanOut(bus, new FakeBroadcast()),
        statecharts: new Statecharts(bus),
        maxImageBytes: false,
      }),
      ...openAiRoutes({ bus, fanOut: new SignalFanOut(bus, new FakeBroadcast()), maxImageBytes: false }),
      pushKeysRoute(bus),
      ...a2aRoutes({
        bus,
        fanOut: new SignalFanOut(bus, new FakeBroadcast()),
        maxImageBytes: false,
        authenticator: {},
        log: silentLog,
        card: {
          bus,
          identity: () => ({ name: 'a' }),
          version: '0.0.0',
          baseOf: async () => 'http://a',
          security: {},
        },
      }),
      ...agUiRoutes({ bus, fanOut: new SignalFanOut(bus, new FakeBroadcast()), maxImageBytes: false }),
      ...keyRoutes(bus),
      ...grantRoutes(bus, { roles: null, principals: [] }),
      auditRoute({ record: () => undefined, read: () => expect.unreachable('not called') }),
      ...ticketRoutes(new Tickets(), { refuseRevoked: () => expect.unreachable('no request is made') }),
      signInRoute({ apiKeys: true, jwt: [] }),
      whoamiRoute,
      ...healthRoutes({ bus, identity: () => ({ name: 'a' }), version: '0.0.0', uptime: () => 0 }),
      ...metricsRoutes(sampled, new MetricRing(sampled, silentLog)),
    ];
    const listed = (list: readonly { method: string; path: string; scope: RouteAccess }[]) =>
      list.map(({ method, path, scope }) => `${method} ${path}: ${scope}`).sort();
    expect(routes.length).toBeGreaterThan(15);
    expect(listed(operations)).toEqual(
      listed(routes.map(({ access, ...route }) => ({ ...route, scope: access }))),
    );
  });

  it('names each path parameter where the path has it', () => {
    for (const { path, pathParameters } of operations) {
      const inPath = [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name);
      expect({ path, names: Object.keys(pathParameters?.shape ?? {}) }).toEqual({ path, names: inPath });
    }
  });

  it('has an example of each operation that works', () => {
    const examples = replayableExamples(readOpenApi);
    const working = new Set(
      examples.filter(({ status }) => status === 200).map(({ id }) => id.split('.')[0]),
    );
    const answered = operations.filter(({ answers }) => Object.keys(answers).length > 0);
    expect([...working].sort()).toEqual(answered.map(({ id }) => id).sort());
    expect(examples.length).toBeGreaterThan(30);
    expect(new Set(examples.map(({ id }) => id)).size).toBe(examples.length);
  });

  it('names the errors that its operations have examples of', () => {
    for (const operation of operations) {
      const shown = operation.examples.flatMap(({ answer }) => ('error' in answer ? [answer.error] : []));
      expect({ id: operation.id, errors: errorsOf(operation) }).toEqual({
        id: operation.id,
        errors: expect.arrayContaining(shown),
      });
    }
  });

  it('has only examples that fit its schemas', () => {
    const check = openApiCheck(openApi);
    for (const { id, schemaPointer, answer } of replayableExamples(readOpenApi))
      expect({ id, faults: check(schemaPointer, answer) }).toEqual({ id, faults: [] });
    for (const [code, example] of Object.entries(readOpenApi.components.examples)) {
      const faults = check('#/components/schemas/ErrorResponse', exampleValue(example));
      expect({ code, faults }).toEqual({ code, faults: [] });
    }
    expect(check('#/components/schemas/HealthResponse', { status: 'healthy' })).not.toEqual([]);
  });

  it('tells of every error that can reach a client over REST', () => {
    const notOverRest: ErrorCode[] = ['UNAUTHORIZED', 'INVALID_MESSAGE_TYPE'];
    expect(Object.keys(openApi.components.examples).sort()).toEqual(
      ErrorCode.options.filter((code) => !notOverRest.includes(code)).sort(),
    );
  });
});

describe('the AsyncAPI document', () => {
  it('is valid AsyncAPI 3.0, as its official schema says', () => {
    expect(asyncApi.asyncapi).toBe('3.0.0');
    expect(asyncApiErrors(asyncApi)).toEqual([]);
    expect(asyncApiErrors({ ...asyncApi, channels: 5 })).not.toEqual([]);
  });

  it('has a message with an example for each frame, and only examples that fit', () => {
    const groups = ['client', 'server', 'resumable'].map((group) => messagesOf(readAsyncApi, group));
    expect(groups.map((messages) => messages.length)).toEqual([8, 10, 28]);
    for (const { id, payload, examples } of groups.flat()) {
      const check = payloadCheck(payload);
      expect({ id, examples: examples.length }).not.toEqual({ id, examples: 0 });
      expect({ id, faults: examples.flatMap(check) }).toEqual({ id, faults: [] });
      expect(check({ event: 'nothing' })).not.toEqual([]);
    }
    const events = ServerFrame.options.map(({ shape }) => `server.${shape.event.value}`);
    expect(messagesOf(readAsyncApi, 'server').map(({ id }) => id)).toEqual(events);
  });

  it('points only to what it has', () => {
    const pointers = [...JSON.stringify(asyncApi).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(pointers.length).toBeGreaterThan(50);
    for (const pointer of pointers) {
      const target = pointer
        .split('/')
        .reduce<unknown>((value, key) => Reflect.get(Object(value), key), asyncApi);
      expect({ pointer, found: target !== undefined }).toEqual({ pointer, found: true });
    }
  });
});
